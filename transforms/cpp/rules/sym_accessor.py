"""Concrete accessors of Tensors become their symbolic twins.

What it does: `t.numel()`, `t.size(d)`, `t.sizes()`, `t.stride(d)`, `t.strides()`, `t.storage_offset()` and
`t.nbytes()` gain the prefix `sym_`; `at::size(t, d)` becomes `t.sym_size(d)`. Only receivers that are known to be
Tensors are touched, in functions that a symbolic tensor reaches, and only where every use of the value can follow.

Why: on a tensor with symbolic sizes the concrete accessors throw "Cannot call numel() on tensor with symbolic
sizes/strides" (c10/core/TensorImpl.cpp).

Fix safety: safe. For a tensor with concrete sizes both give the same numbers.

References: c10/core/TensorImpl.h (sym_sizes, sym_numel), aten/src/ATen/core/TensorBase.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example

if TYPE_CHECKING:
    from transforms.cpp.flow.engine import Flow
    from transforms.cpp.reading.tree import Node

NAME = "sym-accessor"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { return x.reshape({x.size(0), x.numel() / x.size(0)}); }",
        "Tensor f(const Tensor& x) { return x.reshape_symint({x.sym_size(0), x.sym_numel() / x.sym_size(0)}); }",
    ),
    Example(
        "Tensor f(const Tensor& x) { TORCH_CHECK(at::size(x, 0) == 2); return x; }",
        "Tensor f(const Tensor& x) { TORCH_CHECK(x.sym_size(0) == 2); return x; }",
    ),
    Example(
        "Tensor f(const Tensor& x) { auto d = x.sizes().size(); return d > 1 ? x : x.reshape({1}); }",
        "Tensor f(const Tensor& x) { auto d = x.sym_sizes().size(); return d > 1 ? x : x.reshape({1}); }",
        "a deduced size_t stays one",
    ),
    Example(
        "int64_t f(const std::vector<int64_t>& x) { return x.size(); }",
        None,
        "a vector is no Tensor",
    ),
)


def rewrite(flow: Flow, name: Node, api: str, receiver: str, origins: frozenset[int] | None) -> None:
    """Prefix the accessor's name."""
    flow.emit(NAME, name.start, name.end, f"sym_{api}", origins, f"`{receiver}.{api}` → `sym_{api}`")


def rewrite_free(flow: Flow, call: Node, arguments: list[Node], api: str, origins: frozenset[int] | None) -> None:
    """`at::size(t, d)` → `t.sym_size(d)`."""
    tensor = arguments[0]
    plain = tensor.kind in ("identifier", "call_expression", "field_expression", "subscript_expression")
    after = arguments[1].start if len(arguments) > 1 else tensor.end
    message = f"`{call.text}` → `{tensor.text}.sym_{api}(…)`"
    flow.emit(NAME, call.start, tensor.start, "" if plain else "(", origins, message)
    flow.emit(NAME, tensor.end, after, f"{'' if plain else ')'}.sym_{api}(", origins, message)
