"""C++ with literals, comments and definitions of macros blanked; every byte keeps its place."""

from __future__ import annotations

import re

# What is opened and never closed goes on to the end: no compiler reads on there, and one look at each byte is enough.
_LITERALS = re.compile(
    # Each begins with a character, so that the search passes over all others at once.
    rb'//[^\n\\]*(?:\\.[^\n\\]*)*|/\*.*?(?:\*/|\Z)|R(?<=\bR)"([^()\\\s]{0,16})\(.*?(?:\)\1"|\Z)'
    rb'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
    rb"|'(?<![0-9A-Za-z_]')(?:\\.|[^'\\\n])+'",
    re.S,
)
_DEFINE = re.compile(rb"#[ \t]*define\b(?:[^\n\\]|\\\r?\n|\\.)*")
_KEEP_LINES = bytes(c if c in b"\r\n" else 0x20 for c in range(256))


def blank(text: bytes) -> bytes:
    """As many blanks as `text` has bytes, with its ends of lines."""
    return text.translate(_KEEP_LINES)


def without_literals(source: bytes) -> bytes:
    """`source` with comments and the inside of literals blanked."""
    return _LITERALS.sub(_blank_literal, source)


def without_comments(source: bytes) -> bytes:
    """`source` with its comments blanked; what literals hold stays."""
    return _LITERALS.sub(lambda match: blank(match.group()) if match.group()[:1] == b"/" else match.group(), source)


def without_defines(source: bytes) -> bytes:
    """`source` with `#define` directives blanked, continuation lines included."""
    return _DEFINE.sub(lambda match: blank(match.group()), source)


def with_comments(source: bytes, start: int, end: int, new: bytes) -> bytes:
    """What is to stand in place of `[start, end)`: `new`, with the author's comments there that it does not hold.

    Those stand before it, and behind it where nothing else stood between them and what follows.
    """
    old = source[start:end]
    if b"//" not in old and b"/*" not in old:
        return new
    line = source[source.rfind(b"\n", 0, start) + 1 : start]
    newline = (b"\r\n" if b"\r\n" in old else b"\n") + line[: len(line) - len(line.lstrip())]
    before, behind = b"", b""
    code = len(without_literals(old).rstrip())
    for match in _LITERALS.finditer(old):
        comment = match.group().rstrip()
        if comment.startswith(b"/") and comment not in new:
            comment += newline if comment.startswith(b"//") else b" "
            before, behind = (before + comment, behind) if match.start() < code else (before, behind + comment)
    text = _apart(line, before) + new
    return text + _apart(line + text, behind)


def _apart(text: bytes, comments: bytes) -> bytes:
    """Comments that are to stand behind a text, of which they make no other."""
    return b" " + comments if comments and text.endswith(b"/") else comments


def _blank_literal(match: re.Match[bytes]) -> bytes:
    whole = match.group()
    if whole[0] == 0x2F:
        return blank(whole)
    last = whole[-1:] if whole.endswith((b'"', b"'")) else blank(whole[-1:])  # not in a raw string without an end
    return whole[:1] + blank(whole[1:-1]) + last
