"""Calls of ATen's operators in a kernel, which a fake makes as well: `x.unsqueeze(0)`, `at::cat({x, y}, 1)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from transforms.cpp.coverage.values import Kind, Value, joined
from transforms.cpp.reading.tree import Node
from transforms.schema.schema import Argument, Schema

_FUNCTION = re.compile(r"(?:at|torch)::(?:native::|(stable::))?([a-z]\w*)$")
_NULL = re.compile(r"(?:std|c10|at)::nullopt$")
_LIST = re.compile(r"(?:Sym)?[Ii]nt\[\d*\]$")
_LIST_OF_ANY = re.compile(r"(?:Sym)?[Ii]nt\[1?\]$")
"""Lists that one number is taken for."""
_FITTING = {
    "Tensor": ("tensor",), "int": ("int",), "SymInt": ("int",), "bool": ("bool",), "float": ("float", "int"),
    "Scalar": ("int", "float"), "ScalarType": ("dtype",), "MemoryFormat": ("format",), "Tensor[]": ("tensors",),
    "Device": ("device",),
}  # fmt: skip
"""What fits the types of a schema."""
_RETURNED: dict[str, Kind] = {"Tensor": "tensor", "ScalarType": "dtype"}
"""What is followed of what operators return."""
_NO_METHOD = frozenset({"slice", "alias", "data"})
"""Methods of C++ that Python's Tensor has not, or has as something else."""
_OF_TORCH = frozenset({"cat", "stack"})
"""Functions whose first argument is a list, by the name that everybody uses."""


class _Fitting(NamedTuple):
    """The arguments of an overload that takes them, as Python passes them."""

    texts: list[str]
    fresh: bool
    """Whether the result is a tensor of its own, or a view of such."""
    kind: Kind


class Operators:
    """Translates calls of the operators in `schemas`, by name; `value` translates their arguments."""

    def __init__(self, schemas: Mapping[str, Sequence[Schema]], value: Callable[[Node], Value]) -> None:
        self._schemas = schemas
        self._value = value

    def function(self, name: str, arguments: Sequence[Node]) -> Value | None:
        """A call of a free function that makes one tensor, or a dtype, None where it is none of those."""
        match = _FUNCTION.match(name)
        if match is None:
            return None
        values = [self._argument(argument) for argument in arguments]
        stable, base = match.groups()
        fitting = next(self._fitting(base, values, stable is not None), None)
        if fitting is None:
            return None
        is_dtype = fitting.kind == "dtype"
        callee = f"torch.{base}" if base in _OF_TORCH or is_dtype else f"torch.ops.aten.{base}"
        text = f"{callee}({', '.join(fitting.texts)})"
        return Value(fitting.kind, text, joined(*values), settled=is_dtype, fresh=fitting.fresh)

    def method(self, tensor: Value, name: str, arguments: Sequence[Node]) -> Value | None:
        """A call of a method that makes one tensor, or of one that changes the tensor in place and ends with `_`."""
        if name not in self._schemas:
            return None
        values = [tensor, *(self._argument(argument) for argument in arguments)]
        fitting = next(self._fitting(name, values), None)
        if fitting is None or fitting.kind != "tensor":
            return None
        text = f"{tensor.operand}.{name}({', '.join(fitting.texts[1:])})"
        if name in _NO_METHOD or name.startswith("_"):
            text = f"torch.ops.aten.{name}({', '.join(fitting.texts)})"
        return Value("tensor", text, joined(*values), fresh=fitting.fresh)

    def _argument(self, node: Node) -> Value:
        return Value("other", "None", optional=True) if is_null(node) else self._value(node)

    def _fitting(self, name: str, values: Sequence[Value], by_place: bool = False) -> Iterator[_Fitting]:
        """The arguments as Python passes them, for each overload that takes them; keywords `by_place` as well."""
        for schema in self._schemas.get(name, ()):
            kinds = [_RETURNED.get(result.plain_type) for result in schema.returns]
            kind = kinds[0] if len(kinds) == 1 else None
            if kind is None or schema.outputs:
                continue
            if any(argument.written for argument in schema.arguments) is not name.endswith("_"):
                continue
            texts = _passed(schema.arguments, values, by_place)
            if texts is not None:
                fresh = not any(result.annotation for result in schema.returns)
                own = fresh or all(value.fresh for value in values if value.kind == "tensor")
                yield _Fitting(texts, own, kind)


def is_null(node: Node) -> bool:
    """Whether an argument is nothing: `std::nullopt`."""
    return _NULL.match(node.text) is not None


def _passed(arguments: Sequence[Argument], values: Sequence[Value], by_place: bool) -> list[str] | None:
    """`values` as they are passed for `arguments`, None where they do not fit.

    The functions of torch::stable take all by its place (torch/csrc/stable/ops.h), those of ATen one TensorOptions.
    """
    with_options = not by_place and any(a.kwarg_only and a.name == "layout" for a in arguments)
    if len(values) > len(arguments) or with_options:
        return None
    if any(not argument.default for argument in arguments[len(values) :]):
        return None
    texts = []
    for argument, value in zip(arguments, values, strict=False):
        text = _as(argument.plain_type, value)
        if text is None:
            return None
        if not argument.kwarg_only or text != "None":
            texts.append(f"{argument.name}={text}" if argument.kwarg_only else text)
    return texts


def _as(kind: str, value: Value) -> str | None:
    plain = kind.removesuffix("?")
    if value.optional and not kind.endswith("?"):
        return None
    if value.text == "None":
        return value.text
    if _LIST.match(plain) and value.kind == "ints":
        return value.text
    if _LIST_OF_ANY.match(plain) and value.kind == "int":
        return f"({value.text},)"
    return value.text if value.kind in _FITTING.get(plain, ()) else None
