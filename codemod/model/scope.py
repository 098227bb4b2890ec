"""How much of a library is asked for: its operators, its modules too, or all that symbols may reach."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codemod.model.choices import ALL, MODULES
from codemod.model.findings import Finding, Root
from codemod.terminal import listed

# What lies beside a library's own code, by the parts of a path: its folders, then the name of its file.
_FOLDERS = {
    "tests": re.compile(r"(?:unit)?tests?|testing", re.IGNORECASE),
    "benchmarks": re.compile(r"bench(?:mark(?:s|ing)?)?", re.IGNORECASE),
    "docs": re.compile(r"docs?|documentation", re.IGNORECASE),
    "examples": re.compile(r"examples?|tutorials?|demos?", re.IGNORECASE),
}
_FILES = {
    "tests": re.compile(r"test_.*|.*_tests?\.\w+|conftest\.py", re.IGNORECASE),
    "benchmarks": re.compile(r"bench(?:mark)?_.*|.*_bench(?:mark)?\.\w+", re.IGNORECASE),
    "setup scripts": re.compile(r"(?:setup|noxfile)\.py", re.IGNORECASE),
}


def beside(path: str) -> str:
    """What a file or folder belongs to that lies beside a library's own code: "tests", "docs", …; else ""."""
    *folders, name = path.split("/")
    kinds = (kind for folder in folders for kind, pattern in _FOLDERS.items() if pattern.fullmatch(folder))
    return next(kinds, "") or next((kind for kind, pattern in _FILES.items() if pattern.fullmatch(name)), "")


@dataclass(frozen=True, slots=True)
class Scope:
    """One of SCOPES. What lies beside the code is in it where one of `paths`, those that were asked for, names it."""

    name: str = ALL
    paths: tuple[str, ...] = ()

    def holds(self, path: str, root: Root) -> bool:
        """Whether findings in a file are asked for, in code that symbols enter by `root`."""
        if self.name == ALL or root is Root.TRACED:
            return True
        return (root < Root.MODULE or self.name == MODULES) and not self._beside(path)

    def names(self, path: str) -> bool:
        """Whether a file lies beside the code, and one of `paths` names what it belongs to."""
        named = (name for name in self.paths if beside(f"{name}/") or beside(name))
        return any(path == name or path.startswith(f"{name}/") for name in named)

    def split(self, findings: Iterable[Finding]) -> tuple[list[Finding], list[Finding]]:
        """What of `findings` is in the scope, and what is not; a group that is not in it as a whole is not."""
        every = list(findings)
        outside = {f.group for f in every if f.group and not self.holds(f.path, f.root)}
        chosen = [self.holds(f.path, f.root) and f.group not in outside for f in every]
        left = [finding for finding, is_chosen in zip(every, chosen, strict=True) if not is_chosen]
        return [finding for finding, is_chosen in zip(every, chosen, strict=True) if is_chosen], left

    def remark(self, left: Sequence[Finding]) -> str:
        """One line that says how many findings are `left` out, and which options show them; "" for none."""
        modules = [finding for finding in left if not self._beside(finding.path)]
        others = [kind for finding in left if (kind := self._beside(finding.path))]
        parts = []
        if modules:
            functions = len({(finding.path, finding.function) for finding in modules})
            which = f"{functions:,} {'function' if functions == 1 else 'functions'} of modules"
            parts.append(f"--scope {MODULES} adds {_findings(len(modules))} in {which}")
        if others:
            which = listed(sorted(set(others)))
            parts.append(f"--scope {ALL} adds {_findings(len(others))} in {which}")
        return "; ".join(parts)

    def _beside(self, path: str) -> str:
        return "" if self.names(path) else beside(path)


def _findings(count: int) -> str:
    return f"{count:,} finding" if count == 1 else f"{count:,} findings"
