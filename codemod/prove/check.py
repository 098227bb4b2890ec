"""Does every source that compiled before a change compile after it? And which edit broke one that does not?"""

from __future__ import annotations

import os
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from codemod.model.edits import Edit
from codemod.model.transform import Part
from codemod.prove.build import Side, on_both
from codemod.prove.compiler import Compiler, Diagnostic
from codemod.prove.task import Settings, Task
from codemod.writing.changes import Change


@dataclass(frozen=True, slots=True)
class Checked:
    """What type-checking a shard showed."""

    compiled: tuple[str, ...] = ()
    """The sources that type-check before and after."""
    broken: str = ""
    """The first error of a source that only type-checks before, and the edit that it stands on."""
    reason: str = ""
    """Why not all was checked: the first error of a source that does not type-check before either."""


def check(settings: Settings, task: Task, before: Side, after: Side) -> Checked:
    """Type-check the sources of a shard on both sides. A source that an override compiles is compiled at once."""
    compiler = settings.compiler
    if compiler is None:
        return Checked(reason="there is no C++ compiler" if task.checked else "")
    parts = {part.path: part for override in task.overrides for part in override.parts}
    compiled: list[str] = []
    reason = ""
    for path in task.checked:
        errors = on_both(partial(_error, compiler, path, parts.get(path)), before, after)
        if errors[0] is not None:
            reason = reason or f"{path} did not compile before: {shown(errors[0], before)}"
        elif errors[1] is not None and not errors[1].of_source:
            reason = reason or f"{path} could not be compiled after: {errors[1]}"
        elif errors[1] is not None:
            return Checked(tuple(compiled), f"does not compile: {shown(errors[1], after, task.changes)}")
        else:
            compiled.append(path)
    return Checked(tuple(compiled), "", reason)


def _error(compiler: Compiler, path: str, part: Part | None, side: Side) -> Diagnostic | None:
    if part is None:
        return compiler.check(side.unit(Part(path)))
    compiled = compiler.compile(side.unit(part))
    return compiled if isinstance(compiled, Diagnostic) else None


def shown(error: Diagnostic, side: Side, changes: Sequence[Change] = ()) -> str:
    """The error with paths relative to the tree, and with `changes` the place of the edit that caused it."""
    text = error.message
    if error.places:
        path, line = error.places[0]
        text = f"{_relative(path, side)}:{line}: {error.message}"
    cause = blamed(error, side, changes)
    if cause is None:
        return text
    change, edit, at = cause
    return f"{text} (the edit at {change.path}:{change.old[: edit.start].count(10) + 1}, line {at} once applied)"


def blamed(error: Diagnostic, side: Side, changes: Sequence[Change]) -> tuple[Change, Edit, int] | None:
    """The change and the edit that caused an error, and the line on which that begins once applied; None for none.

    It is the nearest to a place that the compiler names: the error's own first, then what led there.
    """
    by_path = {change.path: change for change in changes}
    for path, line in error.places:
        change = by_path.get(_relative(path, side))
        if change is not None:
            return change, *_nearest(change, line)
    return None


def _relative(path: str, side: Side) -> str:
    for root in (side.tree, side.headers, side.settings.root, side.settings.target.package):
        if root is not None and path.startswith(inside := os.path.join(root, "")):
            return path[len(inside) :]
    return path


def _nearest(change: Change, line: int) -> tuple[Edit, int]:
    """The edit whose new text stands nearest to a line of the new file, and the line on which it begins there."""
    lines = []
    moved = 0
    for edit in change.edits:
        start = edit.start + moved
        lines.append(change.new[:start].count(10) + 1)
        moved += len(edit.new) - (edit.end - edit.start)
    place = bisect(lines, line)
    index = min(range(max(0, place - 1), min(len(lines), place + 1)), key=lambda i: abs(lines[i] - line))
    return change.edits[index], lines[index]
