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


def without_defines(source: bytes) -> bytes:
    """`source` with `#define` directives blanked, continuation lines included."""
    return _DEFINE.sub(lambda match: blank(match.group()), source)


def _blank_literal(match: re.Match[bytes]) -> bytes:
    whole = match.group()
    if whole[0] == 0x2F:
        return blank(whole)
    last = whole[-1:] if whole.endswith((b'"', b"'")) else blank(whole[-1:])  # not in a raw string without an end
    return whole[:1] + blank(whole[1:-1]) + last
