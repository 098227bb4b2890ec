"""Edits: byte-exact replacements, the only way symfix changes a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from codemod.records import compact


class EditConflict(ValueError):
    """Two edits of one file overlap, or an edit does not fit the bytes it was made for."""


@compact
@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace the bytes ``[start, end)`` of `path`, which read `old`, by `new`.

    `path` is POSIX and relative to the checkout's root. An insertion has ``start == end``.
    """

    path: str
    start: int
    end: int
    old: bytes
    new: bytes


def apply_edits(source: bytes, edits: Iterable[Edit]) -> bytes:
    """Return `source` with every edit applied; identical edits count once.

    Raises EditConflict where edits overlap or where `source` does not hold an edit's old bytes.
    """
    out: list[bytes] = []
    position = 0
    previous: Edit | None = None
    for edit in sorted(set(edits)):
        if source[edit.start : edit.end] != edit.old:
            raise EditConflict(f"{edit.path}: bytes {edit.start}-{edit.end} are no longer {edit.old!r}")
        same_place = previous is not None and previous.start == previous.end == edit.start == edit.end
        if edit.start < position or same_place:
            raise EditConflict(f"{edit.path}: two edits meet at byte {edit.start}")
        out += (source[position : edit.start], edit.new)
        position = edit.end
        previous = edit
    out.append(source[position:])
    return b"".join(out)
