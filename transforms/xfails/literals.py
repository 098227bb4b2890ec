"""The values of literals in test registries, read and never evaluated."""

from __future__ import annotations

import ast

from transforms.python.flow.nodes import dotted

# The abbreviations of torch/utils/_dtype_abbrs.py and of test_torchinductor_opinfo.py, and torch's older names.
DTYPES = {
    "b8": "bool", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64",
    "c32": "complex32", "c64": "complex64", "c128": "complex128",
    "half": "float16", "float": "float32", "double": "float64", "cfloat": "complex64", "cdouble": "complex128",
    "short": "int16", "int": "int32", "long": "int64", "chalf": "complex32",
}  # fmt: skip


def text(node: ast.expr | None) -> str:
    """The value of a string literal, "" for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument, None where it is not given."""
    return next((argument.value for argument in call.keywords if argument.arg == name), None)


def elements(node: ast.expr | None) -> list[ast.expr]:
    """The elements of a literal collection; a single value counts as its own only element; none of None."""
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return []
    return list(node.elts) if isinstance(node, (ast.Set, ast.List, ast.Tuple)) else [node]


def devices_of(node: ast.expr | None) -> tuple[str, ...]:
    """The devices that a literal lists, as written; a name in it stands for itself."""
    return tuple(text(element) or dotted(element) or "?" for element in elements(node))


def dtypes_of(node: ast.expr | None) -> tuple[str, ...]:
    """The dtypes that a literal lists, by torch's own names; "?" for what is computed."""
    names = (dotted(element).removeprefix("torch.") or "?" for element in elements(node))
    return tuple(DTYPES.get(name, name) for name in names)
