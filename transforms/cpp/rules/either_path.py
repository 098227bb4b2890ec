"""A branch on sizes either path of which will do is not asked where a size is not known.

What it does: `if (cost > other) { return at::mm(a, at::mm(b, c)); } else { return at::mm(at::mm(a, b), c); }` becomes
`if (TORCH_GUARD_OR_FALSE(cost.sym_gt(other))) …`, where both paths multiply the same matrices from left to right. The
same where a size above or below a number picks which of two functions is given the same arguments.

Why: the branch needs an answer while tracing, and where a size is unbacked there is none: the operator throws
GuardOnDataDependentSymNode, though either path gives the result.

Fix safety: review. Eager and sizes that have a hint go as before. A graph whose sizes are unbacked takes the path of a
comparison that does not hold: it may take longer, and its results differ as far as rounding does. Of two functions a
person has to say that they compute the same.

References: c10/core/SymBool.h (TORCH_GUARD_OR_FALSE).
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import EitherPath, Replacement
from transforms.cpp.flow.sym_bool import compared, replaced

NAME = "either-path"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
EVENTS = (EitherPath,)
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
    Example(
        f"{_HEAD} if (a.dim() == 2 && a.sym_size(0) > 25) {{ return pairs(a, b); }} return at::distances(a, b); }}",
        f"{_HEAD} if (a.dim() == 2 && TORCH_GUARD_OR_FALSE(a.sym_size(0).sym_gt(25))) {{ return pairs(a, b); }} "
        "return at::distances(a, b); }",
    ),
    Example(f"{_HEAD} if (a.sym_size(0) > 25) {{ return pairs(a, b); }} return at::distances(a, c); }}", None),
)


def rewrite(event: EitherPath) -> Iterator[Replacement]:
    """Ask a guard for an answer to each comparison."""
    for comparison in event.compared:
        message = f"`{comparison.node.excerpt}` is taken to be false where it is not known: either path will do"
        parts = [f"{event.guard}(", *compared(comparison, comparison.operator), ")"]
        yield from replaced(comparison.node, parts, message)
