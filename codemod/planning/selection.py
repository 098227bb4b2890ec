"""Which findings are asked for: `--op`, `--mode`, `--rule`, `--level`, `--since`."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from codemod.model.findings import Finding, Level
from codemod.model.groups import Group, make_groups
from codemod.tree.touched import Touched


@dataclass(frozen=True, slots=True)
class Selection:
    """Empty fields ask for everything. `level` is the highest that is let through."""

    ops: tuple[str, ...] = ()
    modes: frozenset[int] = frozenset()
    rules: frozenset[str] = frozenset()
    level: Level = Level.MANUAL
    since: Touched | None = None
    """The lines that a change touches; None asks for all."""

    def matches(self, finding: Finding) -> bool:
        """Whether `finding` is asked for by operator, mode and rule; its level and its group are another matter."""
        return (
            (not self.modes or finding.mode in self.modes)
            and (not self.rules or finding.rule in self.rules)
            and (not self.ops or any(matches_operator(glob, name) for glob in self.ops for name in finding.operators))
        )

    def groups(self, findings: Iterable[Finding]) -> list[Group]:
        """The groups whose level is let through, of which one finding matches and the change touches one."""
        return [
            group
            for group in make_groups(findings)
            if group.level <= self.level
            and any(self.matches(finding) for finding in group.findings)
            and (self.since is None or any(self.since.holds(finding) for finding in group.findings))
        ]

    def unmatched_ops(self, findings: Iterable[Finding]) -> list[str]:
        """The globs that match no operator of any finding."""
        names = {name for finding in findings for name in finding.operators}
        return [glob for glob in self.ops if not any(matches_operator(glob, name) for name in names)]


def matches_operator(glob: str, name: str) -> bool:
    """Whether `glob` matches the operator `name` (`aten::add.Tensor`) in full, without namespace, overload, or both."""
    pattern = _compiled(glob)
    return any(pattern.match(form) for form in _forms(name))


def base_name(name: str) -> str:
    """`aten::add.Tensor` → `add`; another namespace than aten is kept: `torchvision::nms`."""
    return name.removeprefix("aten::").partition(".")[0]


@functools.cache
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(glob))


@functools.cache
def _forms(name: str) -> tuple[str, ...]:
    bare = name.rpartition("::")[2]
    return name, bare, name.partition(".")[0], bare.partition(".")[0]
