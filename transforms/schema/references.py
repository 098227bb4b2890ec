"""What Python registers for ATen's operators, and which of these are left without a kernel for symbolic sizes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from transforms.schema.native_functions import NativeFunction

FOLDERS = ("torch/_decomp/", "torch/_refs/", "torch/_meta_registrations.py", "torch/_subclasses/")
"""Where PyTorch's own tables are filled (torch/_decomp/__init__.py, torch/_meta_registrations.py, fake_impls.py)."""
_TABLES = ("register_decomposition", "register_meta", "register_op_impl")
_LAYOUTS = re.compile(r"^(?:Nested|Quantized|Mkldnn)")
"""The keys of tensors that have no symbolic sizes."""
_BACKENDS = re.compile(r"^(?:CPU|CUDA|MPS|XPU|HPU|MTIA|Mkldnn|Sparse|Quantized|NestedTensor|Vulkan|IPU|VE)")
_MENTIONED = re.compile(rb"\baten(?:\.|::)(\w+)")
_OPERATOR = re.compile(r"(?:^|\.)aten\.(\w+)(?:\.\w+)?$")


def load(path: str, source: bytes) -> frozenset[str]:
    """The base names of the operators that the Python file registers a function for; none where it cannot be parsed."""
    if not any(word.encode() in source for word in _TABLES):
        return frozenset()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(base for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for base in _registered(node))


def mentions(path: str, source: bytes) -> frozenset[str]:
    """The base names of the operators that the Python file writes as `aten.name` or `aten::name`."""
    return frozenset(name.decode() for name in _MENTIONED.findall(source))


def _registered(function: ast.FunctionDef) -> Iterator[str]:
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).rpartition(".")[2] in _TABLES:
            for written in decorator.args[:1]:
                operators = written.elts if isinstance(written, ast.List | ast.Tuple) else [written]
                matches = (_OPERATOR.search(ast.unparse(operator)) for operator in operators)
                yield from (match[1] for match in matches if match is not None)


def readers(registered: Iterable[str], entries: Iterable[NativeFunction]) -> frozenset[str]:
    """The base names of the operators that answer yes or no by reading memory, which no fake tensor has.

    FakeTensor raises DataDependentOutputException for the tag (torch/_subclasses/fake_impls.py); numbers that are read
    become unbacked symbols.
    """
    tagged = (
        entry.schema.base
        for entry in entries
        if "data_dependent_output" in entry.tags and [kind.type for kind in entry.schema.returns] == ["bool"]
    )
    return frozenset(tagged) - frozenset(registered)


def unserved(registered: Iterable[str], entries: Iterable[NativeFunction]) -> frozenset[str]:
    """The base names of the operators that have kernels for backends, and nothing for tensors with symbolic sizes.

    Operators that anybody may call get what they lack, in Python or in a library; so they are only meant where they
    take nested, quantized or MKL-DNN tensors alone, or return nothing: kernels that write into what they are given.
    """
    entries = list(entries)
    public = {
        entry.schema.base
        for entry in entries
        if entry.schema.returns and not all(_LAYOUTS.match(key) for key, _ in entry.dispatch)
    }
    return untraceable(registered, entries) - public


def internal(operators: Iterable[str]) -> frozenset[str]:
    """Those of `operators` that only PyTorch itself calls, by their names."""
    return frozenset(name for name in operators if name.startswith("_") and not name.startswith("__"))


def untraceable(elsewhere: Iterable[str], entries: Iterable[NativeFunction]) -> frozenset[str]:
    """The base names of the operators that have kernels for backends alone, and are none of those `elsewhere`."""
    kernels: dict[str, bool] = {}
    for entry in entries:
        keys = [key for key, _ in entry.dispatch]
        backends = bool(keys) and all(_BACKENDS.match(key) and not key.endswith("Meta") for key in keys)
        kernel = backends and not entry.structured and not entry.structured_delegate
        kernels[entry.schema.base] = kernels.get(entry.schema.base, True) and kernel
    return frozenset(base for base, kernel in kernels.items() if kernel) - frozenset(elsewhere)
