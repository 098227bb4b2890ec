"""Taking entries out of a test file as a careful person does: the entry, its own comments, and nothing else.

An entry on lines of its own goes with its lines, its trailing comment and the comments above that speak of gone entries
alone; among others on a line it goes with one comma. A set that becomes empty is written `set()`, and an `if` whose
last statement goes goes as a whole.
"""

from __future__ import annotations

import ast
import bisect
import functools
import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from codemod.model.edits import Edit
from transforms.python.flow.nodes import dotted
from transforms.python.reading.parsing import parse
from transforms.python.writing.names import Layout
from transforms.xfails.comments import continued, headings, is_blank, stale
from transforms.xfails.literals import dtypes_of

EMPTY = {ast.Set: b"set()", ast.List: b"[]", ast.Tuple: b"()", ast.Dict: b"{}"}
_GAP = re.compile(rb"(?:[\s,]|#[^\n]*)*")
_COMMA = re.compile(rb"\s*,")
_REST = re.compile(rb"[ \t]*,?[ \t]*(?:#[^\r\n]*)?")
Container = ast.Set | ast.List | ast.Tuple | ast.Dict


class NotRemovable(ValueError):
    """An entry stands in a form that cannot be taken out without touching others; the text says which."""


@dataclass(frozen=True, slots=True)
class Cut:
    """An entry, by its bytes, to be taken out: whole, or only for some `dtypes`, by torch's names."""

    start: int
    end: int
    dtypes: frozenset[str] = frozenset()


def removal(
    path: str, source: bytes, cuts: Collection[Cut], other_cuts: Collection[Cut] = (), taken: Collection[int] = ()
) -> list[Edit]:
    """The edits that make `cuts`, sorted, right by themselves and beside the edits for `other_cuts`.

    None of them touches the comments and blank lines among the lines `taken`, which those for `other_cuts` take.
    Raises NotRemovable.
    """
    layout, tree = _read(source)
    spans: dict[tuple[int, int], Cut] = {(cut.start, cut.end): cut for cut in cuts}
    elsewhere = {(cut.start, cut.end) for cut in other_cuts if not cut.dtypes}
    edits: list[Edit] = []
    starts = sorted(start for start, _ in spans)

    def touched(first: ast.expr | ast.stmt, last: ast.expr | ast.stmt) -> bool:
        """Whether a cut begins between two nodes."""
        at = bisect.bisect_left(starts, layout.start(first))
        return at < len(starts) and starts[at] < layout.end(last)

    for holder, parent in _holders(tree):
        if not touched(holder, holder):
            continue
        items = _items(layout, holder)
        whole = [index for index, item in enumerate(items) if item in spans and not spans[item].dtypes]
        for item in items:
            if item in spans and spans[item].dtypes:
                edits += _narrowed(path, layout, holder, spans.pop(item))
        if whole:
            _refuse_emptied(path, items, spans, elsewhere)
            edits += _Cutter(path, layout, items, whole, frozenset(taken)).edits(holder, parent)
            for index in whole:
                del spans[items[index]]
    for body, owner in reversed(list(_suites(tree))):  # the innermost first: it may take its `if` with it
        if not touched(body[0], body[-1]):
            continue
        _refuse_emptied(
            path, [(layout.start(statement), layout.end(statement)) for statement in body], spans, elsewhere
        )
        edits += _statements(path, layout, body, owner, spans)
    if spans:
        raise NotRemovable(f"{path}: no entry of a registry at byte {min(spans)[0]}")
    return sorted(set(edits))


@functools.lru_cache(maxsize=4)
def _read(source: bytes) -> tuple[Layout, ast.Module]:
    return Layout(source), parse(source)


def _refuse_emptied(
    path: str,
    items: Sequence[tuple[int, int]],
    spans: Mapping[tuple[int, int], Cut],
    elsewhere: Collection[tuple[int, int]],
) -> None:
    """Raise NotRemovable where two removals together would leave nothing of what neither empties alone."""
    mine = [item for item in items if item in spans]
    if mine and len(mine) < len(items) and all(item in spans or item in elsewhere for item in items):
        raise NotRemovable("another shard takes the rest of this registry; run symfix again once that has landed")


def _holders(tree: ast.Module) -> Iterator[tuple[Container, ast.AST]]:
    for parent in ast.walk(tree):
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, (ast.Set, ast.List, ast.Tuple, ast.Dict)):
                yield node, parent


def _items(layout: Layout, holder: Container) -> list[tuple[int, int]]:
    """The bytes of each element, of a dict from the key to the value."""
    if isinstance(holder, ast.Dict):
        return [
            (
                layout.start(key) if key is not None else layout.source.rindex(b"**", 0, layout.start(value)),
                layout.end(value),
            )
            for key, value in zip(holder.keys, holder.values, strict=True)
        ]
    return [(layout.start(element), layout.end(element)) for element in holder.elts]


@dataclass(slots=True)
class _Cutter:
    """One literal, and the indices of the items to take out of it."""

    path: str
    layout: Layout
    items: Sequence[tuple[int, int]]
    gone: Sequence[int]
    taken: frozenset[int]

    def edits(self, holder: Container, parent: ast.AST) -> Iterator[Edit]:
        source = self.layout.source
        start, end = self.layout.start(holder), self.layout.end(holder)
        if len(self.gone) == len(self.items):
            wrapped = isinstance(parent, ast.Call) and dotted(parent.func) in ("set", "list", "tuple", "dict")
            if wrapped:
                first, last = self.layout.start(parent), self.layout.end(parent)  # type: ignore[arg-type]
                begin = source.index(b"(", first) + 1
                yield Edit(self.path, begin, last - 1, source[begin : last - 1], b"")
            else:
                yield Edit(self.path, start, end, source[start:end], EMPTY[type(holder)])
            return
        gone = frozenset(self.gone)
        for index, ((_, before), (after, _)) in enumerate(itertools.pairwise(self.items)):
            if (index in gone or index + 1 in gone) and not _GAP.fullmatch(source, before, after):
                raise NotRemovable(f"{self.path}: brackets around an entry at byte {after}")
        closing = holder.end_lineno or holder.lineno
        remaining = [index for index in range(len(self.items)) if index not in gone]
        one_left = isinstance(holder, ast.Tuple) and len(remaining) == 1
        own = [self._own_lines(index) for index in self.gone]
        if any(lines is None for lines in own) or (one_left and remaining[0] == len(self.items) - 1):
            yield from self._inline_edits(one_left)
        else:
            yield from self._line_edits({line for lines in own for line in lines or ()}, holder.lineno, closing)

    def lines(self, opening: int, closing: int) -> Iterator[Edit]:
        """The edits for items that are statements between the lines `opening` and `closing`."""
        lines: set[int] = set()
        for index in self.gone:
            own = self._own_lines(index)
            if own is None:
                raise NotRemovable(f"{self.path}: another statement stands on line {self._lines_of(index)[0]}")
            lines.update(own)
        yield from self._line_edits(lines, opening, closing)

    def _lines_of(self, index: int) -> tuple[int, int]:
        start, end = self.items[index]
        return self.layout.line_of(start), self.layout.line_of(end - 1)

    def _own_lines(self, index: int) -> range | None:
        """The lines of an item that shares them with nothing but its comma and comment."""
        start, end = self.items[index]
        first, last = self._lines_of(index)
        before = self.layout.source[self.layout.line_start(first) : start]
        alone = not before.strip() and _REST.fullmatch(self.layout.source, end, self.layout.line_end(last))
        return range(first, last + 1) if alone else None

    def _line_edits(self, lines: set[int], opening: int, closing: int) -> Iterator[Edit]:
        if not lines:
            return
        layout = self.layout
        spans = [self._lines_of(index) for index in range(len(self.items))]
        removed = set(lines)
        for index in self.gone:
            first, last = spans[index]
            if first in lines and b"#" in layout.lines[last - 1]:
                removed.update(continued(layout, last, closing))
        gone = [index for index in self.gone if spans[index][0] in lines]
        extra = stale(layout, headings(layout, opening + 1, closing - 1, spans), gone)
        removed |= extra - self.taken
        for run in _runs(removed):
            removed |= {line for line in self._blanks(run, opening, closing) if line not in self.taken}
        for run in _runs(removed):
            start, end = layout.line_start(run.start), layout.line_start(run.stop)
            yield Edit(self.path, start, end, layout.source[start:end], b"")

    def _blanks(self, run: range, opening: int, closing: int) -> range:
        """The blank lines that would stand beside others, or beside a bracket."""
        above, below = run.start - 1, run.stop
        while is_blank(self.layout, above):
            above -= 1
        while is_blank(self.layout, below):
            below += 1
        if below == closing:
            return range(above + 1, run.start)
        spared = 0 if above == opening else max(0, (below - run.stop) - (run.start - 1 - above))
        return range(run.stop, below - spared)

    def _inline_edits(self, one_left: bool) -> Iterator[Edit]:
        """The edits for items of which some share a line; `one_left` where a tuple of one item stays."""
        source, items = self.layout.source, self.items
        for run in _runs(self.gone):
            start, end = items[run.start][0], items[run.stop - 1][1]
            before = items[run.start - 1][1] if run.start else start
            after = items[run.stop][0] if run.stop < len(items) else end
            if run.stop < len(items) and b"\n" not in source[end:after]:
                end = after
            elif run.stop == len(items) and run.start and b"#" not in source[before:start]:
                start = before + (source[before:start].index(b",") + 1 if one_left else 0)
            else:
                rest = _REST.match(source, end)
                end = rest.end() if rest else end
                start -= len(source[before:start]) - len(source[before:start].rstrip(b" \t"))
            yield Edit(self.path, start, end, source[start:end], b"")
        last = items[-1][1]
        if one_left and len(items) - 1 not in self.gone and not _COMMA.match(source, last):
            yield Edit(self.path, last, last, b"", b",")


def _narrowed(path: str, layout: Layout, holder: ast.AST, cut: Cut) -> Iterator[Edit]:
    """The edits that take dtypes out of one entry."""
    for node in ast.walk(holder):
        if not isinstance(node, ast.expr) or not (cut.start <= layout.start(node) and layout.end(node) <= cut.end):
            continue
        if isinstance(node, (ast.Set, ast.List, ast.Tuple)):
            gone = [index for index, dtype in enumerate(dtypes_of(node)) if dtype in cut.dtypes]
            if gone and len(gone) < len(node.elts):
                yield from _Cutter(path, layout, _items(layout, node), gone, frozenset()).edits(node, holder)


def _suites(tree: ast.Module) -> Iterator[tuple[list[ast.stmt], ast.stmt | None]]:
    yield tree.body, None
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            suite = getattr(node, name, None)
            if isinstance(node, ast.stmt) and isinstance(suite, list) and suite:
                yield suite, node


def _statements(
    path: str, layout: Layout, body: Sequence[ast.stmt], owner: ast.stmt | None, spans: dict[tuple[int, int], Cut]
) -> Iterator[Edit]:
    """The edits for the statements of one suite; what they make is taken out of `spans`."""
    items = [(layout.start(statement), layout.end(statement)) for statement in body]
    for item, statement in zip(items, body, strict=True):
        if item in spans and spans[item].dtypes:
            yield from _narrowed(path, layout, statement, spans.pop(item))
    gone = [index for index, item in enumerate(items) if item in spans]
    if not gone:
        return
    for index in gone:
        del spans[items[index]]
    if owner is not None and len(gone) == len(items):
        if isinstance(owner, ast.If) and not owner.orelse:
            span = (layout.start(owner), layout.end(owner))
            spans[span] = Cut(*span)
        else:
            start, end = items[0][0], items[-1][1]
            yield Edit(path, start, end, layout.source[start:end], b"pass")
        return
    opening = owner.lineno if owner is not None else 0
    yield from _Cutter(path, layout, items, gone, frozenset()).lines(opening, (body[-1].end_lineno or 0) + 1)


def _runs(lines: Collection[int]) -> list[range]:
    """Numbers as runs of neighbours, in order."""
    runs: list[range] = []
    for line in sorted(lines):
        if runs and runs[-1].stop == line:
            runs[-1] = range(runs[-1].start, line + 1)
        else:
            runs.append(range(line, line + 1))
    return runs
