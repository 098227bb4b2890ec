"""Diffs in the terminal: a change's lines with syntax colours, and the words that differ marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import TypeAlias

from pygments.token import Token, _TokenType
from rich.text import Text

from codemod.model.edits import Edit
from codemod.syntax import lexer
from codemod.terminal import decode, visible
from codemod.writing.diff import hunks, split_lines

CONTEXT = 3
_TAB = 4
_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)
# The terminal's own sixteen colours, which its user has made readable; red and green belong to the diff.
_SYNTAX = (
    (Token.Comment.Preproc, "magenta"),
    (Token.Comment, "italic bright_black"),
    (Token.Literal.String, "yellow"),
    (Token.Literal.Number, "cyan"),
    (Token.Keyword.Type, "cyan"),
    (Token.Keyword, "magenta"),
    (Token.Operator.Word, "magenta"),
    (Token.Name.Decorator, "blue"),
    (Token.Name.Function, "blue"),
)


Spans: TypeAlias = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a diff: `sign` is " ", "-", "+", or "@" for what stands between two parts of a file.

    `line` counts from 1 in the old file, in the new one for an added line; for "@" it is that of the next row.
    """

    sign: str
    line: int
    text: Text


def diff_rows(path: str, source: bytes, edits: Iterable[Edit]) -> list[Row]:
    """What `edits` do to one file, in rows with context.

    Raises EditConflict where the edits do not fit `source`.
    """
    lines = [shown(line) for line in split_lines(source)]
    rows: list[Row] = []
    end = 0
    for hunk in hunks(source, edits):
        old = lines[hunk.start : hunk.start + len(hunk.old)]
        new = [shown(line) for line in hunk.new]
        begin = max(end, hunk.start - CONTEXT)
        if rows:  # the lines between this and the one before: all, or the first and the last few
            after = min(end + CONTEXT, begin)
            if begin - after == 1:  # a mark for it would be as long
                after = begin
            rows += _context(path, lines, end, after)
            if begin > after:
                rows.append(Row("@", begin + 1, Text()))
        rows += _context(path, lines, begin, hunk.start)
        marks_old, marks_new = differing(old, new)
        rows += _changed("-", hunk.start + 1, _plain(old, "red"), marks_old, "bold red reverse")
        rows += _changed("+", hunk.new_start + 1, highlighted(path, new), marks_new, "bold green reverse")
        end = hunk.start + len(hunk.old)
    return rows + _context(path, lines, end, min(end + CONTEXT, len(lines))) if rows else rows


def highlighted(path: str, lines: Sequence[str]) -> list[Text]:
    """`lines` in the colours of the syntax that the name of their file tells."""
    text = Text("".join(f"{line}\n" for line in lines))  # a comment is one only up to a line's end
    for start, token, value in lexer(path).get_tokens_unprocessed(text.plain):
        style = _style_of(token)
        if style:
            text.stylize(style, start, start + len(value))
    return list(text.split("\n", allow_blank=True))[: len(lines)]


def differing(old: Sequence[str], new: Sequence[str]) -> tuple[list[Spans], list[Spans]]:
    """The spans of whole words that differ, for each of the `old` and the `new` lines.

    None where they have too little in common for a comparison to help.
    """
    before, after = _WORD.findall("\n".join(old)), _WORD.findall("\n".join(new))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if not old or not new or matcher.ratio() < 0.4:
        return [[] for _ in old], [[] for _ in new]
    codes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return (
        _spans(old, before, [(i, j) for _, i, j, _, _ in codes]),
        _spans(new, after, [(i, j) for _, _, _, i, j in codes]),
    )


def shown(line: bytes) -> str:
    """A line without its end, as text that a terminal shows and does not obey.

    Tabs become spaces; a byte that is no UTF-8 and a character that controls become their escapes.
    """
    return visible(decode(line.rstrip(b"\n").removesuffix(b"\r")).expandtabs(_TAB))


def _context(path: str, lines: Sequence[str], first: int, last: int) -> list[Row]:
    texts = highlighted(path, lines[first:last])
    return [Row(" ", first + number + 1, text) for number, text in enumerate(texts)]


def _plain(lines: Iterable[str], style: str) -> list[Text]:
    return [Text(line, style) for line in lines]


def _changed(sign: str, first: int, texts: Iterable[Text], marks: Iterable[Spans], style: str) -> list[Row]:
    rows = []
    for number, (text, spans) in enumerate(zip(texts, marks, strict=True)):
        for start, end in spans:
            text.stylize(style, start, end)
        rows.append(Row(sign, first + number, text))
    return rows


def _spans(lines: Sequence[str], words: Sequence[str], ranges: Iterable[tuple[int, int]]) -> list[Spans]:
    """Ranges of `words`, which make up `lines`, as spans of characters on each; without white space at either end."""
    marked = {index for first, last in ranges for index in range(first, last)}
    spans: list[Spans] = [[] for _ in lines]
    line = column = 0
    for index, word in enumerate(words):
        for number, part in enumerate(word.split("\n")):
            if number:
                line, column = line + 1, 0
            if index in marked and part:
                begin = spans[line].pop()[0] if spans[line] and spans[line][-1][1] == column else column
                spans[line].append((begin, column + len(part)))
            column += len(part)
    return [[_trimmed(text, span) for span in line_spans if text[slice(*span)].strip()]
            for text, line_spans in zip(lines, spans, strict=True)]  # fmt: skip


def _trimmed(text: str, span: tuple[int, int]) -> tuple[int, int]:
    part = text[slice(*span)]
    return span[1] - len(part.lstrip()), span[0] + len(part.rstrip())


@cache
def _style_of(token: _TokenType) -> str:
    return next((style for family, style in _SYNTAX if token[: len(family)] == family), "")
