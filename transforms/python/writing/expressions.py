"""Calls on sizes inside larger expressions: `min`, `int`, `math.sqrt` and their kin, innermost first."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from transforms.python.flow.torch_names import OF_NUMBERS
from transforms.python.flow.values import Value
from transforms.python.writing.logic import Conditions, Undecided
from transforms.python.writing.nodes import call, code, parenthesized

SYMBOLIC = {"int": "torch.sym_int", "float": "torch.sym_float", "math.sqrt": "torch.sym_sqrt"}
"""What converts a size as each of these does, and keeps its symbol."""


def symbolic_call(conditions: Conditions, original: cst.Call, updated: cst.Call) -> cst.BaseExpression | None:
    """What takes the place of a builtin called on sizes, or None where it is something else.

    `original` says what the arguments are, `updated` how they are written by now. Raises Undecided where one asks for
    the number itself, and nothing symbolic does what it does.
    """
    if isinstance(original.func, cst.Attribute):
        return _of_math(conditions, original, updated)
    if not isinstance(original.func, cst.Name) or any(argument.star or argument.keyword for argument in original.args):
        return None
    name = original.func.value
    if name in conditions.values.variables:
        return None  # no builtin
    passed = [argument.value for argument in updated.args]
    values = [conditions.value(argument.value) for argument in original.args]
    kinds = [value.kind for value in values]
    if name in ("min", "max") and len(passed) > 1 and conditions.value(original).kind in ("int", "float"):
        return nested(conditions.name(f"torch.sym_{name}"), passed, values)
    if name == "round" and kinds[:1] and kinds[0] in ("int", "float"):
        raise Undecided(f"{code(original)} asks for a size")
    if name in ("min", "max") and len(passed) == 1 and kinds[0] == "shape":
        return call(conditions.name(f"torch.sym_{name}"), unpacked_pair(passed[0], values[0]))
    item = len(passed) == 1 and isinstance(passed[0], cst.Call) and isinstance(passed[0].func, cst.Attribute)
    item = item and cst.ensure_type(cst.ensure_type(passed[0], cst.Call).func, cst.Attribute).attr.value == "item"
    if name in ("int", "float") and len(passed) == 1 and (kinds[0] in ("int", "float") or item):
        return call(conditions.name(SYMBOLIC[name]), passed[0])
    if name == "len" and conditions.value(original).kind == "int":
        size = cst.Attribute(parenthesized(passed[0]), cst.Name("size"))
        return cst.Call(size, [cst.Arg(cst.Integer("0"))])
    return None


def nested(function: str, operands: Sequence[cst.BaseExpression], values: Sequence[Value]) -> cst.BaseExpression:
    """`function` of the first two, of that and the third, and so on. Raises Undecided for an int beside a float.

    torch.sym_max and torch.sym_min make a float of both; the builtin gives one of them as it is. They take no number of
    numpy's.
    """
    if not all(value.numeric if value.real else value.integral for value in values):
        raise Undecided(f"one of these is not known for an int: {function} would give a float for an int beside it")
    if any(value.real for value in values) and not all(value.real for value in values):
        raise Undecided(f"one of these may be a float: {function} would give a float for an int too")
    joined = operands[0]
    for operand in operands[1:]:
        joined = call(function, joined, operand)
    return joined


def unpacked_pair(shape: cst.BaseExpression, value: Value) -> cst.Arg:
    """`*shape[-2:]` for that part of a shape, or `[:2]`. Raises Undecided where how many there are is not seen."""
    if not value.integers:
        raise Undecided(f"{code(shape)} may hold what is no integer, which would become a float")
    if not re.search(r"\[(?:-2 ?:|: ?2)\]$", code(shape)):
        raise Undecided("the sizes are in one sequence: unpack them, and write the smaller or larger of each two")
    return cst.Arg(shape, star="*")


def _of_math(conditions: Conditions, original: cst.Call, updated: cst.Call) -> cst.BaseExpression | None:
    """The square root of a size; None for what is no function of `math` called on one."""
    function = code(original.func)
    numbers = any(conditions.value(argument.value).kind in ("int", "float") for argument in original.args)
    if function in SYMBOLIC and numbers and len(updated.args) == 1:
        return call(conditions.name(SYMBOLIC[function]), updated.args[0].value)
    if function.startswith("math.") and function[5:] in OF_NUMBERS and numbers:
        raise Undecided(f"{code(original)} asks for a size")
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
