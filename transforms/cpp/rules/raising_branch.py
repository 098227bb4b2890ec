"""A branch on sizes that only raises is left to the running graph.

What it does: `if (x.sym_size(0) != n) { TORCH_CHECK_VALUE(false, …); }` becomes
`if (!x.sym_size(0).sym_eq(n).expect_true(__FILE__, __LINE__)) { … }`. Comparisons joined by `||` are expected one by
one; a condition of C++ before `&&` decides as before whether a size is asked at all. So is a shortcut that leaves a
function of several results for an empty tensor, for which the path for others may have others, or change statistics:
`if (x.sym_numel() == 0) { return …; }` becomes `if (!x.sym_numel().sym_ne(0).expect_true(__FILE__, __LINE__)) …`.
And so is what says that sizes cannot be broadcast, `if (n != m && n != 1) { return false; }` before `return true;`: a
size that is not known is expected to be the other.

Why: the branch needs an answer while tracing, and where a size is unbacked there is none: the operator throws
GuardOnDataDependentSymNode. `expect_true`, which TORCH_SYM_CHECK is made of, has the graph check what is expected.

Fix safety: review. Eager and sizes that have a hint raise the same error; for unbacked ones the graph does. It refuses
empty tensors behind a shortcut for them, and sizes that do not agree where callers might have another path for them:
PyTorch itself takes unknown sizes to be no 0, and to agree.

References: c10/core/SymBool.h (expect_true, TORCH_SYM_CHECK), c10/core/SymInt.h (sym_eq and its kin),
c10/core/SymIntArrayRef.h (sym_equals), aten/src/ATen/ExpandUtils.h (is_expandable_to).
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import Disagreement, RaisingBranch, Replacement
from transforms.cpp.flow.sym_bool import EXPECTED, OPPOSITE, compared, replaced

NAME = "raising-branch"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
EVENTS = (RaisingBranch, Disagreement)
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
    Example(
        "std::tuple<Tensor, int64_t> f(const Tensor& x) { if (x.sym_numel() == 0) { return {x, 0}; } "
        "return {x.mean(), 1}; }",
        "std::tuple<Tensor, int64_t> f(const Tensor& x) { "
        "if (!x.sym_numel().sym_ne(0).expect_true(__FILE__, __LINE__)) { return {x, 0}; } return {x.mean(), 1}; }",
    ),
    Example(
        "bool f(c10::SymInt n, c10::SymInt m) { if (n != m && n != 1) { return false; } return true; }",
        "bool f(c10::SymInt n, c10::SymInt m) { if (!TORCH_GUARD_OR_FALSE(n.sym_eq(1)) && "
        "!n.sym_eq(m).expect_true(__FILE__, __LINE__)) { return false; } return true; }",
    ),
)


def rewrite(event: RaisingBranch | Disagreement) -> Iterator[Replacement]:
    """Expect the opposite of each comparison; of a disagreement, that the sizes agree where the first is not 1."""
    if isinstance(event, Disagreement):
        size, whole = event.size.text, event.condition.bare
        expected = f"!{size}.sym_eq({event.other.text}){EXPECTED}"
        message = f"`{whole.excerpt}` is checked when the graph runs"
        yield Replacement(whole.start, whole.end, f"!{event.guard}({size}.sym_eq(1)) && {expected}", message)
        return
    for comparison in event.refused:
        message = f"`{comparison.node.excerpt}` is checked when the graph runs"
        parts = ["!", *compared(comparison, OPPOSITE[comparison.operator]), EXPECTED]
        yield from replaced(comparison.node, parts, message)
