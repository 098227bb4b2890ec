"""Unified diffs, byte for byte, in the form that `git apply` takes."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate
from typing import TypeAlias

from codemod.model.edits import Edit, apply_edits

Span: TypeAlias = tuple[int, int]

_WORD = re.compile(rb"\w+|\s+|.", re.DOTALL)
_NO_NEWLINE = b"\n\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines ``[start, start + len(old))`` of the old file, counted from 0, and what they become at `new_start`."""

    start: int
    old: tuple[bytes, ...]
    new_start: int
    new: tuple[bytes, ...]


def hunks(source: bytes, edits: Iterable[Edit]) -> list[Hunk]:
    """What `edits` change, in whole lines and without context, in order."""
    lines = split_lines(source)
    offsets = list(accumulate(map(len, lines), initial=0))
    result: list[Hunk] = []
    moved = 0
    for first, last, chosen in _line_ranges(offsets, sorted(set(edits))):
        while True:
            begin, end = offsets[first], offsets[last]
            shifted = [Edit(e.path, e.start - begin, e.end - begin, e.old, e.new) for e in chosen]
            new = split_lines(apply_edits(source[begin:end], shifted))
            # Text that lost its line end runs on into the next line.
            if last == len(lines) or not new or new[-1].endswith(b"\n"):
                break
            last += 1
        old = lines[first:last]
        head = _common(old, new)
        tail = _common(old[head:][::-1], new[head:][::-1])
        hunk = Hunk(
            first + head,
            tuple(old[head : len(old) - tail]),
            first + head + moved,
            tuple(new[head : len(new) - tail]),
        )
        moved += len(new) - len(old)
        if hunk.old or hunk.new:
            result.append(hunk)
    return result


def unified_diff(path: str, source: bytes, edits: Iterable[Edit], context: int = 3) -> bytes:
    """The diff of one file, empty where `edits` change nothing; `path` is relative to the root.

    Raises EditConflict where the edits do not fit `source`.
    """
    edits = list(edits)
    if apply_edits(source, edits) == source:  # edits may undo each other
        return b""
    changes = hunks(source, edits)
    lines = split_lines(source)
    name_a, name_b = _quoted(b"a/", path), _quoted(b"b/", path)
    # As git does: a tab ends a file name that holds a space.
    tab = b"\t" if b" " in name_a and not name_a.startswith(b'"') else b""
    out = [b"diff --git %s %s\n--- %s%s\n+++ %s%s\n" % (name_a, name_b, name_a, tab, name_b, tab)]
    for cluster in _clusters(changes, context):
        begin = max(0, cluster[0].start - context)
        end = min(len(lines), cluster[-1].start + len(cluster[-1].old) + context)
        before = cluster[0].start - begin
        new_begin = cluster[0].new_start - before
        grown = sum(len(hunk.new) - len(hunk.old) for hunk in cluster)
        out.append(b"@@ -%s +%s @@\n" % (_range(begin, end - begin), _range(new_begin, end - begin + grown)))
        at = begin
        for hunk in cluster:
            out += (_line(b" ", line) for line in lines[at : hunk.start])
            out += (_line(b"-", line) for line in hunk.old)
            out += (_line(b"+", line) for line in hunk.new)
            at = hunk.start + len(hunk.old)
        out += (_line(b" ", line) for line in lines[at:end])
    return b"".join(out)


def _line_ranges(offsets: Sequence[int], edits: Sequence[Edit]) -> list[tuple[int, int, list[Edit]]]:
    """Runs of lines ``[first, last)`` with the edits in them; edits on the same or on touching lines share a run."""
    ranges: list[tuple[int, int, list[Edit]]] = []
    count = len(offsets) - 1
    for edit in edits:
        first = max(0, min(bisect.bisect_right(offsets, edit.start) - 1, count - 1))
        last = min(count, max(first + 1, bisect.bisect_left(offsets, edit.end)))
        if ranges and first <= ranges[-1][1]:
            begin, end, held = ranges[-1]
            held.append(edit)
            ranges[-1] = (begin, max(last, end), held)
        else:
            ranges.append((first, last, [edit]))
    return ranges


def _clusters(changes: Sequence[Hunk], context: int) -> list[list[Hunk]]:
    clusters: list[list[Hunk]] = []
    for hunk in changes:
        if clusters:
            previous = clusters[-1][-1]
            if hunk.start - (previous.start + len(previous.old)) <= 2 * context:
                clusters[-1].append(hunk)
                continue
        clusters.append([hunk])
    return clusters


def _range(start: int, length: int) -> bytes:
    if length == 0:
        return b"%d,0" % start
    return b"%d" % (start + 1) if length == 1 else b"%d,%d" % (start + 1, length)


def _line(mark: bytes, line: bytes) -> bytes:
    return mark + (line if line.endswith(b"\n") else line + _NO_NEWLINE)


def split_lines(source: bytes) -> list[bytes]:
    """Lines with their ends, as git counts them: only a line feed ends one."""
    lines = source.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def differing_words(old: bytes, new: bytes) -> list[tuple[Span, Span]]:
    """The spans of `old` and of `new` that differ, in whole words, in order; either of a pair may be empty."""
    words = _WORD.findall(old), _WORD.findall(new)
    starts, new_starts = (list(accumulate(map(len, side), initial=0)) for side in words)
    codes = SequenceMatcher(None, *words, autojunk=False).get_opcodes()
    return [((starts[i], starts[j]), (new_starts[k], new_starts[m])) for tag, i, j, k, m in codes if tag != "equal"]


def _common(old: Sequence[bytes], new: Sequence[bytes]) -> int:
    """How many lines at the beginning of both are the same."""
    count = 0
    for a, b in zip(old, new, strict=False):
        if a != b:
            break
        count += 1
    return count


def _quoted(prefix: bytes, path: str) -> bytes:
    """A file name as git writes it: in quotes with C escapes where it holds a quote, a backslash or a control."""
    name = prefix + path.encode("utf-8", "surrogateescape")
    if all(byte >= 0x20 and byte != 0x7F and byte not in b'"\\' for byte in name):
        return name
    escapes = {0x22: b'\\"', 0x5C: b"\\\\", 0x0A: b"\\n", 0x09: b"\\t", 0x0D: b"\\r"}
    escaped = (escapes.get(byte, bytes((byte,)) if 0x20 <= byte != 0x7F else b"\\%03o" % byte) for byte in name)
    return b'"' + b"".join(escaped) + b'"'
