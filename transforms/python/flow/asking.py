"""What asks for a symbol: a value's truth, and expressions whatever is done with their result."""

from __future__ import annotations

import ast
from typing import Protocol

from transforms.python.flow.nodes import called, operands_traced
from transforms.python.flow.values import BOOL, FLOAT, INT, PARAMETER, Value


class Evaluating(Protocol):
    """What knows the values of expressions: an Interpreter."""

    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""
        ...


def asks(value: Value) -> bool:
    """Whether turning a value into a bool asks for a symbol."""
    return value.kind in (BOOL, INT, FLOAT, PARAMETER)


def coerces(node: ast.expr, values: Evaluating) -> bool:
    """Whether evaluating an expression, whatever is done with its result, asks for a symbol."""
    if isinstance(node, ast.BoolOp):
        evaluated = operands_traced(node)
        return any(asks(values.value(v)) for v in evaluated[:-1]) or any(coerces(v, values) for v in evaluated)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return asks(values.value(node.operand))
    if isinstance(node, ast.Compare):
        operands = [values.value(operand) for operand in (node.left, *node.comparators)]
        if not values.value(node).symbolic:
            return False
        if any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
            return True
        return len(node.ops) > 1 or (len(operands) == 2 and any(operand.shapelike for operand in operands))
    if isinstance(node, ast.Call) and called(node) in ("all", "any") and len(node.args) == 1:
        return values.value(node).symbolic
    return False
