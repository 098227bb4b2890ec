"""Shards: the groups of one operator, as one change to review, prove and land."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from codemod.edits import Edit
from codemod.groups import Group
from codemod.selection import base_name


@dataclass(frozen=True, slots=True)
class Shard:
    """Groups that land together. `name` is fit for a branch and a file name; `bases` name the shards it needs."""

    name: str
    operators: tuple[str, ...]
    groups: tuple[Group, ...]
    bases: tuple[str, ...] = ()

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits of all its groups, sorted, each once."""
        return tuple(sorted({edit for group in self.groups for edit in group.edits}))

    @property
    def paths(self) -> tuple[str, ...]:
        """The files it edits, sorted."""
        return tuple(sorted({path for group in self.groups for path in group.paths}))


def family(operator: str) -> str:
    """The operator that `operator` is an overload, an out, in-place or backward variant of."""
    name = base_name(operator)
    for suffix in ("_out", "_backward", "_"):
        if len(name) > len(suffix) and name.endswith(suffix) and not name.endswith("__"):
            name = name.removesuffix(suffix)
    return name


def make_shards(groups: Iterable[Group]) -> list[Shard]:
    """The shards of `groups`, sorted by name: one for each operator's family, and one for each helper of several."""
    members: dict[str, list[Group]] = {}
    operators: dict[str, set[str]] = {}
    for group in groups:
        named = {operator for finding in group.findings for operator in finding.operators}
        families = {family(operator) for operator in named}
        function = group.findings[0].function.rpartition("::")[2] or group.findings[0].path
        name = families.pop() if len(families) == 1 else f"helper-{function}"
        name = "".join(c if c.isalnum() or c in "_-." else "-" for c in name)
        members.setdefault(name, []).append(group)
        operators.setdefault(name, set()).update(named)
    return [Shard(name, tuple(sorted(operators[name])), tuple(found)) for name, found in sorted(members.items())]
