"""A branch that only picks the order of matrix products is not asked where a size is not known.

What it does: `if (cost > other) { return at::mm(a, at::mm(b, c)); } else { return at::mm(at::mm(a, b), c); }` becomes
`if (TORCH_GUARD_OR_FALSE(cost.sym_gt(other))) …`, where both paths multiply the same matrices from left to right.

Why: the branch needs an answer while tracing, and where a size is unbacked there is none: the operator throws
GuardOnDataDependentSymNode, though either order gives the product.

Fix safety: review. Eager and sizes that have a hint go as before. A graph whose sizes are unbacked multiplies in the
order of the second path: it may take longer, and its results differ as far as rounding does.

References: c10/core/SymBool.h (TORCH_GUARD_OR_FALSE).
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import ChosenOrder, Replacement
from transforms.cpp.flow.sym_bool import compared, replaced

NAME = "product-order"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
EVENTS = (ChosenOrder,)
_HEAD = "Tensor f(const Tensor& a, const Tensor& b, const Tensor& c) {"
_PATHS = "{ return at::mm(a, at::mm(b, c)); } return at::mm(at::mm(a, b), c); }"
EXAMPLES = (
    Example(
        f"{_HEAD} if (a.sym_size(0) > c.sym_size(1)) {_PATHS}",
        f"{_HEAD} if (TORCH_GUARD_OR_FALSE(a.sym_size(0).sym_gt(c.sym_size(1)))) {_PATHS}",
    ),
    Example(
        f"{_HEAD} if (a.sym_size(0) > c.sym_size(1)) {{ return at::mm(at::mm(c, b), a); }} "
        "return at::mm(at::mm(a, b), c); }",
        None,
    ),
)


def rewrite(event: ChosenOrder) -> Iterator[Replacement]:
    """Ask a guard for an answer to the comparison."""
    comparison = event.comparison
    message = f"`{comparison.node.excerpt}` is taken to be false where it is not known: either order will do"
    yield from replaced(comparison.node, [f"{event.guard}(", *compared(comparison, comparison.operator), ")"], message)
