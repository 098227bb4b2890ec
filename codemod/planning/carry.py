"""Decisions on changes that are not written yet, adapted to files in which other changes were written."""

from __future__ import annotations

import bisect
import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate

from codemod.model.decisions import Decision, with_edits
from codemod.model.edits import Edit
from codemod.model.groups import Group
from codemod.model.identity import change_ids
from codemod.writing.changes import Change


def carried(
    decisions: Iterable[Decision],
    groups: Iterable[Group],
    applied: Iterable[Group],
    changes: Sequence[Change],
    read: Callable[[str], bytes],
) -> list[Decision]:
    """The `decisions` on those of `groups` that are not among `applied`, as they read once `changes` are written.

    Only those on files in `changes`: the others read as before. `read` gives the bytes of a file that does not change.
    """
    written = {change.path: change for change in changes}
    done = {group.id for group in applied}
    left = [group for group in groups if group.edits and group.id not in done and written.keys() & set(group.paths)]
    shifts = {path: _Shifts(change.edits) for path, change in written.items()}
    moved = [(group, _moved(group.edits, written, shifts)) for group in left]
    fitting = [(group, with_edits(group, edits)) for group, edits in moved if edits is not None]
    by_path = {path: change.new for path, change in written.items()}
    ids = change_ids([group for _, group in fitting], lambda path: by_path[path] if path in by_path else read(path))
    by_id = {decision.id: decision for decision in decisions}
    result = []
    for (group, _), new_id in zip(fitting, ids, strict=True):
        decision = by_id.get(group.id)
        edits = _moved(decision.edits, written, shifts) if decision else None
        if decision is not None and edits is not None:
            files = {
                path: hashlib.sha256(by_path[path]).hexdigest() if path in by_path else sha
                for path, sha in decision.files.items()
            }
            result.append(dataclasses.replace(decision, id=new_id, files=files, edits=edits))
    return result


class _Shifts:
    """By how much the bytes behind each of a file's edits move; edits are sorted and do not overlap."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._ends = [edit.end for edit in edits]
        self._sums = list(accumulate((len(edit.new) - len(edit.old) for edit in edits), initial=0))

    def at(self, offset: int) -> int:
        """The shift of a byte that stands in none of the edits."""
        return self._sums[bisect.bisect_right(self._ends, offset)]


def _moved(
    edits: Iterable[Edit], written: Mapping[str, Change], shifts: Mapping[str, _Shifts]
) -> tuple[Edit, ...] | None:
    """`edits` at their places in the written files, None where one no longer fits there."""
    result = []
    for edit in edits:
        change = written.get(edit.path)
        if change is not None:
            shift = shifts[edit.path].at(edit.start)
            edit = dataclasses.replace(edit, start=edit.start + shift, end=edit.end + shift)
            if change.new[edit.start : edit.end] != edit.old:
                return None
        result.append(edit)
    return tuple(result)
