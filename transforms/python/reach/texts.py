"""Strings that a module puts together to name operators: what slices, methods and comparisons of constants give."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence

from transforms.python.reach.registrars import Text, Value

MOST = 64
"""Strings that one expression may be at the most."""
_METHODS = frozenset(("removeprefix", "removesuffix", "strip", "lstrip", "rstrip", "replace", "lower", "upper"))
_LONGEST = 500


def joined(pieces: Sequence[ast.expr], value_of: Callable[[ast.expr], Sequence[Value]]) -> tuple[Value, ...]:
    """All concatenations of the strings that each piece may be, none where some piece is unknown.

    What is written twice is the same string both times: `f"{n}x{n}"`.
    """
    written = [ast.unparse(piece) for piece in pieces]
    choices = {text: value_of(piece) for text, piece in zip(written, pieces, strict=True)}
    texts = [[value.text for value in values if isinstance(value, Text)] for values in choices.values()]
    chosen = (dict(zip(choices, several, strict=True)) for several in itertools.product(*texts))
    return tuple(Text("".join(map(strings.__getitem__, written))) for strings in itertools.islice(chosen, MOST))


def part(values: Sequence[Value], index: ast.expr) -> tuple[Value, ...]:
    """`values[index]` of each string."""
    try:
        if isinstance(index, ast.Slice):
            bounds = (index.lower, index.upper, index.step)
            place = slice(*(None if bound is None else ast.literal_eval(bound) for bound in bounds))
            return tuple(Text(value.text[place]) for value in values if isinstance(value, Text))
        number = ast.literal_eval(index)
        return tuple(Text(value.text[number]) for value in values if isinstance(value, Text))
    except (ValueError, TypeError, IndexError, RecursionError):
        return ()


def method(text: str, name: str, arguments: Sequence[Sequence[Value]]) -> tuple[Value, ...]:
    """What a method of a string gives, where its arguments are strings too."""
    texts = [next((value.text for value in values if isinstance(value, Text)), None) for values in arguments]
    if name not in _METHODS or None in texts or len(text) > _LONGEST:
        return ()
    try:
        result = getattr(text, name)(*texts)
    except (TypeError, ValueError, IndexError, KeyError, AttributeError):
        return ()
    return (Text(result),) if len(result) <= _LONGEST else ()


def holds(test: ast.expr, value_of: Callable[[ast.expr], Sequence[Value]]) -> bool | None:
    """Whether a condition on strings, or on None, is true; None where it does not say."""

    def text(node: ast.expr) -> str | None:
        values = value_of(node)
        return values[0].text if len(values) == 1 and isinstance(values[0], Text) else None

    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = holds(operand, value_of)
            return None if inner is None else not inner
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as sign], comparators=[ast.Constant(None)]):
            return isinstance(sign, ast.IsNot) if value_of(left) else None  # what is known is no None
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() | ast.In() | ast.NotIn() as sign], comparators=[right]):
            first, second = text(left), text(right)
            if first is None or second is None:
                return None
            same = first == second if isinstance(sign, (ast.Eq, ast.NotEq)) else first in second
            return same == isinstance(sign, (ast.Eq, ast.In))
        case ast.Call(func=ast.Attribute(value=receiver, attr="startswith" | "endswith" as name), args=[argument]):
            first, second = text(receiver), text(argument)
            if first is None or second is None:
                return None
            return first.startswith(second) if name == "startswith" else first.endswith(second)
    return None
