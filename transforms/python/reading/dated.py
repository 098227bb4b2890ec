"""Code of a file that some releases of torch alone run, as tests of its version, or of what it has, around it say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from transforms.python.flow.nodes import EXITS, dotted, written
from transforms.python.reading.parsing import parse
from transforms.releases.data import releases, since
from transforms.releases.version import Release, release

# They begin with plain text, which Python searches for first, unless it ignores case: in lower case it need not.
_VERSION = re.compile(r"torch(?<![\w.]torch)\.__version__|torch(?<!\wtorch)_version\b", re.I)
_AT_LEAST = re.compile(r"torch\w*(?:at_least|greater_or_equal|or_newer|_gte?\b|_ge\b)")
"""Helpers of libraries that take the oldest version: `torch_version_at_least("2.4")`, `is_torch_greater_or_equal`."""
_HAS = re.compile(r"torch(?<=hasattr\(torch)[\w.]*,")
_MENTIONED = re.compile(f"{_VERSION.pattern}|{_AT_LEAST.pattern}|{_HAS.pattern}".encode())
"""Any of them, in lower case."""
_FLIPPED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}


class Span(NamedTuple):
    """The lines that only torch from `oldest` on, or up to `newest`, runs; None where nothing is said."""

    first: int
    last: int
    oldest: Release | None
    newest: Release | None


def minimum_at(source: bytes, line: int, minimum: Release | None) -> Release | None:
    """The oldest torch that a line of a file has to run with, where that of the file is `minimum`; None for any.

    Where none of those that may run the file runs the line, it is the newest that does.
    """
    for span in _spans(source):
        if span.first <= line <= span.last:
            if span.oldest is not None and minimum is not None:
                minimum = max(minimum, span.oldest)
            if span.newest is not None:
                minimum = span.newest if minimum is None else min(minimum, span.newest)
    return minimum


@lru_cache(maxsize=8)
def _spans(source: bytes) -> tuple[Span, ...]:
    return tuple(_of_block(parse(source).body)) if _MENTIONED.search(source.lower()) else ()


def _of_block(statements: Sequence[ast.stmt]) -> Iterator[Span]:
    for index, statement in enumerate(statements):
        if isinstance(statement, ast.If) and (bounds := _bounds(statement.test)) is not None:
            oldest, newest = bounds
            yield _span(statement.body, oldest, newest)
            rest = statements[index + 1 :] if isinstance(statement.body[-1], EXITS) else ()
            for other in filter(None, (statement.orelse, rest)):
                yield _span(other, _next(newest), _previous(oldest))
        for name in ("body", "orelse", "finalbody"):
            yield from _of_block(getattr(statement, name, ()))
        for handler in getattr(statement, "handlers", ()):
            yield from _of_block(handler.body)


def _span(block: Sequence[ast.stmt], oldest: Release | None, newest: Release | None) -> Span:
    return Span(block[0].lineno, block[-1].end_lineno or 0, oldest, newest)


def _bounds(test: ast.expr) -> tuple[Release | None, Release | None] | None:
    """The oldest and the newest release for which a test holds, one of them; None where it says nothing of that."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            bounds = _bounds(operand)
            return bounds and (_next(bounds[1]), _previous(bounds[0]))
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            kind = type(operator)
            if not _VERSION.search(written(left)):
                left, right, kind = right, left, _FLIPPED.get(kind, kind)
            number = _number(right)
            if number is None or not _VERSION.search(written(left)):
                return None
            if kind in (ast.Gt, ast.GtE):
                return (number, None)
            if kind in (ast.Lt, ast.LtE):
                return (None, _previous(number) if kind is ast.Lt else number)
        case ast.Call(func=function, args=[argument]) if _AT_LEAST.search(dotted(function)):
            number = _number(argument)
            return None if number is None else (number, None)
        case ast.Call(func=ast.Name("hasattr"), args=[module, ast.Constant(value=str() as name)]):
            of_torch = dotted(module).partition(".")[0] == "torch"
            return (since()[name], None) if of_torch and name in since() else None
    return None


def _number(node: ast.expr) -> Release | None:
    """The release that a string in `node` names, or a tuple of numbers."""
    for inner in ast.walk(node):
        match inner:
            case ast.Constant(value=str() as text):
                return release(text)
            case ast.Tuple(elts=[ast.Constant(value=int() as major), ast.Constant(value=int() as minor), *_]):
                return (major, minor)
    return None


def _previous(number: Release | None) -> Release | None:
    """A number below which `number` is the next release; patch releases bring no names."""
    if number is None or number[1]:
        return number and (number[0], number[1] - 1)
    return max((other for other in releases() if other < number), default=None)


def _next(number: Release | None) -> Release | None:
    return number and (number[0], number[1] + 1)
