"""Calls on sizes inside larger expressions: `min`, `max`, `int`, `float` and `len` of a tensor, innermost first."""

from __future__ import annotations

import libcst as cst

from transforms.python.writing.logic import Conditions
from transforms.python.writing.nodes import call, parenthesized


def symbolic_call(conditions: Conditions, original: cst.Call, updated: cst.Call) -> cst.BaseExpression | None:
    """What takes the place of a builtin called on sizes, or None where it is something else.

    `original` says what the arguments are, `updated` how they are written by now.
    """
    if not isinstance(original.func, cst.Name) or any(argument.star or argument.keyword for argument in original.args):
        return None
    name = original.func.value
    passed = [argument.value for argument in updated.args]
    kinds = [conditions.value(argument.value).kind for argument in original.args]
    if name in ("min", "max") and len(passed) > 1 and conditions.value(original).kind in ("int", "float"):
        function = conditions.name(f"torch.sym_{name}")
        joined = passed[0]
        for operand in passed[1:]:
            joined = call(function, joined, operand)
        return joined
    item = len(passed) == 1 and isinstance(passed[0], cst.Call) and isinstance(passed[0].func, cst.Attribute)
    item = item and cst.ensure_type(cst.ensure_type(passed[0], cst.Call).func, cst.Attribute).attr.value == "item"
    if name in ("int", "float") and len(passed) == 1 and (kinds[0] in ("int", "float") or item):
        return call(conditions.name(f"torch.sym_{name}"), passed[0])
    if name == "len" and conditions.value(original).kind == "int":
        size = cst.Attribute(parenthesized(passed[0]), cst.Name("size"))
        return cst.Call(size, [cst.Arg(cst.Integer("0"))])
    return None


class Composer(cst.CSTTransformer):
    """Rewrites every such call of an expression, save in lambdas."""

    def __init__(self, conditions: Conditions) -> None:
        super().__init__()
        self.conditions = conditions

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return False

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        return symbolic_call(self.conditions, original_node, updated_node) or updated_node
