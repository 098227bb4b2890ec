"""The types of C++ that a fake follows: what is declared so, or cast to it, is in Python what it was made of."""

from __future__ import annotations

import re
from dataclasses import replace

from transforms.cpp.coverage.values import Kind, Value

_QUALIFIER = re.compile(r"\b(?:const|constexpr|static|typename)\b|&")
_NAMESPACE = re.compile(r"(?<![\w:])(?:::)?(?:torch::(?:autograd|stable|headeronly)|torch|at|c10|caffe2|std)::")
_AROUND = re.compile(r"\s*([<>,])\s*")
_CONSTANT = re.compile(r"const\b[^*]*$|[^*]*\bconst\s*&?$")
_OPTIONAL = re.compile(r"optional<(.+)>$")
_SIGNED = frozenset({
    "int", "long", "long int", "long long", "long long int", "int32_t", "int64_t", "ptrdiff_t", "ssize_t", "SymInt",
    "IntArrayRef::value_type",
})  # fmt: skip
"""Integers of 32 bits or more: what is smaller cuts sizes off."""
_UNSIGNED = frozenset({
    "unsigned", "unsigned int", "unsigned long", "unsigned long long", "size_t", "uint32_t", "uint64_t",
})  # fmt: skip
_INTS = re.compile(
    r"(?:Sym)?IntArrayRef$|IntHeaderOnlyArrayRef$|IntList$|(?:Sym)?DimVector$|"
    rf"(?:vector|(?:HeaderOnly)?ArrayRef|SmallVector|initializer_list)<(?:{'|'.join(sorted(_SIGNED))})(?:,\d+)?>$"
)
_NAMES: dict[Kind, tuple[str, ...]] = {
    "tensor": ("Tensor", "Variable"),
    "tensors": ("vector<Tensor>", "vector<Variable>", "variable_list", "ArrayRef<Tensor>", "TensorList",
                "ITensorListRef", "initializer_list<Tensor>"),
    "bool": ("bool", "Scalar"), "float": ("double", "float", "Scalar"),
    "dtype": ("ScalarType", "Dtype", "TypeMeta", "TensorOptions"),
    "device": ("Device", "DeviceType", "TensorOptions"), "format": ("MemoryFormat",), "options": ("TensorOptions",),
}  # fmt: skip


def fits(declared: str, value: Value) -> bool:
    """Whether what is declared so holds just what it is given: `double` would divide otherwise, `bool` holds no 2."""
    plain = _plain(declared)
    optional = _OPTIONAL.match(plain)
    if optional is not None:  # of a number, `if` asks whether it is there
        return (value.optional or value.kind == "tensor") and fits(optional[1], replace(value, optional=False))
    if value.kind == "int":
        return plain in ("auto", "Scalar") or keeps_number(plain, value)
    if value.kind == "ints" and _INTS.match(plain):
        return True
    return plain == "auto" or plain in _NAMES.get(value.kind, ())


def keeps_number(declared: str, number: Value) -> bool:
    """Whether an integer type has the number as it is: an unsigned one has none that is negative."""
    plain = _plain(declared)
    return plain in _SIGNED or (plain in _UNSIGNED and number.natural)


def is_integer(declared: str) -> bool:
    """Whether a type is one of the integers that are followed."""
    return _plain(declared) in _SIGNED | _UNSIGNED


def is_constant(declared: str) -> bool:
    """Whether what is declared so cannot be given another value."""
    return _CONSTANT.match(declared) is not None


def takes_one(declared: str) -> bool:
    """Whether what is declared so with `{value}` is that value, and no list of it."""
    named = (names for kind, names in _NAMES.items() if kind not in ("tensors", "options"))
    return is_integer(declared) or any(_plain(declared) in names for names in named)


def _plain(declared: str) -> str:
    """A type without qualifiers and the namespaces of torch and the standard library."""
    text = _NAMESPACE.sub("", _QUALIFIER.sub(" ", declared))
    return " ".join(_AROUND.sub(r"\1", text).split())
