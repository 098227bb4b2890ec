"""Edits: byte-exact replacements, the only way symfix changes a file. Writing it is `codemod.writing.write`'s."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from codemod.borders.documents import Shape
from codemod.model.records import compact
from codemod.terminal import decode, encode


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

    @property
    def paragraph(self) -> bool:
        """Whether it only inserts whole definitions, blank lines before them: several may go to one place."""
        return self.start == self.end and self.new.startswith((b"\n\n", b"\r\n\r\n")) and self.new.endswith(b"\n")


_FIELDS = attrgetter("path", "start", "end", "old", "new")


def sorted_edits(edits: Iterable[Edit]) -> list[Edit]:
    """`edits`, each once, sorted as by their `<`, which is slower."""
    return sorted(set(edits), key=_FIELDS)


def by_path(edits: Iterable[Edit]) -> dict[str, tuple[Edit, ...]]:
    """`edits` by file, each once: the files and the edits of each sorted."""
    return {path: tuple(chosen) for path, chosen in groupby(sorted_edits(edits), key=lambda edit: edit.path)}


def apply_edits(source: bytes, edits: Iterable[Edit]) -> bytes:
    """Return `source` with every edit applied; identical edits count once.

    Paragraphs that go to one place follow one another in the order of their text.
    Raises EditConflict where edits overlap or where `source` does not hold an edit's old bytes.
    """
    out: list[bytes] = []
    position = 0
    previous: Edit | None = None
    for edit in sorted_edits(edits):
        if source[edit.start : edit.end] != edit.old:
            raise EditConflict(f"{edit.path}: bytes {edit.start}-{edit.end} are no longer {edit.old!r}")
        same_place = previous is not None and previous.start == previous.end == edit.start == edit.end
        parted = previous is not None and previous.paragraph and edit.paragraph
        if edit.start < position or (same_place and not parted):
            raise EditConflict(f"{edit.path}: two edits meet at byte {edit.start}")
        out += (source[position : edit.start], edit.new)
        position = edit.end
        previous = edit
    out.append(source[position:])
    return b"".join(out)


EDIT: Shape = {"path": Path, "start": int, "end": int, "old": str, "new": str}
"""What `edit_from_json` takes."""


def edit_to_json(edit: Edit) -> dict[str, Any]:
    """`edit` as plans and decisions hold it; a byte that is no UTF-8 becomes a lone surrogate."""
    return {
        "path": edit.path,
        "start": edit.start,
        "end": edit.end,
        "old": decode(edit.old),
        "new": decode(edit.new),
    }


def edit_from_json(entry: Mapping[str, Any]) -> Edit:
    """The edit of an entry of the shape `EDIT`. Raises ValueError where its offsets do not fit its bytes."""
    start, end = entry["start"], entry["end"]
    old, new = encode(entry["old"]), encode(entry["new"])
    if not 0 <= start <= end or end - start != len(old):
        raise ValueError(f"an edit of bytes {start} to {end}")
    return Edit(entry["path"], start, end, old, new)
