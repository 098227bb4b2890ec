"""Which comment of a registry speaks of which entry.

A comment behind an entry is its own, and goes on where lines below it begin in lower case, or where the registry's
last line is such a comment. A block of comments above entries heads them, down to a blank line or the next block.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from transforms.python.writing.names import Layout

_TRAILING = re.compile(rb"[ \t]*,?[ \t]*#(.*)")
Block = tuple[range, list[int]]
_RULER = re.compile(rb"#\s*[-=#*~]{4,}")


def reason(layout: Layout, first: int, last: int, end: int) -> str:
    """What the comments say of an entry on the lines `first` to `last` that ends at the byte `end`; "" for nothing."""
    trailing = _TRAILING.match(layout.source, end, layout.line_end(last))
    if trailing:
        lines = [trailing[1], *(_line(layout, line).lstrip(b"# ") for line in continued(layout, last, last))]
    else:
        lines = []
        while first > 1 and _is_comment(layout, first - 1):
            first -= 1
            lines.insert(0, _line(layout, first).lstrip(b"# "))
    return " ".join(line.decode("utf-8", "replace").strip() for line in lines).strip()


def continued(layout: Layout, line: int, last: int) -> list[int]:
    """The lines after `line` that go on with the comment behind the entry there.

    `last` is the line of the registry's closing bracket; where its last comment goes on so, all of its comments do.
    """
    style = last > line and _is_comment(layout, last - 1) and _heads_nothing(layout, last - 1)
    lines = []
    at = line + 1
    while at <= len(layout.lines) and _is_comment(layout, at):
        if _RULER.match(_line(layout, at)):
            break
        if not style and not _line(layout, at).lstrip(b"#").strip()[:1].islower():
            break
        lines.append(at)
        at += 1
    return lines


def headings(layout: Layout, first: int, last: int, entries: Sequence[tuple[int, int]]) -> list[Block]:
    """The blocks of comments between the lines `first` and `last`, each with the indices of the entries it heads.

    `entries` are the first and last lines of each entry.
    """
    inside = {line: index for index, (start, end) in enumerate(entries) for line in range(start, end + 1)}
    ours = {line for start, end in entries if _has_trailing(layout, end) for line in continued(layout, end, last + 1)}
    blocks: list[Block] = []
    at = first
    while at <= last:
        if at in inside or at in ours or not _is_comment(layout, at):
            at += 1
            continue
        begin = at
        while at <= last and at not in inside and at not in ours and _is_comment(layout, at):
            at += 1
        stop = at
        headed: list[int] = []
        seen: set[int] = set()
        while at <= last and (at in inside or at in ours):
            if at in inside and inside[at] not in seen:
                headed.append(inside[at])
                seen.add(inside[at])
            at += 1
        blocks.append((range(begin, stop), headed))
    return blocks


def stale(layout: Layout, blocks: Sequence[Block], gone: Collection[int]) -> set[int]:
    """The lines of the blocks that head nothing once the entries `gone` are; a block with a ruler stays."""
    lines: set[int] = set()
    gone = frozenset(gone)
    for block, headed in blocks:
        if headed and gone.issuperset(headed) and not any(_RULER.match(_line(layout, line)) for line in block):
            lines.update(block)
    return lines


def is_blank(layout: Layout, line: int) -> bool:
    """Whether a line of the file holds nothing."""
    return 1 <= line <= len(layout.lines) and not _line(layout, line)


def _line(layout: Layout, line: int) -> bytes:
    return layout.lines[line - 1].strip()


def _is_comment(layout: Layout, line: int) -> bool:
    return 1 <= line <= len(layout.lines) and _line(layout, line).startswith(b"#")


def _has_trailing(layout: Layout, line: int) -> bool:
    return b"#" in _line(layout, line)


def _heads_nothing(layout: Layout, line: int) -> bool:
    """Whether the comment that ends on `line` begins behind an entry."""
    while _is_comment(layout, line):
        if _RULER.match(_line(layout, line)):
            return False
        line -= 1
    return line >= 1 and b"#" in _line(layout, line)
