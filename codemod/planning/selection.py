"""Which findings are asked for: `--op`, `--mode`, `--rule`, `--level`, `--since`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from codemod.model.findings import Finding, Level
from codemod.model.groups import Group, make_groups
from codemod.planning.naming import matches_operator, matches_shard
from codemod.tree.touched import Touched


def within(findings: Iterable[Finding], selected: Callable[[str], bool]) -> list[Finding]:
    """Those of the groups that lie in `selected` files as a whole, with all that they edit."""
    groups = make_groups(findings)
    chosen = (group for group in groups if all(map(selected, (*group.paths, *(f.path for f in group.findings)))))
    return [finding for group in chosen for finding in group.findings]


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
        return self._of_kind(finding) and (
            not self.ops or any(matches_operator(glob, name) for glob in self.ops for name in finding.operators)
        )

    def groups(self, findings: Iterable[Finding]) -> list[Group]:
        """The groups whose level is let through, of which one finding matches and the change touches one.

        The name of a shard asks for the groups in it.
        """
        return [
            group
            for group in make_groups(findings)
            if group.level <= self.level
            and (any(self.matches(finding) for finding in group.findings) or self._names_shard(group))
            and (self.since is None or any(self.since.holds(finding) for finding in group.findings))
        ]

    def _of_kind(self, finding: Finding) -> bool:
        return (not self.modes or finding.mode in self.modes) and (not self.rules or finding.rule in self.rules)

    def _names_shard(self, group: Group) -> bool:
        return any(matches_shard(glob, group) for glob in self.ops) and any(map(self._of_kind, group.findings))
