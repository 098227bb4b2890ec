"""Python's own parser, with what it gives up on as an error that says so."""

from __future__ import annotations

import ast
import sys
import warnings

from codemod.errors import SymfixError

_TOO_DEEP = "nested too deep for Python's parser, so not read; split up the code, or leave the file out"
_SHALLOW = 6_000
"""Bytes of source that cannot be nested deeply enough to harm."""


class NestedTooDeep(SymfixError):
    """A file that is not read for its nesting alone; the text says so and what to do."""


def parse(source: bytes) -> ast.Module:
    """The tree of a file.

    Raises SyntaxError or ValueError where Python cannot read it, NestedTooDeep where its parser gives up.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if sys.version_info < (3, 11) and len(source) > _SHALLOW:
                _bounded(source)
            return ast.parse(source)
        except (RecursionError, MemoryError):  # CPython's parser reports a full stack as want of memory
            raise NestedTooDeep(_TOO_DEEP) from None
        except SyntaxError as error:
            if error.msg.startswith(("too many nested parentheses", "too many levels of indentation")):
                raise NestedTooDeep(f"line {error.lineno}: {_TOO_DEEP}") from None
            raise


def _bounded(source: bytes) -> None:
    """Raises RecursionError where Python 3.10 would overflow the stack while it makes a tree of chained calls.

    What makes the table of symbols is bounded there (`symtable_visit_expr` in CPython's Python/symtable.c).
    """
    import symtable  # nothing else needs it

    try:
        symtable.symtable(source, "", "exec")  # type: ignore[arg-type]  # bytes as well, as compile does
    except (SyntaxError, ValueError):
        return  # a name that is declared twice, say: the parser decides
