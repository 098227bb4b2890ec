"""A loop count is not clamped to a size that is not known, where the loop cannot go beyond it.

What it does: `k = k > n ? n.guard_int(__FILE__, __LINE__) : k;` becomes
`k = TORCH_GUARD_OR_FALSE(c10::SymInt(k).sym_gt(n)) ? n.guard_int(__FILE__, __LINE__) : k;`. Behind it `k` only counts
loops, each turn of which narrows a tensor to a length that starts below `n` and becomes smaller.

Why: the clamp needs an answer while tracing, and where a size is unbacked there is none: the operator throws
GuardOnDataDependentSymNode. The loop is unrolled as often as was asked for.

Fix safety: review. Eager and sizes that have a hint go as before. A graph whose sizes are unbacked raises where a size
is below the count, as it narrows to a length below 0 then.

References: c10/core/SymBool.h (TORCH_GUARD_OR_FALSE, TORCH_GUARD_OR_TRUE).
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import ClampedCount, Replacement
from transforms.cpp.flow.sym_bool import compared, replaced

NAME = "clamped-count"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
EVENTS = (ClampedCount,)
_HEAD = "Tensor f(const Tensor& x, int64_t k) { Tensor y = x; const auto n = x.sym_size(0); auto left = n - 1;"
_GUARDED = "n.guard_int(__FILE__, __LINE__)"
_LOOP = "for (const auto i : c10::irange(k)) { y = y.narrow_symint(0, 1, left); left = left - 1; } return y; }"
EXAMPLES = (
    Example(
        f"{_HEAD} k = k > n ? {_GUARDED} : k; {_LOOP}",
        f"{_HEAD} k = TORCH_GUARD_OR_FALSE(c10::SymInt(k).sym_gt(n)) ? {_GUARDED} : k; {_LOOP}",
    ),
    Example(
        f"{_HEAD} k = k > n ? {_GUARDED} : k; for (const auto i : c10::irange(k)) {{ y = y.mul(2); }} return y; }}",
        None,
    ),
)


def rewrite(event: ClampedCount) -> Iterator[Replacement]:
    """Ask a guard for an answer."""
    comparison = event.comparison
    message = f"`{comparison.node.excerpt}` is taken to be {str(event.outcome).lower()} where it is not known"
    yield from replaced(comparison.node, [f"{event.guard}(", *compared(comparison, comparison.operator), ")"], message)
