"""The changes of a function, with the logical lines that they make too long written as the tree's formatter would.

A rule replaces tokens, or adds lines, and looks at neither width nor indentation. Where its text is short enough it
stays what it is, so an edit is no larger than the rule made it. Where the formatter would write the line otherwise,
all changes of the line become those that turn it into the formatted one, and every rewrite with a change there has
them all; such changes are of one level, that of the rewrite which asks for most judgement.
"""

from __future__ import annotations

import ast
import bisect
import difflib
import functools
import itertools
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from codemod.model.findings import Level
from transforms.python.writing.names import Layout
from transforms.python.writing.place import Change, Rewrite, difference
from transforms.python.writing.style import Style, logical_lines, longest, split_lines

_SWITCH = re.compile(rb"#[ \t]*(?:fmt:[ \t]*(off|on)|yapf:[ \t]*(disable|enable))\b")
_SHARED = "stands in one statement with a change for review"


@dataclass(slots=True)
class Region:
    """Neighbouring logical lines that changes touch: the lines [first, last), from 0, and the changes of each rewrite.

    `written` is what the formatter makes of all of them together, None where they may stay as they are.
    """

    first: int
    last: int
    changes: dict[int, list[Change]] = field(default_factory=dict)
    written: tuple[Change, ...] | None = None


class Formatter:
    """Formats the changes of one file. `body` holds the statements at its top."""

    def __init__(self, layout: Layout, body: Sequence[ast.stmt], style: Style) -> None:
        self.layout = layout
        self._style = style
        self._body = body
        self._heads = [_first_line(node) for node in body]
        self._lines: dict[int, list[tuple[int, int]]] = {}
        self._switches = [(match.start(), match[1] or match[2]) for match in _SWITCH.finditer(layout.source)]

    @functools.cached_property
    def style(self) -> Style:
        """The style of the file, whose lines are only asked where something is to be formatted."""
        return self._style.of_file(self.layout.source)

    def fits(self, text: str) -> bool:
        """Whether no line of `text` is longer than the file's may be."""
        return self.style.fits(text)

    def settled(self, rewrites: Sequence[Rewrite], unit: str = "    ") -> list[Rewrite]:
        """The rewrites of one function, formatted; `unit` is one level of its indentation."""
        loose: list[list[Change]] = []
        regions: list[Region] = []
        for index, rewrite in enumerate(rewrites):
            kept: list[Change] = []
            for change in rewrite.changes:
                span = self._span(change)
                if span is None:
                    kept.append(self._added(change, unit))
                else:
                    regions.append(Region(*span, {index: [change]}))
            loose.append(kept)
        levels = [rewrite.level for rewrite in rewrites]
        regions = _joined(regions)
        for region in regions:
            region.written = self._written(region, levels, unit)
        _raise_levels(regions, levels)
        for region in regions:
            for index, changes in region.changes.items():
                loose[index] += changes if region.written is None else region.written
        settled = []
        for rewrite, changes, level in zip(rewrites, loose, levels, strict=True):
            reason = rewrite.reason if level == rewrite.level else rewrite.reason or _SHARED
            settled.append(rewrite._replace(changes=tuple(changes), level=level, reason=reason))
        return settled

    def statement(self, text: str, unit: str, old: str | None = None, strings: int = 0) -> str:
        """One logical line without its line end, formatted where that is called for; `old` is what it was.

        Strings stay whole up to a line of `strings` columns.
        """
        if "\n" not in text and self.style.fits(text):
            return text
        newline = self.layout.newline
        plain, before = text.replace(newline, "\n"), None if old is None else old.replace(newline, "\n")
        divided = before is None or self.style.fits(before)
        formatted = self.style.statement(plain, unit, strings if divided else None)
        if formatted is None:
            return text
        if before is None or self.style.statement(before, unit) == before:
            return formatted.replace("\n", newline)
        # The author's own layout stays, unless it is the change that makes it too wide.
        better = not self.style.fits(text) and longest(formatted) < longest(text)
        return formatted.replace("\n", newline) if better else text

    def lines(self, text: str, unit: str, old: Sequence[str] = ()) -> str:
        """Whole lines, each logical line of them formatted that is none of `old`.

        Where no settings name the limit, a string that the author left too long for a line is no longer for it.
        """
        lines = split_lines(text)
        chunks = ["".join(lines[first:last]) for first, last in logical_lines(lines)]
        bare = [line.rstrip("\r\n") for line in chunks]
        fresh = [line for line in bare if line.strip()[:1] not in ("", "#") and line not in old]
        descendant = _descendant(old[0], fresh) if len(old) == 1 else ""
        quoted = [line for line in "\n".join(old).splitlines() if "'" in line or '"' in line]
        strings = longest("\n".join(quoted)) if self.style.assumed else 0
        written = {line: self.statement(line, unit, old[0] if line == descendant else None, strings) for line in fresh}
        return "".join(written.get(line, line) + chunk[len(line) :] for line, chunk in zip(bare, chunks, strict=True))

    def logical(self, first: int, last: int) -> list[tuple[int, int]]:
        """The lines [first, last) of the logical lines that hold the lines [first, last], all from 0.

        Of the statements at the top.
        """
        found: list[tuple[int, int]] = []
        place = max(bisect.bisect(self._heads, first) - 1, 0)
        while place < len(self._body) and self._heads[place] <= last:
            if place not in self._lines:
                begin, end = self._heads[place], self._body[place].end_lineno or 0
                lines = [line.decode("utf-8", "replace") for line in self.layout.lines[begin:end]]
                self._lines[place] = [(begin + a, begin + b) for a, b in logical_lines(lines)]
            spans = self._lines[place]
            begin = max(bisect.bisect(spans, (first, sys.maxsize)) - 1, 0)
            end = bisect.bisect(spans, (last, sys.maxsize))
            found += [span for span in spans[begin:end] if first < span[1]]
            place += 1
        return found

    def _span(self, change: Change) -> tuple[int, int] | None:
        """The physical lines of the logical lines that a change touches; None where it adds lines between them."""
        layout = self.layout
        first, last = self._row(change.start), self._row(max(change.start, change.end - 1))
        touched = self.logical(first, last)
        if not touched:
            return None
        begin, end = touched[0][0], touched[-1][1]
        if change.start == change.end:
            text, indent = change.text, self._indent(begin)
            if change.start == layout.offsets[begin] and text.endswith("\n"):
                return None
            if change.start == layout.line_end(end) and text.startswith(layout.newline):
                return None
            if change.start == layout.offsets[begin] + len(indent) and text.endswith(f"\n{indent}"):
                return None
        return begin, end

    def _added(self, change: Change, unit: str) -> Change:
        """A change that adds whole lines, these formatted."""
        text, newline = change.text, self.layout.newline
        row = self._row(change.start)
        if self._unformatted(change.start) or change.start != change.end:
            return change
        if change.start == self.layout.offsets[row]:
            return change._replace(text=self.lines(text, unit))
        if text.startswith(newline):
            return change._replace(text=newline + self.lines(text.removeprefix(newline), unit))
        indent = self._indent(row)
        if not text.endswith(newline + indent):
            return change
        return change._replace(text=self.lines(indent + text, unit).removeprefix(indent))

    def _written(self, region: Region, levels: Sequence[Level], unit: str) -> tuple[Change, ...] | None:
        """The changes that turn a region into the formatted one, None where no level's changes need formatting."""
        layout = self.layout
        start, end = layout.offsets[region.first], layout.line_end(region.last)
        if self._unformatted(start):
            return None
        changes = {change for index in region.changes for change in region.changes[index]}
        if _overlap(changes):
            return None  # the groups are told apart, or refused, by what their edits are
        formatted = text = ""
        needed = False
        for level in sorted({levels[index] for index in region.changes}):
            below = {c for index in region.changes if levels[index] <= level for c in region.changes[index]}
            text = self._applied(below, start, end)
            formatted = self.lines(text, unit, self._old(region))
            needed = needed or formatted != text
        if not needed:
            return None
        first_token = start + len(self._indent(region.first).encode())
        if any(change.start <= first_token and change.end >= end for change in changes):
            shared = len(_common_indent(layout.text(start, end), formatted).encode())
            return (Change(start + shared, end, formatted.encode()[shared:].decode()),)
        return difference(start, layout.text(start, end), formatted)

    def _applied(self, changes: Iterable[Change], start: int, end: int) -> str:
        """The text of [start, end) with changes applied."""
        pieces, position = [], start
        for change in sorted(changes, key=lambda change: (change.start, change.end, change.order)):
            pieces += [self.layout.text(position, change.start), change.text]
            position = change.end
        return "".join((*pieces, self.layout.text(position, end)))

    def _old(self, region: Region) -> list[str]:
        spans = [span for span in self.logical(region.first, region.last - 1) if region.first <= span[0]]
        return [self.layout.text(self.layout.offsets[a], self.layout.line_end(b)) for a, b in spans]

    def _row(self, offset: int) -> int:
        """The line, from 0, that holds a byte."""
        return min(bisect.bisect(self.layout.offsets, offset), len(self.layout.lines)) - 1

    def _indent(self, row: int) -> str:
        text = self.layout.lines[row].decode("utf-8", "replace")
        return text[: len(text) - len(text.lstrip(" \t\f"))]

    def _unformatted(self, offset: int) -> bool:
        """Whether the author has switched the formatter off there."""
        before = bisect.bisect(self._switches, (offset,)) - 1
        return before >= 0 and self._switches[before][1] in (b"off", b"disable")


def _overlap(changes: Iterable[Change]) -> bool:
    """Whether two changes replace the same text, or one of them adds to what another replaces."""
    ordered = sorted(changes, key=lambda change: (change.start, change.end))
    return any(second.start < first.end for first, second in itertools.pairwise(ordered))


def _joined(regions: Iterable[Region]) -> list[Region]:
    """The regions, those that share a line as one."""
    joined: list[Region] = []
    for region in sorted(regions, key=lambda region: (region.first, region.last)):
        if joined and region.first < joined[-1].last:
            joined[-1].last = max(joined[-1].last, region.last)
            for index, changes in region.changes.items():
                joined[-1].changes.setdefault(index, []).extend(changes)
        else:
            joined.append(region)
    return joined


def _raise_levels(regions: Sequence[Region], levels: list[Level]) -> None:
    """Give all rewrites that share a formatted region the highest level among them."""
    settled = False
    while not settled:
        settled = True
        for region in regions:
            highest = max(levels[index] for index in region.changes)
            for index in region.changes:
                if region.written is not None and levels[index] != highest:
                    levels[index], settled = highest, False


def _descendant(old: str, lines: Sequence[str]) -> str:
    """Which of several logical lines was made of `old`."""
    if len(lines) < 2:
        return next(iter(lines), "")
    return max(lines, key=lambda line: difflib.SequenceMatcher(None, old.strip(), line).ratio())


def _first_line(node: ast.stmt) -> int:
    """The line, from 0, that a statement begins on with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1


def _common_indent(old: str, new: str) -> str:
    indent = old[: len(old) - len(old.lstrip(" \t\f"))]
    return indent if new.startswith(indent) else ""
