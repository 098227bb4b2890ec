"""`x.sizes().size()` asks for the rank: `x.dim()`.

What it does: `x.sizes().size()` becomes `x.dim()` and `x.sizes().empty()` becomes `x.dim() == 0`, where the value
becomes a signed integer at once. Elsewhere (a `size_t` is deduced or compared) `sym_sizes().size()` keeps its type.

Why: the rank is never symbolic, but `sizes()` throws before `size()` is asked.

Fix safety: safe. `dim()` is the length of `sizes()`; the change of sign cannot be seen where an int64_t is wanted.

References: c10/core/TensorImpl.h (dim).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example

if TYPE_CHECKING:
    from transforms.cpp.flow.engine import Flow
    from transforms.cpp.reading.tree import Node

NAME = "rank"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { int64_t d = x.sizes().size(); return x.sum(d - 1); }",
        "Tensor f(const Tensor& x) { int64_t d = x.dim(); return x.sum(d - 1); }",
    ),
    Example(
        "Tensor f(const Tensor& x) { if (!x.sizes().empty()) { return x; } return x.reshape({1}); }",
        "Tensor f(const Tensor& x) { if (x.dim() != 0) { return x; } return x.reshape({1}); }",
    ),
)


def rewrite(flow: Flow, accessor: Node, invoked: Node, asked: str) -> None:
    """Replace `sizes().size()` / `sizes().empty()`; a `!` before the latter is folded in."""
    origins = frozenset({accessor.start})
    suffix = "dim()" if asked == "size" else "dim() == 0"
    outer = invoked.parent
    if asked == "empty" and outer is not None and outer.kind == "unary_expression" and outer.token == "!":
        suffix = "dim() != 0"
        flow.emit(NAME, outer.start, invoked.start, "", origins, f"the rank: `{suffix}`")
    flow.emit(NAME, accessor.start, invoked.end, suffix, origins, f"the rank: `{suffix}`")
