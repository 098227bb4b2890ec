"""A loop over a size is asked for it by a guard, where all else of its function converts.

What it does: `const auto k = x.size(0); … for (const auto i : c10::irange(k)) …` becomes
`const auto k = x.sym_size(0).guard_int(__FILE__, __LINE__); …`. So does the size that an integer parameter is clamped
to, in `n = n > x.size(0) ? x.size(0) : n;`.

Why: the loop is unrolled into the traced graph, so the graph is made for this count in any case; `x.size(0)` throws
instead, and everything else in the function that follows symbols would be of no use.

Fix safety: review. One graph is compiled for each count, and an unbacked size cannot be guarded. Where nothing else of
the function converts, the loop is reported and left: it has to be written without a loop.

References: c10/core/SymInt.h (`guard_int`); torch/csrc/autograd/FunctionsManual.cpp (`householder_product_backward`).
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import LoopCount, Replacement

NAME = "loop-guard"
MODE = Mode.LEAK
LEVEL = Level.REVIEW
EVENTS = (LoopCount,)
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { Tensor y = x.expand(x.sizes()); for (const auto i : c10::irange(x.size(0)))"
        " y = y.narrow(0, i, 1); return y; }",
        "Tensor f(const Tensor& x) { Tensor y = x.expand_symint(x.sym_sizes());"
        " for (const auto i : c10::irange(x.sym_size(0).guard_int(__FILE__, __LINE__)))"
        " y = y.narrow(0, i, 1); return y; }",
    ),
    Example(
        "Tensor f(const Tensor& x, int64_t n) { n = n > x.size(0) ? x.size(0) : n; return x.narrow(0, 0, n); }",
        "Tensor f(const Tensor& x, int64_t n) {"
        " n = n > x.sym_size(0) ? x.sym_size(0).guard_int(__FILE__, __LINE__) : n; return x.narrow(0, 0, n); }",
    ),
    Example(
        "Tensor f(const Tensor& x, Tensor y) { for (int64_t i = 0; i < x.size(0); i++) y.add_(1); return y; }", None
    ),
)


def rewrite(event: LoopCount) -> Iterator[Replacement]:
    """Ask the size for its value behind the accessor."""
    end = event.value.end
    yield Replacement(end, end, ".guard_int(__FILE__, __LINE__)", f"`{event.value.excerpt}` counts a loop: guard on it")
