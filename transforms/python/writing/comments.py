"""The author's comments in what a rewrite replaces: none is lost.

What tells a checker to pass over a line (`# type: ignore[union-attr]`, `# noqa`) stays with what is on it, other
comments stand above the statement where they had their place inside it.
"""

from __future__ import annotations

import ast
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain

from transforms.python.writing.names import Layout
from transforms.python.writing.place import Change, Rewrite

Logical = Callable[[int, int], list[tuple[int, int]]]
"""The lines [first, last), from 0, of each logical line that holds one of the lines of a span."""

_DIRECTIVE = re.compile(r"#\s*(?:noqa\b|(?:type|mypy|pyright|pyrefly|pylint|ruff|fmt):)")


def directives_beside(layout: Layout, check: ast.If | ast.Assert, message: ast.expr) -> tuple[list[str], list[str]]:
    """What tells checkers something on the lines of a check's test, and on its others, outside the test and message."""
    kept = "".join(layout.text(layout.start(part), layout.end(part)) for part in (message, check.test))
    of_test = message.lineno - 1 if isinstance(check, ast.Assert) else check.test.end_lineno or check.lineno
    found: tuple[list[str], list[str]] = ([], [])
    for offset, comment in _comments(layout, check.lineno - 1, check.end_lineno or check.lineno):
        if comment not in kept and _DIRECTIVE.match(comment):
            found[layout.line_of(offset) > of_test].append(comment)
    return found


def directive_behind(layout: Layout, node: ast.stmt) -> str:
    """The comment behind a statement that tells a checker something; "" where there is none."""
    end = layout.end(node)
    behind = layout.text(end, layout.line_end(layout.line_of(end))).strip()
    return behind if _DIRECTIVE.match(behind) else ""


def with_comments(rewrite: Rewrite, layout: Layout, logical: Logical) -> Rewrite:
    """The rewrite with the comments that its changes would lose."""
    lost = Counter[str]()
    found: list[tuple[str, int, int]] = []
    for change in rewrite.changes:
        if b"#" not in layout.source[change.start : change.end]:
            continue
        spans = logical(layout.line_of(change.start) - 1, layout.line_of(change.end) - 1)
        if spans:
            first, last = spans[0][0], spans[-1][1]
            for offset, comment in chain.from_iterable(_comments(layout, *span) for span in spans):
                if change.start <= offset < change.end:
                    found.append((comment, first, last))
                    lost[comment] += 1
    if not lost:
        return rewrite
    lost.subtract({comment: sum(change.text.count(comment) for change in rewrite.changes) for comment in lost})
    places: dict[int, Change] = {}
    for comment, first, last in found:
        if lost[comment] > 0:
            lost[comment] -= 1
            place = _place(layout, comment, first, last)
            before = places[place.start].text if place.start in places else ""
            places[place.start] = place._replace(text=before + place.text)
    changes = [_behind(places.pop(change.start, None), change) for change in rewrite.changes]
    return rewrite._replace(changes=(*changes, *places.values()))


def _behind(added: Change | None, change: Change) -> Change:
    return change if added is None else change._replace(text=added.text + change.text)


def _place(layout: Layout, comment: str, first: int, last: int) -> Change:
    """A comment above the lines [first, last), from 0, or behind them where it tells a checker something."""
    line = layout.lines[first]
    begin = layout.offsets[first] + len(line) - len(line.lstrip(b" \t\f"))
    if _DIRECTIVE.match(comment) is None:
        indent = layout.text(layout.offsets[first], begin).removeprefix("\ufeff")
        return Change(begin, begin, f"{comment}{layout.newline}{indent}")
    end = layout.line_end(last)
    behind = [offset for offset, _ in _comments(layout, first, last) if layout.line_of(offset) == last]
    end = layout.offsets[last - 1] + len(layout.source[layout.offsets[last - 1] : min([end, *behind])].rstrip())
    return Change(end, end, f"  {comment}")


def _comments(layout: Layout, first: int, last: int) -> Iterator[tuple[int, str]]:
    """The comments on the lines [first, last), from 0, each with its offset; none of what is no Python."""
    rows = [line.decode("utf-8", "replace").rstrip("\r\n") + "\n" for line in layout.lines[first:last]]
    indent = len(rows[0]) - len(rows[0].lstrip()) if rows else 0
    lines = chain((row[indent:] if index == 0 else row for index, row in enumerate(rows)), ("",))
    try:
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            if token.type == tokenize.COMMENT:
                row = token.start[0] - 1
                column = len(rows[row][: token.start[1] + (indent if row == 0 else 0)].encode())
                yield layout.offsets[first + row] + column, token.string
    except (tokenize.TokenError, SyntaxError):
        return
