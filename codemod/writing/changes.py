"""From the chosen groups of a plan to each file's new bytes, less the groups that would break a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from codemod.borders.files import read_below
from codemod.errors import SymfixError
from codemod.model.decisions import Decision
from codemod.model.edits import Edit, EditConflict, apply_edits, by_path
from codemod.model.findings import Finding
from codemod.model.groups import Group
from codemod.model.paths import Listing, misplaced, quoted_path
from codemod.model.plan import Plan
from codemod.model.suppress import refuse
from codemod.model.transform import Transform
from codemod.terminal import and_more

SYNTAX_ERROR = "syntax-error"

Source = tuple[str, bytes]
"""The path and the bytes of a file."""
ErrorCounter = Callable[[Callable[[Source], int], Sequence[Source]], list[int]]
"""Runs a function over sources."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file's old and new bytes and the edits between them. `path` is relative to the root."""

    path: str
    old: bytes
    new: bytes
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """What to write: the changed files by path, the groups that are in them, and the findings refused at last."""

    files: tuple[Change, ...]
    groups: tuple[Group, ...]
    refused: tuple[Finding, ...]


def make_changes(
    listing: Listing, plan: Plan, groups: Iterable[Group], transforms: Sequence[Transform], counter: ErrorCounter
) -> Changes:
    """The changes of `groups`, without those that would add a syntax error to a file.

    Raises SymfixError where a file is none of `listing`, or no longer the one that the plan was made from.
    """
    accepted = [group for group in groups if group.edits]
    paths = sorted({path for group in accepted for path in group.paths})
    listing.check(paths)
    _check_current(listing, plan, paths)
    sources = {path: read_source(listing.root, path) for path in paths}
    count = partial(count_errors, transforms)
    allowed = dict(zip(paths, counter(count, sorted(sources.items())), strict=True))
    refused: list[Finding] = []
    pending = paths
    while pending:
        edits = by_path(edit for group in accepted for edit in group.edits)
        rendered = [(path, _apply(sources[path], edits.get(path, ()))) for path in pending]
        errors = counter(count, rendered)
        broken = [path for path, number in zip(pending, errors, strict=True) if number > allowed[path]]
        culprits: dict[int, Group] = {}
        for path in broken:
            editing = [group for group in accepted if id(group) not in culprits and path in group.paths]
            for group in _culprits(path, sources[path], editing, allowed[path], count):
                culprits[id(group)] = group
                reason = f"the rewrite would add a syntax error to {path}"
                refused += (refuse(finding, SYNTAX_ERROR, reason) for finding in group.findings)
        accepted = [group for group in accepted if id(group) not in culprits]
        pending = sorted({path for group in culprits.values() for path in group.paths})
    return Changes(changes_in(accepted, sources), tuple(accepted), tuple(refused))


def changes_in(groups: Iterable[Group], sources: Mapping[str, bytes]) -> tuple[Change, ...]:
    """What `groups` together change, by path, unchecked; `sources` holds the bytes of every file they edit.

    Raises EditConflict where edits overlap or do not fit `sources`.
    """
    return changes_of_edits((edit for group in groups for edit in group.edits), sources)


def changes_of_edits(edits: Iterable[Edit], sources: Mapping[str, bytes]) -> tuple[Change, ...]:
    """As changes_in, of edits."""
    edited = by_path(edits).items()
    changes = (Change(path, sources[path], apply_edits(sources[path], own), own) for path, own in edited)
    return tuple(change for change in changes if change.new != change.old)


def check_plan(listing: Listing, plan: Plan) -> None:
    """Raise SymfixError where a saved plan names what is no file of the tree, or a file that has changed since."""
    check_plan_names(listing, plan)
    _check_current(listing, plan)


def check_plan_names(listing: Listing, plan: Plan) -> None:
    """Raise SymfixError where a saved plan names what is no file of the tree."""
    listing.check(path for finding in plan.findings for path in (finding.path, *(e.path for e in finding.edits)))
    check_decisions(listing, plan.decisions)
    shown = (step.path for finding in plan.findings for step in (*finding.reach, *finding.flow))
    for path in sorted({*plan.files, *shown}):
        why = "" if os.path.isabs(path) and "\0" not in path else misplaced(path)
        if why:
            raise SymfixError(f"{quoted_path(path)}: {why}")


def check_decisions(listing: Listing, decisions: Iterable[Decision]) -> None:
    """Raise SymfixError where a reviewer's own edit is of what is no file of the tree."""
    listing.check(edit.path for decision in decisions for edit in decision.edits)


def _check_current(listing: Listing, plan: Plan, paths: Iterable[str] | None = None) -> None:
    """Raise SymfixError, which names it, where a file (of `paths`, or any) has changed since the plan was made."""
    stale = plan.stale(listing.root, paths)
    if stale:
        raise SymfixError(
            f"{stale[0]}{and_more(len(stale) - 1)}: changed since the plan was made; run symfix scan again"
        )


def read_source(root: Path, path: str) -> bytes:
    """The bytes of a file below `root`. Raises SymfixError, which names it, where it cannot be read."""
    try:
        return read_below(root, path)
    except OSError as error:
        raise SymfixError(f"{path}: cannot be read: {error.strerror}") from error


def _apply(source: bytes, edits: Iterable[Edit]) -> bytes:
    try:
        return apply_edits(source, edits)
    except EditConflict as error:
        raise SymfixError(f"the plan does not fit the tree: {error}; make it again with symfix scan") from error


def count_errors(transforms: Sequence[Transform], file: Source) -> int:
    """How many syntax errors a file has to those of `transforms` that read its kind."""
    path, source = file
    return max((t.parse_errors(path, source) for t in transforms if path.endswith(tuple(t.suffixes))), default=0)


def _culprits(
    path: str, source: bytes, groups: Sequence[Group], allowed: int, count: Callable[[Source], int]
) -> list[Group]:
    """The groups, in order, without which `path` has no more errors than allowed.

    Halves of `groups` that add no error together are accepted together: the file is read a few times for each culprit.
    """
    edits = {id(group): [edit for edit in group.edits if edit.path == path] for group in groups}
    good: list[Edit] = []
    culprits: list[Group] = []
    pending = [groups]
    while pending:
        part = pending.pop()
        candidate = [*good, *(edit for group in part for edit in edits[id(group)])]
        if count((path, _apply(source, candidate))) <= allowed:
            good = candidate
        elif len(part) == 1:
            culprits += part
        else:
            middle = len(part) // 2
            pending += (part[middle:], part[:middle])
    return culprits
