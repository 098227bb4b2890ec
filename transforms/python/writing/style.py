"""How a tree writes its Python: the length of its lines, and one logical line written as its formatter would.

A logical line is a statement, or the header of a compound one. black formats it; nothing of the tree runs, and no
setting of the tree does more than choose among black's own styles.
"""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

WIDTH = 88
"""The longest line where a tree says nothing."""
_WIDE = 120
_LONG_LINES, _FEW = 0.01, 5
"""What part of a file's lines are longer than formatters leave them where nobody uses one, and how many at least."""

OLDEST = 8
"""The minor version of the oldest Python 3 where a tree names none."""

# black's time grows faster than a statement; real ones have a tenth of this.
_MOST_TOKENS = 1000
_DEEPEST = 50
_PRAGMA = re.compile(r"[ \t]+(#[ \t]*(?:type:[ \t]*ignore|(noqa))\b[^\"'\n]*)\n\Z")
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
# Strings of either kind of quote, three or one, and comments: what stands there is no name.
_NO_NAMES = re.compile(
    r"\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}"
    r"|\"(?:[^\"\\\r\n]|\\\r?\n|\\.)*\"|'(?:[^'\\\r\n]|\\\r?\n|\\.)*'|#[^\r\n]*",
    re.S,
)
_NAME = re.compile(r"\b[^\W\d]\w*\b(?!\")")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
# What black takes a part of a compound statement for, with what has to stand above it and below.
_ABOVE = {
    "elif": "if 0:\n    pass\n",
    "else": "if 0:\n    pass\n",
    "except": "try:\n    pass\n",
    "finally": "try:\n    pass\n",
}


@dataclass(frozen=True, slots=True)
class Style:
    """How the formatter of a tree writes its files.

    `python` is the minor version of the oldest Python 3 that the tree runs on, for what may be written in it.
    """

    limit: int = WIDTH
    magic_trailing_comma: bool = True
    python: int = OLDEST
    assumed: bool = field(default=False, compare=False)
    """Whether no settings name the limit."""

    def of_file(self, source: bytes) -> Style:
        """The style of one file, whose lines say how wide they may be where no settings do."""
        return replace(self, limit=_WIDE) if self.assumed and _is_wide(source) else self

    def fits(self, text: str) -> bool:
        """Whether no line of `text` is longer than the limit."""
        return longest(text) <= self.limit

    def statement(self, text: str, unit: str = "    ", strings: int | None = None) -> str | None:
        """A logical line, its indentation in front, as the formatter writes it; `unit` is one level of indentation.

        Its lines end in line feeds. Strings that make it too long are taken apart where it is longer than `strings`
        columns too. None where the formatter does not read it, or a string of it runs over several lines.
        """
        if '"""' in text or "'''" in text or "\\\n" in text or _too_large(text):
            return None
        indent, lines = _split_indent(text)
        above = _ABOVE.get(re.split(r"\W", lines[0], maxsplit=1)[0], "")
        source = "\n".join(line.removeprefix(indent) for line in lines) + "\n"
        columns = max(self.limit - _width(indent), 1)
        formatted = self._formatted(above, source, columns)
        pragma = _PRAGMA.search(source)
        most = None if strings is None or (pragma and pragma[2]) else max(strings - _width(indent), columns)
        if most is not None and formatted is not None and _longest(formatted) > most:
            divided = self._formatted(above, source, columns, ("string_processing",))
            if divided is not None:  # what black makes of it without that preview, in which the tree is checked
                divided = self._formatted(above, "\n".join(divided) + "\n", columns)
            if divided is not None and _longest(divided) < _longest(formatted):
                formatted = divided
        if formatted is not None and _longest(formatted) > columns and pragma:
            # black leaves such a line whole, as it cannot tell which part is meant: behind the whole it stays for that.
            divided = self._formatted(above, source[: pragma.start()] + "\n", columns)
            if divided is not None:
                # A length that flake8 is told to pass over is that of the line which still has it.
                long = bool(pragma[2]) and _longest(divided) > columns
                row = max(range(len(divided)), key=lambda row: _width(divided[row])) if long else len(divided) - 1
                divided[row] += f"  {pragma[1]}"
                formatted = divided
        if formatted is None:
            return None
        return "\n".join(indent + _with_unit(line, unit) for line in formatted)

    def _formatted(self, above: str, source: str, columns: int, features: Sequence[str] = ()) -> list[str] | None:
        """The lines of a logical line without its indentation; None where it is none, or more than one."""
        for below in ("", "    pass\n"):
            whole = above + source + below
            try:
                tree = ast.dump(ast.parse(whole))
                written = self._black(whole, columns, features)
                if ast.dump(ast.parse(written)) != tree:
                    continue
            except Exception:  # whatever a formatter raises, it costs the formatting alone
                continue
            if written.startswith(above) and written.endswith(below):
                lines = written.removeprefix(above).removesuffix(below).split("\n")[:-1]
                if len(list(logical_lines(lines))) == 1:
                    return lines
        return None

    def _black(self, source: str, columns: int, features: Sequence[str]) -> str:
        from black import format_str
        from black.mode import Mode, Preview, TargetVersion

        mode = Mode(
            target_versions={version for version in TargetVersion if version.value >= self.python},
            line_length=columns,
            string_normalization=False,
            magic_trailing_comma=self.magic_trailing_comma,
            enabled_features={Preview[feature] for feature in features},
        )
        return format_str(source, mode=mode)


def _is_wide(source: bytes) -> bool:
    """Whether a file is written in longer lines than formatters leave: names past that column, in no string."""
    lines = source.splitlines()
    most = max(_FEW, len(lines) * _LONG_LINES)
    if sum(len(line) > WIDTH for line in lines) <= most:
        return False
    text = _NO_NAMES.sub(_blank, source.decode("utf-8", "replace"))
    long = (line for line in split_lines(text) if len(line) > WIDTH)
    return sum(any(name.end() > WIDTH for name in _NAME.finditer(line)) for line in long) > most


def _blank(match: re.Match[str]) -> str:
    """What takes the columns and lines of a string or a comment, and can be told from a name before it."""
    return re.sub(r"[^\r\n]", '"', match[0])


def longest(text: str) -> int:
    """The columns of the longest line of a text."""
    return _longest(split_lines(text))


def split_lines(text: str) -> list[str]:
    """The lines of a text as Python counts them, each with what ends it."""
    return _LINE.findall(text)


def logical_lines(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The physical lines [first, last) of each logical line, of each blank line and of each line that is a comment.

    The rest is one line where it holds no Python.
    """
    first = 0
    while first < len(lines):
        begin = lines[first].lstrip()
        last = first + 1
        if begin and not begin.startswith("#"):
            following = map(lines.__getitem__, range(first + 1, len(lines)))
            rows = (line.rstrip("\r\n") + "\n" for line in chain((begin,), following))
            last = first + _length(rows, len(lines) - first)
        yield first, last
        first = last


def _length(rows: Iterator[str], most: int) -> int:
    """How many lines the logical line has that `rows` begin with; `most` where they are no Python."""
    try:
        for token in tokenize.generate_tokens(lambda: next(rows, "")):
            if token.type == tokenize.NEWLINE:
                return token.start[0]
    except (tokenize.TokenError, SyntaxError):
        pass
    return most


def _split_indent(text: str) -> tuple[str, list[str]]:
    """The white space a text begins with, and its lines, the first without it."""
    lines = [line.rstrip("\r\n") for line in split_lines(text)] or [""]
    first = lines[0].lstrip()
    return lines[0][: len(lines[0]) - len(first)], [first, *lines[1:]]


def _with_unit(line: str, unit: str) -> str:
    """A line of black's, whose levels are of four spaces, with levels of `unit`."""
    depth = (len(line) - len(line.lstrip(" "))) // 4
    return unit * depth + line[4 * depth :]


def _longest(lines: Sequence[str]) -> int:
    return max((_width(line.rstrip("\r\n")) for line in lines), default=0)


def _width(line: str) -> int:
    return len(line.expandtabs(4))


def _too_large(text: str) -> bool:
    depth = deepest = 0
    words = _WORD.findall(text)
    for word in words:
        depth += (word in "([{") - (word in ")]}")
        deepest = max(deepest, depth)
    return len(words) > _MOST_TOKENS or deepest > _DEEPEST
