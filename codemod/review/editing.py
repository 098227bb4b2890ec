"""A change that the reviewer edits: its lines as a text for an editor, and the edits that the edited text comes to."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from codemod.borders.quoting import file_name
from codemod.errors import SymfixError
from codemod.model.edits import Edit, apply_edits, by_path
from codemod.model.groups import Group, meet
from codemod.writing.diff import differing_words, split_lines

_CONTEXT = 5


@dataclass(frozen=True, slots=True)
class _Region:
    """Whole lines of one file: the bytes [start, end), which read `old`, from the line `line`."""

    path: str
    line: int
    start: int
    old: bytes
    new: bytes


class Draft:
    """The text of a change: the lines around each of its edits as they would read. `sources` holds its files."""

    def __init__(self, edits: Iterable[Edit], sources: Mapping[str, bytes]) -> None:
        self._regions = [
            region for path, chosen in by_path(edits).items() for region in _regions(path, sources[path], chosen)
        ]
        self._mark = b"#~"
        while any(line.startswith(self._mark) for region in self._regions for line in split_lines(region.new)):
            self._mark += b"~"

    @property
    def suffix(self) -> str:
        """What a file name should end in for an editor to know the language; an older click names it to a shell."""
        return "." + file_name(self._regions[0].path.rpartition("/")[2].rpartition(".")[2])

    def text(self) -> bytes:
        """What the editor shows."""
        mark = self._mark
        parts = [mark + b" symfix: write these lines as they should read, save, and leave the editor.\n"]
        parts.append(mark + b" Keep the lines that begin with " + mark + b". To change nothing, empty the file.\n")
        for number, region in enumerate(self._regions, 1):
            parts += (self._head(number, region), region.new, b"\n" if _unended(region.new) else b"")
        return b"".join(parts)

    def read(self, text: bytes) -> tuple[Edit, ...] | None:
        """The edits that an edited `text` comes to, sorted; None where it is empty.

        Raises SymfixError where it cannot be told which lines belong where.
        """
        if not text.strip():
            return None
        heads = [self._head(number, region) for number, region in enumerate(self._regions, 1)]
        sections: list[list[bytes]] = []
        for line in split_lines(text):
            if line in heads:
                if len(sections) >= len(heads) or heads[len(sections)] != line:
                    raise self._lost(heads[min(len(sections), len(heads) - 1)])
                sections.append([])
            elif not line.startswith(self._mark) and sections:
                sections[-1].append(line)
            elif not line.startswith(self._mark) and line.strip():
                raise self._lost(heads[0])
        if len(sections) != len(heads):
            raise self._lost(heads[len(sections)])
        edits: list[Edit] = []
        for region, lines in zip(self._regions, sections, strict=True):
            new = b"".join(lines)
            if _unended(region.new):
                new = new.removesuffix(b"\n")
            edits += _smallest(region.path, region.start, region.old, new)
        return tuple(edits)

    def _head(self, number: int, region: _Region) -> bytes:
        place = f" {number} {region.path} from line {region.line}\n"
        return self._mark + place.encode("utf-8", "surrogateescape")

    def _lost(self, head: bytes) -> SymfixError:
        return SymfixError(f"the line {head.decode('utf-8', 'replace').strip()!r} is missing or not in its place")


def clash(edits: Iterable[Edit], group: Group, groups: Iterable[Group]) -> str:
    """Where `edits`, in place of those of `group`, meet an edit of another of `groups`: path:line; "" nowhere."""
    chosen = by_path(edits)
    for candidate in groups:
        if candidate.id == group.id:
            continue
        for theirs in candidate.edits:
            if any(mine != theirs and meet(mine, theirs) for mine in chosen.get(theirs.path, ())):
                return f"{candidate.findings[0].path}:{candidate.findings[0].line}"
    return ""


def _unended(text: bytes) -> bool:
    """Whether the last line of `text` has no end, as at the end of some files."""
    return bool(text) and not text.endswith(b"\n")


def _regions(path: str, source: bytes, edits: Sequence[Edit]) -> list[_Region]:
    lines = split_lines(source)
    spans: list[tuple[int, int]] = []
    ends = list(itertools.accumulate(map(len, lines)))
    for edit in sorted(edits):
        first = max(0, bisect.bisect_right(ends, edit.start) - _CONTEXT)
        last = min(len(lines), bisect.bisect_left(ends, max(edit.end, edit.start + 1)) + 1 + _CONTEXT)
        if spans and first <= spans[-1][1]:
            first = spans.pop()[0]
        spans.append((first, last))
    regions = []
    offset = done = 0
    for first, last in spans:
        start = offset + sum(map(len, lines[done:first]))
        old = b"".join(lines[first:last])
        offset, done = start + len(old), last
        inside = [
            Edit(path, edit.start - start, edit.end - start, edit.old, edit.new)
            for edit in edits
            if start <= edit.start and edit.end <= offset
        ]
        regions.append(_Region(path, first + 1, start, old, apply_edits(old, inside)))
    return regions


def _smallest(path: str, start: int, old: bytes, new: bytes) -> list[Edit]:
    """Edits of whole words that turn `old`, at the byte `start` of `path`, into `new`."""
    return [
        Edit(path, start + begin, start + end, old[begin:end], new[slice(*span)])
        for (begin, end), span in differing_words(old, new)
    ]
