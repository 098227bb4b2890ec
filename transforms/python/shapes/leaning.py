"""Which way a condition on sizes goes for sizes in general: they are neither 0 nor 1, and no two are equal."""

from __future__ import annotations

import ast
from collections.abc import Callable


def leaning(test: ast.expr, asks: Callable[[ast.expr], bool]) -> bool | None:
    """What a condition comes to for sizes in general, None where that is not settled.

    `asks` tells of an operand whether it asks for sizes; what the others come to is passed over.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = leaning(test.operand, asks)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        sides = {leaning(side, asks) for side in test.values if asks(side)}
        return sides.pop() if len(sides) == 1 else None
    if isinstance(test, ast.Compare):
        return _comparison(test) if len(test.ops) == 1 else None
    return True if asks(test) and not isinstance(test, ast.Call) else None


def _comparison(test: ast.Compare) -> bool | None:
    operator, left, right = test.ops[0], test.left, test.comparators[0]
    if isinstance(operator, (ast.Eq, ast.NotEq)):
        return isinstance(operator, ast.NotEq)
    bounds = [side.value for side in (left, right) if isinstance(side, ast.Constant) and type(side.value) is int]
    if len(bounds) != 1:
        return None
    above = isinstance(operator, (ast.Gt, ast.GtE)) is isinstance(right, ast.Constant)
    strict = isinstance(operator, (ast.Gt, ast.Lt))
    return above if 1 <= bounds[0] + (strict if above else not strict) <= 2 else None
