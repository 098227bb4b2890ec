"""What arithmetic makes of values: sums, comparisons, and calls of `max`, `abs`, `math.ceil` and their kin."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from transforms.python.flow.imported import torch_name
from transforms.python.flow.nodes import is_sequence
from transforms.python.flow.values import (
    A_BOOL,
    A_NUMBER,
    A_REAL,
    A_SIZE,
    BOOL,
    FLOAT,
    INT,
    MAYBE_TENSOR,
    NOTHING,
    OF_NUMPY,
    PLAIN,
    SHAPE,
    TENSOR,
    TENSORS,
    Value,
    all_dependencies,
)

_OF_THEIR_KIND = frozenset({"max", "min", "sum", "abs", "prod", "sym_max", "sym_min", "sym_sum", "sym_ite", "pow"})
_WHOLE = frozenset({"int", "ceil", "floor", "sym_int"})


def computed(name: str, module: str | None, arguments: list[Value]) -> Value:
    """What a function of SIZES gives, of a module or, where that is None, by its name alone."""
    size = _computed(name, arguments)
    if module in ("np", "numpy"):
        return size._replace(sure=False) if size.symbolic else OF_NUMPY
    if size != NOTHING or not arguments:
        return size
    if name == "int" and module is None:
        return A_NUMBER
    if not all(argument.scalar for argument in arguments):
        return NOTHING
    if (module == "math" and name in ("ceil", "floor")) or (module is None and name == "round" and not arguments[1:]):
        return A_NUMBER
    if module is None and name in ("abs", "max", "min") and (name == "abs" or arguments[1:]):
        return A_REAL if any(argument.real for argument in arguments) else A_NUMBER
    return A_REAL if module is None and name == "round" else NOTHING


def _computed(name: str, arguments: list[Value]) -> Value:
    if name == "reduce":
        arguments = arguments[1:]
    if any(a.kind == TENSOR for a in arguments) and name not in ("sym_max", "sym_min", "sym_int", "sym_ite"):
        return MAYBE_TENSOR if name in ("max", "min", "sum", "abs", "prod") else NOTHING
    shapes = name in ("max", "min") and len(arguments) > 1 and any(a.shapelike for a in arguments)
    if shapes or not any(a.symbolic for a in arguments):
        return A_SIZE if name.startswith("sym_") else NOTHING
    real = name in _OF_THEIR_KIND and any(a.real for a in arguments)
    size = combined(arguments, FLOAT if real else INT)
    return size._replace(sure=True, whole=True) if name in _WHOLE else size


def fraction(module: str, value: Value) -> Value:
    """What `float`, a square root or a logarithm gives of a value, called by a module or, as a builtin, by none."""
    if not value.symbolic:
        return OF_NUMPY if module == "np" else A_REAL
    return Value(FLOAT, value.dependencies, sure=module != "np", whole=value.numeric)


def combined(values: Sequence[Value], kind: str) -> Value:
    """A value of `kind` that is made of others; what is known of it where none of them is symbolic."""
    touched = [value for value in values if value.symbolic]
    if not touched:
        numbers = kind != SHAPE and all(value.scalar or (kind == BOOL and value.numeric) for value in values)
        return NOTHING if not numbers else A_REAL if kind == FLOAT else A_BOOL if kind == BOOL else A_NUMBER
    mixed = kind == SHAPE and not all(value.numbers for value in values)
    whole = all(value.integers or value.kind == BOOL if kind in (INT, SHAPE) else value.numeric for value in values)
    certain, sure = any(value.certain for value in touched), not any(value.maybe_tensor for value in values)
    dependencies = frozenset[str]() if certain else frozenset[str]().union(*map(all_dependencies, touched))
    return Value(kind, dependencies, sure=sure or not certain, optional=mixed, whole=whole)


def compared(node: ast.Compare, values: Sequence[Value]) -> Value:
    """What a comparison of values gives, none of them a text or None."""
    if any(value.kind in (TENSOR, TENSORS) for value in values):
        return MAYBE_TENSOR
    if isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        if {value.held for value in values} == {"tuple", "list"}:
            return NOTHING  # never equal
        if any(map(_holds_nothing, (node.left, *node.comparators))):
            return NOTHING  # `shape == ()` asks for the rank alone
    if OF_NUMPY in values and not any(value.symbolic for value in values):
        return OF_NUMPY
    return combined(values, BOOL)


def _holds_nothing(node: ast.expr) -> bool:
    """Whether an expression is an empty sequence as written: `()`, `tuple()`, `torch.Size([])`."""
    if (
        isinstance(node, ast.Call)
        and torch_name(node.func) in ("tuple", "list", "torch.Size", "Size")
        and not node.keywords
    ):
        return all(map(_holds_nothing, node.args))
    return isinstance(node, (ast.Tuple, ast.List)) and not node.elts


def repeats(node: ast.BinOp, left: Value, right: Value) -> bool:
    """Whether a product is a list or a text that is repeated, which is no number however often that is."""
    written = is_sequence(node.left) or is_sequence(node.right)
    return isinstance(node.op, ast.Mult) and (written or not {left.held, right.held}.isdisjoint(("list", "tuple")))


def power(number: Value, exponent: ast.expr) -> Value:
    """`number`, which a power was taken for: a fraction where the exponent may be below 0."""
    if isinstance(exponent, ast.Constant) or number.real:
        return number
    return number._replace(whole=False) if number.kind != PLAIN else NOTHING
