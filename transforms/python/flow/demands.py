"""Where Python wants a plain number, a hash, or a comparison, which a symbol gives up for: no branch stands there.

What torch refuses so over fake tensors, tests/corpus/corpus_asking.py asks of it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from transforms.python.flow.imported import torch_name
from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.nodes import called, called_as, dotted, is_sequence
from transforms.python.flow.plain_arguments import plain_arguments
from transforms.python.flow.torch_names import CONSTRUCTORS
from transforms.python.flow.values import (
    A_SIZE,
    BOOL,
    FLOAT,
    INT,
    OF_NUMPY,
    PARAMETER,
    PLAIN,
    SEQUENCE,
    SHAPE,
    TENSOR,
    TENSORS,
    TUPLE,
    Value,
    element,
)

_FIRST, _SECOND = (0,), (1,)
_NUMBERS: Mapping[str, Collection[int]] = {
    **dict.fromkeys(("hex", "oct", "bin", "chr", "bytes", "bytearray", "complex"), _FIRST),
    **dict.fromkeys(("operator.index", "operator.truth", "operator.not_"), _FIRST),
    **dict.fromkeys(("enumerate", "itertools.repeat"), _SECOND),
    "itertools.islice": (1, 2, 3),
}
"""The arguments that have to be plain numbers, by what of Python is called."""
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult)
_SINGLE = frozenset({INT, BOOL, PARAMETER})
_TENSORS = frozenset({TENSOR, TENSORS})
_OF_INT = frozenset({"bit_length", "bit_count", "to_bytes", "as_integer_ratio", "__index__"})
LOOKUPS = {"get": 1, "setdefault": 1, "pop": 2}
"""Methods of a dict that hash their first argument, with how many there are at least."""
_HASHES = frozenset({"hash", "dict.fromkeys", "Counter", "collections.Counter"})
_GOING = frozenset({"zip", "enumerate", "reversed", "map", "filter", "list", "tuple", "iter", "sum"})
"""Builtins that go through what they are given."""
_OF_ARRAYS = frozenset({
    "prod", "sum", "max", "min", "amax", "amin", "maximum", "minimum", "ceil", "floor", "trunc", "round", "rint", "abs",
    "sqrt", "square", "log", "log2", "log10", "exp", "exp2", "power", "mod", "remainder", "divide", "true_divide",
    "floor_divide", "multiply", "add", "subtract", "clip", "cumsum", "cumprod", "lcm", "gcd", "array", "asarray",
    "int32", "int64", "float32", "float64", "mean",
})  # fmt: skip
"""Functions of numpy that make a number of a size, and compile again for each (torch/_dynamo/variables/misc.py)."""
_COPYING = frozenset({"as_tensor", "asarray", *CONSTRUCTORS})
"""Functions of torch that read the numbers they are given, as Dynamo traces them; torch.tensor keeps them symbols."""
_NAMES = frozenset(
    {"tensor", "map", "sorted", "sum", "index", "count", *_OF_INT, *LOOKUPS}
    | {full.rpartition(".")[2] for full in (*_NUMBERS, *_HASHES)}
)
"""The last names of all that wants something."""
TRACED = frozenset({"tensor", "map", "enumerate"})
"""Calls whose numbers Dynamo keeps symbols (torch/_dynamo/variables: torch.py, builtin.py)."""


class Demand(NamedTuple):
    """What is wanted, and the size or the truth that it is wanted of: "number", "counting", "hashed", "compared".

    With "turns", the Tensor that is gone through as often as a size says; with "array", what numpy is given; with
    "copied", the function that makes a Tensor of one.
    """

    kind: str
    expression: ast.expr
    value: Value


def demands(node: ast.Call | ast.BinOp | ast.Subscript, values: Interpreter) -> Iterator[Demand]:
    """What a call wants, a product with a list, arithmetic with a truth or an index; nothing where that is no size."""
    if isinstance(node, ast.Subscript):
        yield from _of_indices(node, values)
    elif isinstance(node, ast.BinOp):
        yield from _of_array(node, values)
        if isinstance(node.op, _ARITHMETIC):
            yield from _of_operands(node, values)
    else:
        yield from islice(_of_call(node, values), 1)  # one is enough to name the call


def _of_call(node: ast.Call, values: Interpreter) -> Iterator[Demand]:
    name = called(node)
    if name in _OF_ARRAYS and _is_numpys(node):
        for argument in (each for each in node.args if not _is_numpys(each)):
            value = values.value(argument)
            if value.kind == FLOAT or _holds(value, deep=True):
                yield Demand("array", argument, value)
    if name in _COPYING and len(node.args) == 1 and torch_name(node.func) == f"torch.{name}":
        (content,) = node.args
        value = values.value(content)
        # A torch.Size is no content, nor is what a call unpacks: `torch.Tensor(*sizes)` is of that shape.
        listed = isinstance(content, ast.Tuple) or value.container == "list"
        held = value.kind == FLOAT or _holds(value, deep=True)
        if held and (listed or name not in CONSTRUCTORS) and not isinstance(content, ast.Starred):
            yield Demand("copied", node.func, value)
    if name in _NAMES:
        kind, wanted = _wanted(node, values)
        deep = kind != "number" or name in TRACED
        for expression in wanted:
            if _holds(value := values.value(expression), deep):
                yield Demand(kind, expression, value)
    if isinstance(node.func, ast.Name) and (name := called_as(node, values.variables)) in _GOING:
        tensors = [each for each in node.args if values.surely_tensor(each)]
        if name != "zip" or len(tensors) == len(node.args):  # beside what is no Tensor there are as many as of that
            yield from (Demand("turns", each, A_SIZE) for each in tensors)
    for _, given, several in plain_arguments(node, values):
        if _holds(value := values.value(given), deep=several):
            yield Demand("number", given, value)


def _is_numpys(node: ast.expr) -> bool:
    """Whether an expression is a call of a function of numpy."""
    return isinstance(node, ast.Call) and torch_name(node.func).partition(".")[0] in ("np", "numpy")


def _of_array(node: ast.BinOp, values: Interpreter) -> Iterator[Demand]:
    """What holds something of numpy's, and a size is computed with."""
    for operand, other in ((node.left, node.right), (node.right, node.left)):
        held = isinstance(operand, (ast.Name, ast.Attribute)) and values.value(operand) == OF_NUMPY
        if held and (size := values.value(other)).kind in (INT, FLOAT):
            yield Demand("array", operand, size)


def _of_operands(node: ast.BinOp, values: Interpreter) -> Iterator[Demand]:
    for operand, other in ((node.left, node.right), (node.right, node.left)):
        if is_sequence(operand):
            if isinstance(node.op, ast.Mult) and _holds(values.value(other), deep=False):
                yield Demand("number", other, values.value(other))
        elif isinstance(operand, ast.Compare) and len(operand.ops) == 1:
            truth = values.value(operand)
            if truth.surely_bool and _is_number(other, values):
                yield Demand("counting", operand, truth)


def _of_indices(node: ast.Subscript, values: Interpreter) -> Iterator[Demand]:
    """The size that picks an element of a Tensor, `n` in `x[:, n]`."""
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for index in indices:
        if not isinstance(index, (ast.Slice, ast.Constant)) and (value := values.value(index)).kind in (INT, PARAMETER):
            # What else takes indices beside a slice, `...` or None is numpy's.
            unknown = values.value(node.value).kind in (PLAIN, PARAMETER) and any(map(_is_of_tensors, indices))
            if unknown or values.surely_tensor(node.value):
                yield Demand("number", index, value)
            return


def _is_of_tensors(index: ast.expr) -> bool:
    return isinstance(index, ast.Slice) or (isinstance(index, ast.Constant) and index.value in (None, ...))


def _is_number(node: ast.expr, values: Interpreter) -> bool:
    """Whether an operand is a number: what may be a Tensor gets another dtype from 1 than from True."""
    value = values.value(node)
    plain = isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
    return plain or (value.kind in (INT, FLOAT, BOOL) and value.sure)


def _wanted(node: ast.Call, values: Interpreter) -> tuple[str, list[ast.expr]]:
    """What a call wants, and the expressions that it wants it of where they are sizes."""
    name, full = called_as(node, values.variables), torch_name(node.func)
    arguments = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
    if len(arguments) < len(node.args):
        return "", []
    if full in _NUMBERS:
        return "number", [arguments[index] for index in _NUMBERS[full] if index < len(arguments)]
    if full == "torch.tensor":
        return "number", arguments[:1]
    if full == "map" and len(arguments) == 2 and dotted(arguments[0]) in ("int", "float"):
        return "number", arguments[1:]
    if full in _HASHES:
        return "hashed", arguments[:1]
    if full == "sorted" and len(arguments) == 1 and not node.keywords:
        return "compared", arguments
    if full == "sum" and len(arguments) == 1 and isinstance(arguments[0], (ast.GeneratorExp, ast.ListComp)):
        truth = values.value(arguments[0].elt)
        return ("compared", [arguments[0].elt]) if truth.kind == BOOL else ("", [])
    if not isinstance(node.func, ast.Attribute):
        return "", []
    receiver = values.value(node.func.value)
    if name in _OF_INT:
        return "number", [node.func.value] if receiver.kind == INT else []
    if name in LOOKUPS and len(arguments) >= LOOKUPS[name] and receiver.kind not in _TENSORS:
        return "hashed", arguments[:1]
    if name in ("index", "count") and len(arguments) == 1 and receiver.kind not in _TENSORS:
        return "compared", [*arguments, node.func.value]
    return "", []


def _holds(value: Value, deep: bool) -> bool:
    """Whether a value is, or may be, a size or a truth of sizes, or with `deep` a shape or a sequence of some."""
    if value.kind in _SINGLE or not deep:
        return value.kind in _SINGLE
    if value.kind == SEQUENCE:
        return _holds(element(value), deep)
    return value.kind == SHAPE or (value.kind == TUPLE and any(_holds(item, deep) for item in value.items))
