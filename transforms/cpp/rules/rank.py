"""`x.sizes().size()` asks for the rank: `x.dim()`.

What it does: `x.sizes().size()` becomes `x.dim()` and `x.sizes().empty()` becomes `x.dim() == 0`, where the value
becomes a signed integer at once. Elsewhere (a `size_t` is deduced or compared) `sym_sizes().size()` keeps its type.

Why: the rank is never symbolic, but `sizes()` throws before `size()` is asked.

Fix safety: safe. `dim()` is the length of `sizes()`; the change of sign cannot be seen where an int64_t is wanted.

References: c10/core/TensorImpl.h (dim).
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import RankQuery, Replacement

NAME = "rank"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EVENTS = (RankQuery,)
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


def rewrite(event: RankQuery) -> Iterator[Replacement]:
    """Replace `sizes().size()` / `sizes().empty()`; a `!` before the latter is folded in."""
    suffix = "dim()" if event.member == "size" else "dim() == 0"
    outer = event.invoked.parent
    if event.member == "empty" and outer is not None and outer.kind == "unary_expression" and outer.token == "!":
        suffix = "dim() != 0"
        yield Replacement(outer.start, event.invoked.start, "", f"the rank: `{suffix}`")
    yield Replacement(event.accessor.start, event.invoked.end, suffix, f"the rank: `{suffix}`")
