"""A size that a condition only changes by a number is computed without an answer.

What it does: `n > i ? m + 1 : m` becomes `n.sym_gt(i).toSymInt() + m`, where the version has `toSymInt`.

Why: `?:` needs an answer while tracing, and where a size is unbacked there is none: the operator throws
GuardOnDataDependentSymNode, though both outcomes are sizes that can be computed. `toSymInt` is 1 or 0.

Fix safety: review. For integers it is the same number. For sizes that have a hint the graph has the sum in the place of
a guard: it serves more sizes.

References: c10/core/SymBool.h (toSymInt).
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import ChosenSize, Replacement
from transforms.cpp.flow.sym_bool import OPPOSITE, compared, replaced

NAME = "chosen-size"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
EVENTS = (ChosenSize,)
_HEAD = "Tensor f(const Tensor& x, int64_t k) { const auto n = x.sym_size(0);"
EXAMPLES = (
    Example(
        f"{_HEAD} return x.narrow_symint(0, 0, n % 2 > k ? n - 1 : n); }}",
        f"{_HEAD} return x.narrow_symint(0, 0, (n % 2).sym_gt(k).toSymInt() * -1 + n); }}",
    ),
    Example(
        f"{_HEAD} return x.narrow_symint(0, 0, (n == k) ? n : (n + 1)); }}",
        f"{_HEAD} return x.narrow_symint(0, 0, n.sym_ne(k).toSymInt() + n); }}",
    ),
    Example(f"{_HEAD} return x.narrow_symint(0, 0, n > k ? n / 2 : n); }}", None),
    Example(f"{_HEAD} return x.narrow_symint(0, 0, k > 2 ? n + 1 : n); }}", None),
)


def rewrite(event: ChosenSize) -> Iterator[Replacement]:
    """Add the number as often as the comparison holds."""
    comparison = event.comparison
    operator = OPPOSITE[comparison.operator] if event.backward else comparison.operator
    times = "" if event.amount == "1" else f" * {event.amount}"
    parts = [*compared(comparison, operator), f".toSymInt(){times} + ", event.base]
    yield from replaced(event.choice, parts, f"`{event.choice.excerpt}` without an answer")
