"""What a patch changes in a torch package: its functions, and the checks that it adds."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus_trees import changed_files

CHECKS = (
    "_check", "_check_with", "_check_value", "_check_index", "_check_type", "_check_not_implemented", "_check_is_size",
    "_check_tensor_all", "_check_tensor_all_with",
)  # fmt: skip
"""The functions of torch/__init__.py that raise where a condition is false."""


@dataclass(frozen=True, slots=True)
class Check:
    """A check in a file of a package: its path below the package's parent folder, its lines and its source."""

    path: str
    first: int
    last: int
    source: str

    @property
    def place(self) -> str:
        """`torch/file.py:line`, the line on which the check begins."""
        return f"{self.path}:{self.first}"


def checks_in(source: str, path: str = "") -> list[Check]:
    """The statements of a file that call one of `CHECKS`, in order."""
    lines = source.splitlines()
    statements = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _name(node.value.func) in CHECKS
    ]
    return [
        Check(path, node.lineno, node.end_lineno or node.lineno, "\n".join(lines[node.lineno - 1 : node.end_lineno]))
        for node in sorted(statements, key=lambda node: node.lineno)
    ]


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def added_in(before: str, after: str, path: str = "") -> list[Check]:
    """The checks of `after` that `before` lacks. One whose condition alone was changed is not new."""
    old, new = checks_in(before), checks_in(after, path)
    matcher = difflib.SequenceMatcher(a=before.splitlines(), b=after.splitlines(), autojunk=False)
    added: list[Check] = []
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag in ("insert", "replace"):
            gone = [c for c in old if first < c.first <= last]
            for check in (c for c in new if start < c.first <= end):
                same = next((c for c in gone if _message(c) == _message(check)), None)
                if same is None:
                    added.append(check)
                else:
                    gone.remove(same)
    return added


def _message(check: Check) -> tuple[str, ...]:
    """What a check calls and says, without its condition."""
    call = ast.parse(check.source.strip(), mode="eval").body
    assert isinstance(call, ast.Call)
    return (_name(call.func), *(ast.unparse(argument) for argument in call.args if isinstance(argument, ast.Lambda)))


def added_checks(plain: Path, patched: Path) -> list[Check]:
    """The checks that the torch package of `patched` has beyond that of `plain`; both are the folders above it."""
    added: list[Check] = []
    for name in changed_files(plain / "torch", patched / "torch"):
        if name.endswith(".py"):
            before, after = plain / "torch" / name, patched / "torch" / name
            if before.is_file():
                added += added_in(before.read_text("utf-8"), after.read_text("utf-8"), f"torch/{name}")
    return added


def without(source: str, checks: Sequence[Check]) -> str:
    """The source of a file that never calls these checks; lines keep their numbers, functions their variables."""
    lines = source.splitlines(keepends=True)
    for check in checks:
        line = lines[check.first - 1]
        indent = line[: -len(line.lstrip())]
        lines[check.first - 1] = f"{indent}False and {line.lstrip()}"
    return "".join(lines)


def changed_functions(before: str, after: str) -> tuple[set[str], set[int]]:
    """The functions of a module whose code differs, or that name one whose does, and the changed lines of `after`."""
    old, new = ({n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)} for text in (before, after))
    changed = {name for name, node in new.items() if name not in old or ast.dump(node) != ast.dump(old[name])}
    lines: set[int] = set()
    matcher = difflib.SequenceMatcher(a=before.splitlines(), b=after.splitlines(), autojunk=False)
    for tag, _, _, start, end in matcher.get_opcodes():
        if tag in ("insert", "replace"):
            lines |= set(range(start + 1, end + 1))
    while True:
        callers = {
            name
            for name, node in new.items()
            if name not in changed
            and any(isinstance(inner, ast.Name) and inner.id in changed for inner in ast.walk(node))
        }
        if not callers:
            return changed, lines
        changed |= callers
