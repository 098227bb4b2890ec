"""A branch on sizes that only raises is left to the running graph.

What it does: `if (x.sym_size(0) != n) { TORCH_CHECK_VALUE(false, …); }` becomes
`if (!x.sym_size(0).sym_eq(n).expect_true(__FILE__, __LINE__)) { … }`. Comparisons joined by `||` are expected one by
one; a condition of C++ before `&&` decides as before whether a size is asked at all.

Why: the branch needs an answer while tracing, and where a size is unbacked there is none: the operator throws
GuardOnDataDependentSymNode. `expect_true`, which TORCH_SYM_CHECK is made of, has the graph check what is expected.

Fix safety: review. Eager and sizes that have a hint raise the same error; for unbacked ones the graph does.

References: c10/core/SymBool.h (expect_true, TORCH_SYM_CHECK), c10/core/SymInt.h (sym_eq and its kin),
c10/core/SymIntArrayRef.h (sym_equals).
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import RaisingBranch, Replacement
from transforms.cpp.flow.sym_bool import EXPECTED, OPPOSITE, compared, replaced

NAME = "raising-branch"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
EVENTS = (RaisingBranch,)
EXAMPLES = (
    Example(
        'Tensor f(const Tensor& x) { if (x.dim() != 2) { TORCH_CHECK_VALUE(false, "rank"); } return x.sum(); }', None
    ),
    Example(
        'Tensor f(const Tensor& x) { if (x.sym_size(0) < 2) { TORCH_CHECK_VALUE(false, "rows"); } return x.sum(); }',
        "Tensor f(const Tensor& x) { if (!x.sym_size(0).sym_ge(2).expect_true(__FILE__, __LINE__)) "
        '{ TORCH_CHECK_VALUE(false, "rows"); } return x.sum(); }',
    ),
    Example(
        "Tensor f(const Tensor& x, const Tensor& y) { if (x.dim() == 2 && x.size(0) != y.size(0)) "
        '{ AT_ERROR("rows"); } return x + y; }',
        "Tensor f(const Tensor& x, const Tensor& y) { "
        "if (x.dim() == 2 && !x.sym_size(0).sym_eq(y.sym_size(0)).expect_true(__FILE__, __LINE__)) "
        '{ AT_ERROR("rows"); } return x + y; }',
    ),
    Example(
        "Tensor f(const Tensor& x, bool b) { if (x.sym_size(0) < 2 && b) "
        '{ TORCH_CHECK(false, "rows"); } return x.sum(); }',
        None,
    ),
)


def rewrite(event: RaisingBranch) -> Iterator[Replacement]:
    """Expect the opposite of each comparison."""
    for comparison in event.refused:
        message = f"`{comparison.node.excerpt}` is checked when the graph runs"
        parts = ["!", *compared(comparison, OPPOSITE[comparison.operator]), EXPECTED]
        yield from replaced(comparison.node, parts, message)
