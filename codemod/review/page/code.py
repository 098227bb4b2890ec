"""Source lines in the page's data: text without hidden characters, syntax, changed words and context."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from pygments.token import Token, _TokenType

from codemod.borders.quoting import page_text
from codemod.model.edits import Edit, apply_edits, sorted_edits
from codemod.syntax import lexer
from codemod.writing.diff import Hunk, Span, differing_words, hunks, split_lines

CONTEXT = 20
"""Lines around a change that the page holds; it shows a few of them at first."""
NEAR = 2
"""Lines around a place that is only shown."""

_TYPE_NAME = re.compile(r"[A-Z]\w*[a-z]\w*$")
_CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Token.Comment.Preproc, "p"),
    (Token.Comment.PreprocFile, "s"),
    (Token.Comment, "c"),
    (Token.Literal.String, "s"),
    (Token.Literal.Number, "m"),
    (Token.Keyword.Type, "t"),
    (Token.Keyword, "k"),
    (Token.Operator.Word, "k"),
    (Token.Name.Decorator, "f"),
    (Token.Name.Function, "f"),
    (Token.Name.Class, "t"),
)


def shown(line: bytes) -> str:
    """A line without its end, as text that is safe to show: one U+FFFD for what is no UTF-8, none that reorders."""
    return page_text(line.rstrip(b"\n").removesuffix(b"\r").decode("utf-8", "replace"))


def units(text: str) -> int:
    """The length of `text` as JavaScript counts it, in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def highlight(path: str, source: bytes) -> list[str]:
    """The syntax of each line of a file: runs of a length and a class, `5k1 4f`.

    The classes: `k` keyword, `t` type, `f` function, `s` string, `m` number, `c` comment, `p` preprocessor, ` ` other.
    """
    lines = [shown(line) for line in split_lines(source)]
    text = "\n".join(lines)
    result: list[list[str]] = [[]]
    for _, kind, value in _with_calls(lexer(path).get_tokens_unprocessed(text)):
        for number, part in enumerate(value.split("\n")):
            if number:
                result.append([])
            if part:
                result[-1].append(f"{units(part)}{kind}")
    return [_joined(runs) for runs in result[: len(lines)]]


def _with_calls(tokens: Iterable[tuple[int, _TokenType, str]]) -> Iterable[tuple[int, str, str]]:
    """Each token with its class; a name before a parenthesis is a function, one in camel case a type."""
    held: tuple[int, str, str] | None = None
    for at, token, value in tokens:
        if held is not None:
            yield (held[0], "f", held[2]) if value.startswith("(") else held
            held = None
        kind = _class_of(token)
        if kind == " " and token[:1] == ("Name",):
            held = at, "t" if _TYPE_NAME.match(value) else " ", value
        else:
            yield at, kind, value
    if held is not None:
        yield held


@cache
def _class_of(token: _TokenType) -> str:
    return next((kind for family, kind in _CLASSES if token[: len(family)] == family), " ")


def _joined(runs: Sequence[str]) -> str:
    """`runs` with neighbours of one class as one run, and without a last plain one."""
    out: list[tuple[int, str]] = []
    for run in runs:
        length, kind = int(run[:-1]), run[-1]
        if out and out[-1][1] == kind:
            out[-1] = out[-1][0] + length, kind
        else:
            out.append((length, kind))
    if out and out[-1][1] == " ":
        out.pop()
    return "".join(f"{length}{kind}" for length, kind in out)


class Lines:
    """Every line that the page shows, each once: `table` holds text and syntax in turn.

    `syntax` has what `highlight` says of `sources`; what it lacks is shown plain.
    """

    def __init__(self, sources: Mapping[str, bytes], syntax: Mapping[str, Sequence[str]]) -> None:
        self.table: list[str] = []
        self._index: dict[tuple[str, str], int] = {}
        self._sources = sources
        self._lines = {path: split_lines(source) for path, source in sources.items()}
        self._syntax = syntax

    def add(self, text: str, syntax: str) -> int:
        """The number of a line, which it gets when it is first seen."""
        number = self._index.setdefault((text, syntax), len(self._index))
        if 2 * number == len(self.table):
            self.table += (text, syntax)
        return number

    def of(self, path: str, line: int) -> int:
        """The number of a file's line, counted from 0."""
        syntax = self._syntax.get(path, ())
        return self.add(shown(self._lines[path][line]), syntax[line] if line < len(syntax) else "")

    def count(self, path: str) -> int:
        """How many lines a file has, 0 where it could not be read."""
        return len(self._lines.get(path, ()))

    def diff(self, path: str, edits: Iterable[Edit]) -> list[dict[str, Any]]:
        """What `edits` do to a file, in blocks of rows with context.

        A block starts at line `o` of the old and `n` of the new file; a row is the number of an unchanged line, or
        ["-" or "+", line, marks], or ["~", old line, new line, marks, marks]: a line that becomes another one.
        Marks are the starts and ends of the words that differ, in UTF-16 code units.
        Raises EditConflict where the edits do not fit.
        """
        source, edits = self._sources[path], sorted_edits(edits)
        marks = _Marks(source, edits)
        changes = hunks(source, edits)
        blocks: list[dict[str, Any]] = []
        at = 0
        for hunk, following in itertools.zip_longest(changes, changes[1:]):
            begin = max(at, hunk.start - CONTEXT)
            if not blocks or begin > at:
                blocks.append({"o": begin + 1, "n": begin + 1 + hunk.new_start - hunk.start, "r": []})
            rows = blocks[-1]["r"]
            rows += (self.of(path, line) for line in range(begin, hunk.start))
            rows += self._changed(path, hunk, marks)
            end = hunk.start + len(hunk.old)
            at = min(end + CONTEXT, following.start if following else self.count(path))
            rows += (self.of(path, line) for line in range(end, at))
        return blocks

    def _changed(self, path: str, hunk: Hunk, marks: _Marks) -> Iterable[list[Any]]:
        syntax = highlight(path, b"".join(hunk.new))
        old = [self.of(path, hunk.start + i) for i in range(len(hunk.old))]
        new = [self.add(shown(line), runs) for line, runs in zip(hunk.new, syntax, strict=True)]
        for i, j in _aligned(hunk.old, hunk.new):
            if i is None and j is not None:
                yield ["+", new[j], marks.new(hunk.new_start + j)]
            elif j is None and i is not None:
                yield ["-", old[i], marks.old(hunk.start + i)]
            elif i is not None and j is not None:
                yield ["~", old[i], new[j], marks.old(hunk.start + i), marks.new(hunk.new_start + j)]

    def excerpt(self, path: str, places: Mapping[int, tuple[Span | None, list[int]]]) -> list[dict[str, Any]]:
        """Lines of a file and those around them, in blocks: each line, from 0, with the bytes to mark and its numbers.

        A row is the number of a line, or ["*", line, marks, numbers].
        """
        lines = sorted(line for line in places if 0 <= line < self.count(path))
        blocks: list[dict[str, Any]] = []
        at = 0
        for line, following in itertools.zip_longest(lines, lines[1:], fillvalue=self.count(path)):
            begin = max(at, line - NEAR)
            if not blocks or begin > at:
                blocks.append({"o": begin + 1, "n": begin + 1, "r": []})
            rows = blocks[-1]["r"]
            rows += (self.of(path, near) for near in range(begin, line))
            span, numbers = places[line]
            rows.append(["*", self.of(path, line), self._marked(path, line, span), numbers])
            at = min(line + 1 + NEAR, following)
            rows += (self.of(path, near) for near in range(line + 1, at))
        return blocks

    def _marked(self, path: str, line: int, span: Span | None) -> list[int]:
        if span is None:
            return []
        source = self._lines[path][line]
        return [units(shown(source[: span[0]])), units(shown(source[: span[1]]))]


class _Marks:
    """The words that a file's edits take away and put in, by line."""

    def __init__(self, source: bytes, edits: Sequence[Edit]) -> None:
        old: list[Span] = []
        new: list[Span] = []
        moved = 0
        for edit in edits:
            begin = edit.start + moved
            for (a, b), (c, d) in differing_words(edit.old, edit.new):
                old.append((edit.start + a, edit.start + b))
                new.append((begin + c, begin + d))
            moved += len(edit.new) - len(edit.old)
        self._old = _by_line(source, old)
        self._new = _by_line(apply_edits(source, edits), new)

    def old(self, line: int) -> list[int]:
        return self._old.get(line, [])

    def new(self, line: int) -> list[int]:
        return self._new.get(line, [])


def _by_line(source: bytes, spans: Sequence[Span]) -> dict[int, list[int]]:
    """The spans, cut at line ends, as starts and ends in UTF-16 code units; a line marked as a whole has none."""
    result: dict[int, list[int]] = {}
    line = begin = 0
    for start, end in spans:
        while start < end:
            line += source.count(b"\n", begin, start)
            begin = source.rfind(b"\n", 0, start) + 1
            stop = source.find(b"\n", start)
            stop = len(source) if stop < 0 else stop
            text = source[begin:stop]
            first, last = start - begin, min(end, stop) - begin
            if text[first:last].strip() and text[first:last].strip() != text.strip():
                marks = result.setdefault(line, [])
                pair = units(shown(text[:first])), units(shown(text[:last]))
                if marks and marks[-1] == pair[0]:
                    marks[-1] = pair[1]
                else:
                    marks += pair
            start = min(end, stop) + 1
    return result


def _aligned(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int | None, int | None]]:
    """Which old line became which new one: in order, the most alike together."""
    if len(old) == len(new):
        return list(zip(range(len(old)), range(len(new)), strict=True))
    words = [[set(re.findall(rb"\w+|[^\w\s]", line)) for line in side] for side in (old, new)]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            together = best[i + 1][j + 1] + _likeness(words[0][i], words[1][j])
            best[i][j] = max(together, best[i + 1][j], best[i][j + 1])
    pairs: list[tuple[int | None, int | None]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        if i < len(old) and j < len(new) and best[i][j] > max(best[i + 1][j], best[i][j + 1]):
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif i < len(old) and (j == len(new) or best[i + 1][j] >= best[i][j + 1]):
            pairs.append((i, None))
            i += 1
        else:
            pairs.append((None, j))
            j += 1
    return pairs


def _likeness(old: set[bytes], new: set[bytes]) -> float:
    """0 for lines that share less than a third of their words, up to 1."""
    either = len(old | new)
    share = len(old & new) / either if either else 0.0
    return share if share > 1 / 3 else 0.0
