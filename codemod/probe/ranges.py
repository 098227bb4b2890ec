"""The ranges of expressions that torch prints of sizes, and whether they leave a question one answer."""

from __future__ import annotations

import ast
import copy
import functools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

_LONGEST = 400
_MOST_TERMS = 64


class Range(NamedTuple):
    """The whole numbers from `low` to `high`, both among them."""

    low: float
    high: float = math.inf


ANY = Range(0)
"""What a size is in."""
_ALL = Range(-math.inf)
Ranges = Mapping[str, Range]
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "Eq", ast.NotEq: "Ne", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


def question(expression: str, symbols: Sequence[str]) -> ast.expr | None:
    """The comparison that torch's `expression` is; None for another one, or where it holds what is not known."""
    if len(expression) > _LONGEST:
        return None
    try:
        tree = ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    sides = _sides(tree)
    ranges = dict.fromkeys(symbols, ANY)
    return tree if len(sides) == 2 and all(_range(side, ranges) is not None for side in sides) else None


def settles(asked: ast.expr, ranges: Ranges) -> bool:
    """Whether a question has one answer for all numbers in the ranges of its symbols."""
    left, right = (_range(side, ranges) or _ALL for side in _sides(asked))
    match _operator(asked):
        case "Eq" | "Ne":
            return left.high < right.low or right.high < left.low or left.low == left.high == right.low == right.high
        case "<" | ">=":
            return left.high < right.low or left.low >= right.high
    return left.high <= right.low or left.low > right.high


def difference(asked: ast.expr, symbols: Sequence[str]) -> int | None:
    """How far the sides of a question lie apart where all symbols are one number; None where that depends on it."""
    numbers = (1, 2, 3, 4, 5, 7, 16, 29, 1024, 2**31)
    apart = set()
    for number in numbers:
        left, right = (_range(side, dict.fromkeys(symbols, Range(number, number))) for side in _sides(asked))
        apart.add(left.low - right.low if left is not None and right is not None else math.nan)
    (only, *others) = apart
    return int(only) if not others and math.isfinite(only) else None


def compares_order(asked: ast.expr) -> bool:
    """Whether a question is which side is larger, or whether something is 0 or 1."""
    few = any(isinstance(side, ast.Constant) and side.value in (0, 1) for side in _sides(asked))
    return few or _operator(asked) not in ("Eq", "Ne")


def multiplied_out(asked: ast.expr) -> ast.expr | None:
    """The question with sums multiplied out that are factors, as torch computes its ranges; None for too many terms."""
    try:
        return _MultipliedOut().visit(copy.deepcopy(asked))  # type: ignore[no-any-return]
    except OverflowError:
        return None


class _MultipliedOut(ast.NodeTransformer):
    """Writes each product as a sum of products. Raises OverflowError where that has more than `_MOST_TERMS` terms."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Mult):
            return node
        products = list(product(_terms(node.left), _terms(node.right)))
        if len(products) > _MOST_TERMS:
            raise OverflowError
        terms: list[ast.expr] = []
        for (negative, left), (other, right) in products:
            term = ast.BinOp(left, ast.Mult(), right)
            terms.append(ast.UnaryOp(ast.USub(), term) if negative != other else term)
        return functools.reduce(lambda total, term: ast.BinOp(total, ast.Add(), term), terms)


def _terms(node: ast.expr) -> Iterator[tuple[bool, ast.expr]]:
    """The terms of a sum, each with whether it is taken away."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        yield from _terms(node.left)
        yield from ((negative != isinstance(node.op, ast.Sub), term) for negative, term in _terms(node.right))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield from ((not negative, term) for negative, term in _terms(node.operand))
    else:
        yield False, node


def _operator(asked: ast.expr) -> str:
    if isinstance(asked, ast.Call):
        return ast.unparse(asked.func)
    return _OPERATORS.get(type(asked.ops[0]), "") if isinstance(asked, ast.Compare) else ""


def _sides(asked: ast.expr) -> list[ast.expr]:
    if isinstance(asked, ast.Compare):
        return [asked.left, *asked.comparators] if _operator(asked) else []
    return asked.args if isinstance(asked, ast.Call) and _operator(asked) in ("Eq", "Ne") else []


def _range(node: ast.expr, ranges: Ranges) -> Range | None:
    """The range of an expression; None where it holds what is not known."""
    match node:
        case ast.Constant(value=int(value)):
            return Range(value, value)
        case ast.Name(id=name):
            return ranges.get(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _range(operand, ranges)
            return Range(-inner.high, -inner.low) if inner is not None else None
        case ast.BinOp(left=left, op=op, right=right):
            return _computed(type(op).__name__, _range(left, ranges), _range(right, ranges))
        case ast.Call(func=ast.Name(id=name), args=[first, second], keywords=[]):
            return _computed(name, _range(first, ranges), _range(second, ranges))
    return None


def _computed(name: str, left: Range | None, right: Range | None) -> Range | None:
    if left is None or right is None:
        return None
    match name:
        case "Add":
            return Range(left.low + right.low, left.high + right.high)
        case "Sub":
            return Range(left.low - right.high, left.high - right.low)
        case "Mult":
            return _corners(lambda a, b: 0 if 0 in (a, b) else a * b, left, right)
        case "Max" | "Min":
            chosen = max if name == "Max" else min
            return Range(chosen(left.low, right.low), chosen(left.high, right.high))
        case "FloorDiv":
            return _corners(_divided, left, right) if right.low > 0 else _ALL
        case "Mod" | "PythonMod" if right.low > 0:
            return left if left.low >= 0 and left.high < right.low else Range(0, right.high - 1)
        case "Mod" | "PythonMod":
            return _ALL
    return None


def _corners(operation: Callable[[float, float], float], left: Range, right: Range) -> Range:
    values = [operation(a, b) for a, b in product(left, right)]
    return Range(min(values), max(values))


def _divided(dividend: float, divisor: float) -> float:
    if math.isinf(divisor):
        return 0 if dividend >= 0 else -1
    return dividend if math.isinf(dividend) else operator.floordiv(dividend, divisor)
