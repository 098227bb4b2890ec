"""Which of several C++ functions of one name is the kernel of a schema: told by the types of their parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from transforms.cpp.reading.facts import Function
from transforms.schema.schema import Argument, Schema

# How torchgen/api/cpp.py and native.py write the types of a schema's arguments.
_WRITTEN = {
    "Tensor": re.compile(r"\b(?:I|Sparse)?Tensor(?:List|ListRef)?\b"),
    "Scalar": re.compile(r"\bScalar\b"),
    "int": re.compile(r"\bint64_t\b|\bSymInt|\bOptional(?:Sym)?IntArrayRef\b|\bInt(?:ArrayRef|List)\b"),
    "float": re.compile(r"\bdouble\b"),
    "bool": re.compile(r"\bbool\b"),
    "str": re.compile(r"\bstring"),
    "Dimname": re.compile(r"\bDimname"),
    "ScalarType": re.compile(r"\bScalarType\b"),
    "Generator": re.compile(r"\bGenerator\b"),
}
_LIST = re.compile(r"ArrayRef\b|List(?:Ref)?\b|\bvector\b|\barray\b")
_OPTIONAL = re.compile(r"\b[oO]ptional")


def kernels_of(schema: Schema, functions: Sequence[Function]) -> list[Function]:
    """Those of `functions`, all of the kernel's name, whose parameters are nearest to the arguments of `schema`."""
    alike = [f for f in functions if len(f.params) == len(schema.arguments)] or functions
    differences = [_differences(function, schema) for function in alike]
    least = min(differences, default=0)
    return [function for function, count in zip(alike, differences, strict=True) if count == least]


def _differences(function: Function, schema: Schema) -> int:
    """How many parameters are of another type than the schema's arguments."""
    pairs = zip(function.params, schema.arguments, strict=False)
    return sum(not _is(param.type, argument) for param, argument in pairs)


def _is(written: str, argument: Argument) -> bool:
    """Whether a C++ type is one of the argument's; of a kind of argument that is not known here, any is."""
    plain = argument.plain_type
    kind = _WRITTEN.get(plain.rstrip("?").partition("[")[0].rstrip("?").replace("SymInt", "int"))
    return kind is None or (
        kind.search(written) is not None
        and ("[" in plain) == (_LIST.search(written) is not None)
        and ("?" in plain) == (_OPTIONAL.search(written) is not None)
    )
