"""The path that serves every size is taken wherever code is compiled, and eager chooses as before.

`torch.compiler.is_compiling()` is a constant to Dynamo, so that the sizes behind it are not asked for, and False in
eager and for `torch.jit.trace`.
"""

from __future__ import annotations

import ast
import re

from transforms.python.flow.asking import asks
from transforms.python.flow.nodes import is_read
from transforms.python.writing.logic import Undecided
from transforms.python.writing.names import Layout
from transforms.python.writing.place import Change, Place

COMPILING = "compiler.is_compiling()"


def served(place: Place, test: ast.expr, truth: bool, default: bool | None = None) -> tuple[Change, ...]:
    """The changes after which unknown sizes take the path of `truth`, which gives for all sizes what the other does.

    Where Dynamo traces no function but runs it, and in PyTorch, which has helpers of its own, a guard takes `default`
    for what is unknown. Raises Undecided where neither may stand.
    """
    if place.inlined and place.names.home is None and not place.scripted:
        return _compiled(place, test, truth)
    return place.replaced(test, place.conditions.guarded(place.tree(test), default))


def asked_of(place: Place, test: ast.expr, truth: bool) -> ast.expr:
    """The part of a condition that asks for sizes, where all the rest holds on the way to `truth`; else all of it.

    Raises Undecided where operands that ask for none stand between those that do, or call something behind them.
    """
    return _part(test, *_asking(place, test, truth))


def _part(test: ast.expr, first: int, last: int) -> ast.expr:
    if not isinstance(test, ast.BoolOp) or last - first == len(test.values):
        return test
    return test.values[first] if last - first == 1 else ast.BoolOp(test.op, test.values[first:last])


def _asking(place: Place, test: ast.expr, truth: bool) -> tuple[int, int]:
    """Which operands of a condition `asked_of` is made of: the first, and the one behind the last."""
    if not isinstance(test, ast.BoolOp):
        return 0, 1
    if isinstance(test.op, ast.And) is not truth:
        return 0, len(test.values)
    asking = [asks(place.values.value(value)) for value in test.values]
    first, last = asking.index(True), len(asking) - asking[::-1].index(True)
    if not all(asking[first:last]):
        raise Undecided("what asks for sizes and what does not stand mixed in one condition")
    if not all(map(is_read, test.values[last:])):
        raise Undecided("what stands behind the sizes in the condition may act or raise, and is evaluated more often")
    return first, last


def _compiled(place: Place, test: ast.expr, truth: bool) -> tuple[Change, ...]:
    first, last = _asking(place, test, truth)
    asked = _part(test, first, last)
    if any(isinstance(node, ast.NamedExpr) for node in ast.walk(asked)):
        raise Undecided("the condition assigns a variable, so that it has to be evaluated")
    compiling = f"{place.names.torch}.{COMPILING}"
    before = f"{compiling} or " if truth else f"not {compiling} and "
    if isinstance(asked, ast.BoolOp) and asked in getattr(test, "values", ()) and isinstance(asked.op, ast.Or) is truth:
        return (Change(place.layout.start(asked), place.layout.start(asked), before),)  # they stand together already
    start, end = _span(place.layout, test, first, last)
    weaker = ast.And if truth else ast.Or  # what reads better in parentheses, or binds less
    joins = isinstance(asked, ast.BoolOp) and isinstance(asked.op, weaker)
    grouped = joins or isinstance(asked, (ast.IfExp, ast.Lambda))
    around = asked is not test
    opened, closed = f"{'(' * around}{before}{'(' * grouped}", ")" * (around + grouped)
    return tuple(change for change in (Change(start, start, opened), Change(end, end, closed)) if change.text)


def _span(layout: Layout, test: ast.expr, first: int, last: int) -> tuple[int, int]:
    """The bytes of some operands of a condition, with the parentheses around them."""
    start, end = layout.start(test), layout.end(test)
    if not isinstance(test, ast.BoolOp):
        return start, end
    values = test.values
    if first:
        between = layout.text(layout.end(values[first - 1]), layout.start(values[first]))
        start = layout.start(values[first]) - len(_behind(between).encode())
    if last < len(values):
        between = layout.text(layout.end(values[last - 1]), layout.start(values[last]))
        closing = between[: len(between) - len(_behind(between))]
        end = layout.end(values[last - 1]) + len(re.sub(r"\s*(?:and|or)\s*$", "", closing).encode())
    return start, end


def _behind(between: str) -> str:
    """What stands behind `and` or `or` between two operands. Raises Undecided where a comment does too."""
    if "#" in between:
        raise Undecided("a comment stands within the condition")
    return re.split(r"\b(?:and|or)\b\s*", between)[-1]
