"""What the rules on branches share: which way a branch goes in general, and whether that path serves every size.

A path is picked for unknown sizes only where it serves the special ones too: no check says that they do not occur,
since that would refuse what eager takes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

import libcst as cst

from transforms.python.flow.values import BOOL, FLOAT, INT
from transforms.python.writing.compiled import served
from transforms.python.writing.counts import Counts
from transforms.python.writing.logic import Undecided
from transforms.python.writing.neutral import makes_views
from transforms.python.writing.nodes import bare, code, parse_expression, parsed
from transforms.python.writing.place import Change, Place

# Whether a tensor lies on a kind of device: `x.is_cuda`, `x.device.type == "cuda"`, `device_hint(x) in ("cuda", …)`.
_DEVICE = re.compile(
    r"^(?:not )?[\w.]+\.is_(?:cpu|cuda|mps|xpu)$"
    r"""|^[\w.]*device\w*(?:\([\w.]*\))?(?:\.type)? (?:[!=]=|in|not in) [\[({]?["']"""
)

_NEITHER = "so neither path may be picked for unknown sizes"


def outcome(place: Place, node: cst.BaseExpression) -> bool | None:
    """What a condition comes to for sizes in general; None where that depends on more than sizes."""
    conditions = place.conditions
    if isinstance(node, cst.BooleanOperation):
        sides = (outcome(place, node.left), outcome(place, node.right))
        short = isinstance(node.operator, cst.Or)
        if short in sides:
            return short
        return None if None in sides else not short
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        inner = outcome(place, node.expression)
        return None if inner is None else not inner
    if not conditions.asks(node):
        return None
    if isinstance(node, cst.Comparison):
        parts = [conditions.general(comparison) for comparison in conditions.special(node)]
        return None if None in parts or not parts else all(parts)
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in ("all", "any"):
        parts = [conditions.general(comparison) for comparison in conditions.special(node)]
        return parts[0] if len(parts) == 1 else None
    return True if conditions.value(node).kind in ("int", "float") else None


def kinds(place: Place, node: cst.BaseExpression) -> set[str]:
    """What a condition compares.

    "empty" is a size beside 0, "one" beside 1, "sentinel" beside a number below 0, which no size is, "size" beside
    anything else, or what is no size beside one of these, "shape" whole shapes, and "order" which of two is larger.
    """
    compared, counts = set(), Counts(place)
    for comparison in place.conditions.special(node):
        target = comparison.comparisons[0]
        sides = (comparison.left, target.comparator)
        if place.conditions.general(comparison) is None:
            compared.add("order")
        elif not isinstance(target.operator, (cst.In, cst.NotIn)) and any(
            place.conditions.value(side).shapelike for side in sides
        ):
            compared.add("shape")
        else:
            compared.add(_special(comparison, counts))
    if not all(counts.is_count(parsed(leaf)) for leaf in _plain_truths(place, node)):
        compared.add("size")
    return compared or _kept(place, node) or {"empty"}


def _kept(place: Place, node: cst.BaseExpression) -> set[str]:
    """What else than special sizes the truths compare that were kept in the variables of a condition."""
    compared: set[str] = set()
    for leaf in _leaves(node):
        if isinstance(leaf, cst.Name) and place.conditions.value(leaf).kind == BOOL:
            values = place.assigned(leaf.value)
            if len(values) == 1 and isinstance(values[0], (ast.Compare, ast.BoolOp)):
                compared |= kinds(place, place.tree(values[0]))
    return {"size" if kind == "shape" else kind for kind in compared & {"order", "size", "shape"}}


def _plain_truths(place: Place, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The numbers that a condition asks whether they are 0 without comparing them."""
    return (leaf for leaf in _leaves(node) if place.conditions.value(leaf).kind in (INT, FLOAT))


def _leaves(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What `and`, `or` and `not` join in a condition."""
    if isinstance(node, cst.BooleanOperation):
        yield from _leaves(node.left)
        yield from _leaves(node.right)
    elif isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        yield from _leaves(node.expression)
    else:
        yield node


def _special(comparison: cst.Comparison, counts: Counts) -> str:
    """Whether a comparison singles out empty sizes, size 1, a number that no size is, or something else.

    That a difference or a remainder is 0 says that two sizes agree. Where it may be below 0, its order is theirs.
    """
    target = comparison.comparisons[0]
    sides = (comparison.left, target.comparator)
    numbers = [parsed(side) for side in sides]
    equality = isinstance(target.operator, (cst.Equal, cst.NotEqual))
    if equality and any(_negative(side) for side in sides):
        return "sentinel" if all(map(counts.is_given, numbers)) else "size"
    bounds = [side.evaluated_value for side in sides if isinstance(side, cst.Integer)]
    if isinstance(target.operator, (cst.In, cst.NotIn)) or not bounds:
        return "size"
    if not all(map(counts.is_count, numbers)):
        return "size" if equality or all(map(counts.is_never_negative, numbers)) else "order"
    if equality:
        return {0: "empty", 1: "one"}.get(bounds[0], "size")
    greater = isinstance(target.operator, (cst.GreaterThan, cst.GreaterThanEqual))
    strict = isinstance(target.operator, (cst.GreaterThan, cst.LessThan))
    above = greater == isinstance(target.comparator, cst.Integer)
    return "empty" if bounds[0] + (strict if above else not strict) == 1 else "one"


def _negative(node: cst.BaseExpression) -> bool:
    return (
        isinstance(node, cst.UnaryOperation)
        and isinstance(node.operator, cst.Minus)
        and isinstance(node.expression, cst.Integer)
        and node.expression.evaluated_value > 0
    )


def raises(statements: Sequence[ast.stmt]) -> bool:
    """Whether a path ends in an exception."""
    if not statements:
        return False
    last = statements[-1]
    return isinstance(last, ast.Raise) or (isinstance(last, ast.If) and raises(last.body) and raises(last.orelse))


def lean(place: Place, node: cst.BaseExpression) -> bool | None:
    """The outcome towards which every truth about sizes in a condition leans; None where they pull apart.

    A condition that comes out the other way does so because of what is known.
    """
    if not place.conditions.asks(node):
        return None
    if isinstance(node, cst.BooleanOperation):
        sides = {lean(place, side) for side in (node.left, node.right) if place.conditions.asks(side)}
        return sides.pop() if len(sides) == 1 else None
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        inner = lean(place, node.expression)
        return None if inner is None else not inner
    return outcome(place, node)


def on_every_device(place: Place, node: cst.BaseExpression) -> cst.BaseExpression:
    """A condition without what some device alone asks about sizes: `a or (on_gpu and b)` as `a or on_gpu`.

    The path of the other devices serves those sizes in a decomposition, whose result is what it computes.
    """
    if not isinstance(node, cst.BooleanOperation):
        return node
    conjunction = isinstance(node.operator, cst.And)
    if conjunction and not place.conditions.asks(node.left) and _DEVICE.search(code(bare(node.left))):
        return node.left
    return node.with_changes(left=on_every_device(place, node.left), right=on_every_device(place, node.right))


def decides_elsewhere(place: Place, branch: ast.If) -> str:
    """Why neither path may be picked: a caller decides by what is returned, a loop ends, or the function recurses.

    Or a loop goes on with its next turn: whether the rest of this one serves the sizes is not followed.
    """
    function = place.function
    statements = [*branch.body, *branch.orelse]
    truth = any(
        isinstance(node, ast.Return) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool)
        for node in place.nodes
    )
    nodes = [node for statement in statements for node in ast.walk(statement)]
    inner = {id(part) for node in nodes if isinstance(node, (ast.For, ast.While)) for part in ast.walk(node)}
    for node in nodes:
        if isinstance(node, ast.Return) and (truth or isinstance(node.value, ast.Compare)):
            return f"the branch returns a truth that callers decide by, {_NEITHER}"
        if isinstance(node, ast.Continue) and id(node) not in inner:
            return "the branch skips what follows in a turn of a loop: take it away if that serves these sizes too"
        if isinstance(node, (ast.Break, ast.Continue)):
            return f"the branch ends a loop, or a turn of one within it, {_NEITHER}"
    calls = (node.func for node in place.nodes if isinstance(node, ast.Call))
    if any(isinstance(callee, ast.Name) and callee.id == function.name for callee in calls):
        return f"the function calls itself until the branch stops it, {_NEITHER}"
    return ""


def only(statements: Sequence[ast.stmt], function: str) -> bool:
    """Whether a path does nothing but call `….function(…)`."""
    return bool(statements) and all(
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Attribute)
        and statement.value.func.attr == function
        for statement in statements
    )


def is_elif(place: Place, branch: ast.If) -> bool:
    """Whether an `if` is written `elif`."""
    return place.layout.source.startswith(b"elif", place.layout.start(branch))


def decided(
    place: Place, branch: ast.If | ast.IfExp, same: bool | None = None, where: Sequence[str] = ()
) -> tuple[Change, ...]:
    """The changes that let sizes in general decide a branch. Raises Undecided where neither path may be picked.

    The path of `same`, if it is not None, is known to give for all sizes what the other path does, at least `where`
    that holds: elsewhere the branch asks for the sizes as before.
    """
    if isinstance(branch, ast.If):
        reason = decides_elsewhere(place, branch)
        if reason:
            raise Undecided(reason)
    if same is not None and not where and makes_views(branch):
        return served(place, branch.test, same)
    guarded = place.conditions.guarded(place.tree(branch.test))
    if where:
        guarded = parse_expression(f"{code(guarded)} if {' and '.join(where)} else {place.text(branch.test)}")
        if isinstance(branch, ast.IfExp):
            guarded = parse_expression(f"({code(guarded)})")
    return place.replaced(branch.test, guarded)
