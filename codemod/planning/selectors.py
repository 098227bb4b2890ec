"""Selectors, by which options of review name changes.

The forms: `op:cross_entropy*`, `rule:sym-accessor`, `path:aten/src/*`, `level:safe`, `id:3f2a…`.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable

from codemod.errors import SymfixError
from codemod.model.findings import Level
from codemod.model.groups import Group
from codemod.planning.selection import matches_operator

FORMS = "op:GLOB, rule:GLOB, path:GLOB, level:safe, level:review or id:ID"


def selected(selector: str, groups: Iterable[Group]) -> list[Group]:
    """Those of `groups` that `selector` names: a group is a whole, and one matching finding is enough.

    Raises SymfixError where `selector` is of no known form.
    """
    kind, _, pattern = selector.partition(":")
    tests: dict[str, Callable[[Group], bool]] = {
        "op": lambda group: any(matches_operator(pattern, op) for f in group.findings for op in f.operators),
        "rule": lambda group: any(fnmatch.fnmatchcase(f.rule, pattern) for f in group.findings),
        "path": lambda group: any(fnmatch.fnmatchcase(path, pattern) for path in group.paths),
        "level": lambda group: group.level.name.lower() == pattern,
        "id": lambda group: group.id == pattern,
    }
    if kind not in tests or not pattern or (kind == "level" and pattern not in (_SAFE, _REVIEW)):
        raise SymfixError(f"{selector}: names no change; write {FORMS}")
    return [group for group in groups if tests[kind](group)]


_SAFE = Level.SAFE.name.lower()
_REVIEW = Level.REVIEW.name.lower()
