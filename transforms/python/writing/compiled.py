"""The path that serves every size is taken wherever code is compiled, and eager chooses as before.

`torch.compiler.is_compiling()` is a constant to Dynamo, so that the sizes behind it are not asked for, and False in
eager and for `torch.jit.trace`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from transforms.python.flow.asking import asks
from transforms.python.flow.nodes import is_read
from transforms.python.writing.logic import Undecided
from transforms.python.writing.names import Layout
from transforms.python.writing.place import Change, Place

COMPILING = "compiler.is_compiling()"
_ASSIGNS = "the condition assigns a variable, so that it has to be evaluated"


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
    changes = _asked_behind(place, test, truth, first, last)
    named = [node for node in ast.walk(asked) if isinstance(node, ast.NamedExpr)]
    if not named:
        return changes
    before, there = _named_before(place, test, named)
    return (before, *_joined(changes, there))


def _asked_behind(place: Place, test: ast.expr, truth: bool, first: int, last: int) -> tuple[Change, ...]:
    """The changes that put the operands from `first` to `last` behind what asks whether code is compiled."""
    asked = _part(test, first, last)
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


def _named_before(place: Place, test: ast.expr, named: Sequence[ast.NamedExpr]) -> tuple[Change, Change]:
    """The statement above a branch that assigns what its condition assigns first of all, and the name in its place.

    Raises Undecided where it is not evaluated first, or no statement can stand there.
    """
    layout, branch, assigning = place.layout, place.site.node, named[0]
    only = len(named) == 1 and _evaluated_first(test) is assigning
    if not only or not isinstance(branch, ast.If) or branch.test is not test or layout.indent(branch) is None:
        raise Undecided(_ASSIGNS)
    if layout.text(layout.start(branch), layout.start(branch) + 2) != "if":  # no statement can stand before `elif`
        raise Undecided(_ASSIGNS)
    start, end = layout.start(assigning), layout.end(assigning)
    opened = re.search(r"\(\s*$", layout.text(layout.start(branch), start))
    closed = re.match(r"\s*\)", layout.text(end, layout.end(branch)))
    if opened and closed:
        start, end = start - len(opened[0]), end + len(closed[0])
    value = place.text(assigning.value)
    value = f"({value})" if "\n" in value else value
    at = layout.line_start(branch.lineno)
    line = f"{layout.indent(branch)}{assigning.target.id} = {value}{layout.newline}"
    return Change(at, at, line), Change(start, end, assigning.target.id)


def _evaluated_first(node: ast.expr) -> ast.expr:
    """The part of an expression that is evaluated before all others, as far as operators tell."""
    match node:
        case ast.Compare(left=first) | ast.BinOp(left=first) | ast.BoolOp(values=[first, *_]):
            return _evaluated_first(first)
        case ast.UnaryOp(operand=first):
            return _evaluated_first(first)
    return node


def _joined(changes: Sequence[Change], name: Change) -> Iterator[Change]:
    """`changes` and `name`, as one where both begin at the same byte."""
    before = "".join(change.text for change in changes if change.start == name.start)
    yield from (change for change in changes if change.start != name.start)
    yield Change(name.start, name.end, before + name.text)


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
