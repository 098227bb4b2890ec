"""Which arguments of torch's functions and methods are plain numbers, where a size that is given becomes a constant.

They are read from the schemas of the newest release that symfix has: what is `int` there is in older ones too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from transforms.python.flow.imported import torch_name
from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.nodes import called
from transforms.python.flow.torch_names import COUNTED
from transforms.releases.data import base_name, releases, rows
from transforms.schema.schema import Argument, Schema, parse_schema

_PLAIN = re.compile(r"int(?:\[\d*\])?\??")
_SOME_PLAIN = re.compile(r"[(,] ?int\b")
_SPACES = {
    **dict.fromkeys(("torch", "F", "nn.functional", "torch.nn.functional", "torch.ops.aten", "aten"), ""),
    **{f"torch.{space}": f"{space}_" for space in ("fft", "linalg", "special")},
}
"""What stands before the name of an operator's function in Python, and before that of the operator."""
_NO_SIZE = re.compile(r"dim|axis|^(?:source|destination)$")
"""Arguments that number dimensions, which no size does: what seems to be one is a number of who knows what."""
_OF_PYTHON = frozenset({"requires_grad", "out"})
"""What Python's functions take beside the arguments of the schema."""


class Plain(NamedTuple):
    """An argument that is a plain number, or with `several` a list of some, and what is given for it."""

    name: str
    given: ast.expr
    several: bool


def plain_arguments(node: ast.Call, values: Interpreter) -> Iterator[Plain]:
    """What a call of torch gives for arguments that are plain numbers in each overload that takes the call."""
    operator, method = _operator(node, values)
    if not operator or not (node.args or node.keywords) or operator not in _written():
        return
    if any(isinstance(given, ast.Starred) for given in node.args) or any(word.arg is None for word in node.keywords):
        return
    bound = [each for schema in _schemas(operator) if (each := _bound(node, schema, method)) is not None]
    for place in range(len(node.args) + len(node.keywords)):
        arguments = [each[place] for each in bound]
        if arguments and all(argument and _is_plain(argument) for argument in arguments):
            given = node.args[place] if place < len(node.args) else node.keywords[place - len(node.args)].value
            several = any("[" in argument.type for argument in arguments if argument)
            yield Plain(arguments[0].name if arguments[0] else "", given, several)


def _is_plain(argument: Argument) -> bool:
    return _PLAIN.fullmatch(argument.type) is not None and _NO_SIZE.search(argument.name) is None


def _operator(node: ast.Call, values: Interpreter) -> tuple[str, bool]:
    """The name of the operator that a call of torch's, or of a Tensor's method, means, and which; "" for others.

    How many Tensors there are, `chunk` and its kin are asked by themselves; what is sparse no trace holds in any size.
    """
    name = called(node)
    if name in COUNTED or "sparse" in name:
        return "", False
    space, _, function = torch_name(node.func).rpartition(".")
    if space in _SPACES and space.partition(".")[0] not in values.variables:
        return _SPACES[space] + function, False
    method = isinstance(node.func, ast.Attribute) and values.surely_tensor(node.func.value)
    return (name, True) if method else ("", False)


def takes_size(operator: str, argument: int | str) -> bool:
    """Whether an operator of ATen takes a symbolic size, or some, as its argument of that place or name."""
    takes = [
        each
        for schema in (_schemas(operator) if operator in _every() else ())
        for place, each in enumerate(schema.arguments)
        if argument in (place, each.name)
    ]
    return any("SymInt" in each.type for each in takes) and not any(map(_is_plain, takes))


@cache
def _every() -> dict[str, list[str]]:
    """The schemas of all operators, by their names."""
    every: dict[str, list[str]] = {}
    for row in rows("operators", releases()[-1]):
        schema = row.partition("\t")[0]
        every.setdefault(base_name(schema), []).append(schema)
    return every


@cache
def _written() -> frozenset[str]:
    """The operators of which an overload has a plain number."""
    return frozenset(name for name, schemas in _every().items() if any(map(_SOME_PLAIN.search, schemas)))


@cache
def _schemas(operator: str) -> tuple[Schema, ...]:
    parsed = map(parse_schema, _every()[operator])
    return tuple(schema for schema in parsed if not schema.outputs)


def _bound(node: ast.Call, schema: Schema, method: bool) -> Sequence[Argument | None] | None:
    """The argument of the schema that each argument of a call is given for; None where it does not take the call."""
    arguments = schema.arguments
    if method:
        if not arguments or arguments[0].plain_type != "Tensor":
            return None
        arguments = arguments[1:]
    by_place = [argument for argument in arguments if not argument.kwarg_only]
    by_name = {argument.name: argument for argument in arguments}
    if "self" in by_name:
        by_name.setdefault("input", by_name["self"])
    given: list[Argument | None] = [*by_place[: len(node.args)]]
    if len(given) < len(node.args):
        return None
    for word in node.keywords:
        argument = by_name.get(word.arg or "")
        if (argument is None and word.arg not in _OF_PYTHON) or (argument is not None and argument in given):
            return None
        given.append(argument)
    missing = any(not argument.default and argument not in given for argument in arguments)
    return None if missing else given
