"""Which of pygments' lexers reads a file."""

from __future__ import annotations

from functools import cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.util import ClassNotFound


@cache
def lexer(path: str) -> Lexer:
    """The lexer for a file of that name, which keeps every character; where there is none, one that knows nothing."""
    if path.endswith((".h", ".cuh")):  # a header's name tells no language
        return _named("cpp")
    try:
        return _named(get_lexer_for_filename(path).aliases[0])
    except (ClassNotFound, IndexError):
        return _named("text")


@cache
def _named(name: str) -> Lexer:
    return get_lexer_by_name(name, stripnl=False, ensurenl=False)
