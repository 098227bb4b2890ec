"""Selectors, by which options of review name changes.

The forms: `op:cross_entropy*`, `rule:sym-accessor`, `path:aten/src/*`, `level:safe`, `id:3f2a…`.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from codemod.errors import SymfixError, nearest
from codemod.model.findings import Level
from codemod.model.groups import Group
from codemod.planning.naming import matches_operator, matches_shard
from codemod.planning.operators import Operators, is_glob

FORMS = "op:GLOB, rule:GLOB, path:GLOB, level:safe, level:review or id:ID"
_SAFE = Level.SAFE.name.lower()
_REVIEW = Level.REVIEW.name.lower()


@dataclass(frozen=True, slots=True)
class Names:
    """What selectors may name."""

    operators: Operators
    rules: Collection[str]
    paths: Collection[str]
    ids: Callable[[], Collection[str]]
    """Of all changes, whatever the options leave out."""


def selected(selector: str, groups: Iterable[Group], names: Names, place: str) -> list[Group]:
    """Those of `groups` that `selector` names: a group is a whole, and one matching finding is enough.

    Raises SymfixError, which begins with `place`, where `selector` is of no form, or names nothing that there is.
    """
    kind, _, pattern = selector.partition(":")
    operators: Sequence[str] = ()

    def runs(group: Group) -> bool:
        listed = [name for finding in group.findings for name in finding.operators]
        return any(
            matches_shard(glob, group) or any(matches_operator(glob, name) for name in listed) for glob in operators
        )

    tests: dict[str, Callable[[Group], bool]] = {
        "op": runs,
        "rule": lambda group: any(fnmatch.fnmatchcase(f.rule, pattern) for f in group.findings),
        "path": lambda group: any(fnmatch.fnmatchcase(path, pattern) for path in group.paths),
        "level": lambda group: group.level.name.lower() == pattern,
        "id": lambda group: group.id == pattern,
    }
    if kind not in tests or not pattern or (kind == "level" and pattern not in (_SAFE, _REVIEW)):
        raise SymfixError(f"{place} {selector}: names no change; write {FORMS}")
    if kind == "op":
        operators = names.operators.resolve(pattern, f"{place} {kind}:")
    elif kind == "rule" and not is_glob(pattern) and pattern not in names.rules:
        raise SymfixError(f"{place} {selector}: there is no such rule{nearest(pattern, names.rules)}")
    elif kind == "path" and not is_glob(pattern) and pattern not in names.paths:
        raise SymfixError(f"{place} {selector}: there is no such file here{nearest(pattern, names.paths)}")
    elif kind == "id" and pattern not in names.ids():
        raise SymfixError(f"{place} {selector}: there is no such change; one has another id once its code is edited")
    return [group for group in groups if tests[kind](group)]
