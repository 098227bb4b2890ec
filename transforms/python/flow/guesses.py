"""Branches that a guess about an unknown size decides, as `if not guard_or_false(x.numel() == 0):`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from transforms.python.flow.nodes import called, variables_in


class Guess(NamedTuple):
    """A comparison of a size with 0, and whether the branch that unknown sizes take is for where it is true."""

    condition: ast.expr
    holds: bool


def not_empty(test: ast.expr, nodes: Sequence[ast.AST]) -> Guess | None:
    """The comparison behind a test that takes an unknown size for not 0, written there or as a variable; else None.

    A variable is looked behind where it and what it compares are assigned no second time.
    """
    positive = True
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, positive = test.operand, not positive
    if isinstance(test, ast.Name):
        values = [
            node.value
            for node in nodes
            if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [test.id]
        ]
        stored = _stored(nodes)
        if len(values) != 1 or stored.count(test.id) != 1 or not variables_in(values[0]).isdisjoint(stored):
            return None
        test = values[0]
    if called(test) not in ("guard_or_false", "guard_or_true"):
        return None
    assert isinstance(test, ast.Call)
    condition = test.args[0] if len(test.args) == 1 and not test.keywords else None
    if not isinstance(condition, ast.Compare) or len(condition.ops) != 1:
        return None
    right, empty = condition.comparators[0], isinstance(condition.ops[0], ast.Eq)
    if not isinstance(right, ast.Constant) or type(right.value) is not int or right.value != 0:
        return None
    if not (empty or isinstance(condition.ops[0], (ast.NotEq, ast.Gt))):
        return None
    general = called(test) == ("guard_or_false" if empty else "guard_or_true")
    return Guess(condition, positive) if general and positive is not empty else None


def _stored(nodes: Sequence[ast.AST]) -> list[str]:
    """The variables, each as often as it is assigned; nodes in `TELLING` alone do not show what `with` binds."""
    targets: list[ast.AST] = []
    for node in nodes:
        if isinstance(node, ast.Assign):
            targets += node.targets
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.For, ast.AsyncFor)):
            targets.append(node.target)
        elif isinstance(node, ast.Name):
            targets.append(node)
    parts = {id(part): part for target in targets for part in ast.walk(target)}.values()
    return [part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
