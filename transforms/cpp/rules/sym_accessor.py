"""Concrete accessors of Tensors become their symbolic twins.

What it does: `t.numel()`, `t.size(d)`, `t.sizes()`, `t.stride(d)`, `t.strides()`, `t.storage_offset()`,
`t.nbytes()` and `t.storage().nbytes()` gain the prefix `sym_`; `at::size(t, d)` becomes `t.sym_size(d)`. Only
receivers that are known to be Tensors are touched, in functions that a symbolic tensor reaches, and only where every
use of the value can follow.

Why: on a tensor with symbolic sizes the concrete accessors throw "Cannot call numel() on tensor with symbolic
sizes/strides" (c10/core/TensorImpl.cpp).

Fix safety: safe. For a tensor with concrete sizes both give the same numbers. In a graph `/` and `%` of symbols round
down, and C++ rounds toward zero: a function that divides a size is for review where an operand may be negative, and
says so. What is seen not to be negative are sizes and counts, what is made of these, and what a check or a branch
before keeps from it: `TORCH_CHECK(k <= n); … (n - k) / 2`.

References: c10/core/TensorImpl.h (sym_sizes, sym_numel), aten/src/ATen/core/TensorBase.h.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import AccessorCall, FreeAccessorCall, Replacement

NAME = "sym-accessor"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EVENTS = (AccessorCall, FreeAccessorCall)
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


def rewrite(event: AccessorCall | FreeAccessorCall) -> Iterator[Replacement]:
    """`t.size(d)` → `t.sym_size(d)`, and `at::size(t, d)` likewise."""
    if isinstance(event, AccessorCall):
        message = f"`{event.receiver}.{event.api}` → `sym_{event.api}`"
        yield Replacement(event.name.start, event.name.end, f"sym_{event.api}", message)
        return
    call, arguments = event.call, event.arguments
    tensor = arguments[0]
    plain = tensor.kind in ("identifier", "call_expression", "field_expression", "subscript_expression")
    after = arguments[1].start if len(arguments) > 1 else tensor.end
    message = f"`{call.excerpt}` → `{tensor.excerpt}.sym_{event.api}(…)`"
    yield Replacement(call.start, tensor.start, "" if plain else "(", message)
    yield Replacement(tensor.end, after, f"{'' if plain else ')'}.sym_{event.api}(", message)
