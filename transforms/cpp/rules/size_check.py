"""Checks of sizes that only the running graph can answer are left to it.

What it does: `TORCH_CHECK(x.sym_size(0) == n, "…")` becomes `TORCH_SYM_CHECK(x.sym_size(0).sym_eq(n), "…")`.
Comparisons joined by `&&` and `||` are joined by `sym_and` and `sym_or`, where the second may be asked whatever the
first says; after a bool of C++ (`!b.defined() || …`) they are asked only where that does not decide, as before.
Where neither will do, each comparison that must hold is expected where it is asked, and the macro stays:
`TORCH_CHECK(n.sym_ge(1).expect_true(__FILE__, __LINE__) && …)`; of `(d == 1 && …) || (d == 2 && …)` one alternative is,
as `d` is no size: of sizes in alternatives a graph would expect the first, so such a condition is left.
Of a template that asks `at::symint::size<T>`, a number of the type T is compared as a SymInt, `c10::SymInt(n)`.
Shapes, `x.sizes() == y.sizes()`, are compared by `sym_equals` where the version has it. A macro without a twin, such as
TORCH_CHECK_VALUE, keeps its name, and the condition is `….expect_true(__FILE__, __LINE__)`, as in TORCH_SYM_CHECK.

Why: a comparison of SymInts is turned into a bool by a guard, and where a size is unbacked nothing can be guarded:
the operator throws GuardOnDataDependentSymNode. TORCH_SYM_CHECK records the condition, and the graph checks it when it
runs. For integers, and for sizes that have a hint, it is the check as it was: the same error, the same message.

Left is a check in a `try`, or in a function that its file calls in one: what the graph raises comes after the `catch`.

Fix safety: review. It serves unbacked sizes alone, and reads less plainly than the comparison.

References: c10/core/SymBool.h (TORCH_SYM_CHECK, expect_true, sym_and, sym_or), c10/core/SymInt.h (sym_eq and its kin),
c10/core/SymIntArrayRef.h (sym_equals).
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import Comparison, ExpectedSizes, Replacement, SizeCheck
from transforms.cpp.flow.sym_bool import EXPECTED, compared, replaced, spelled

NAME = "size-check"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
EVENTS = (SizeCheck, ExpectedSizes)
EXAMPLES = (
    Example(
        'Tensor f(const Tensor& x) { TORCH_CHECK(x.sym_size(0) >= 2, "too few rows"); return x.sum(); }',
        'Tensor f(const Tensor& x) { TORCH_SYM_CHECK(x.sym_size(0).sym_ge(2), "too few rows"); return x.sum(); }',
    ),
    Example(
        'Tensor f(const Tensor& x, const Tensor& y) { TORCH_CHECK(x.size(0) + 1 == y.size(0), "rows"); return x + y; }',
        "Tensor f(const Tensor& x, const Tensor& y) { "
        'TORCH_SYM_CHECK((x.sym_size(0) + 1).sym_eq(y.sym_size(0)), "rows"); return x + y; }',
    ),
    Example(
        'Tensor f(const Tensor& x) { TORCH_CHECK(x.dim() == 1 || x.sym_size(0) > 1, "rows"); return x.sum(); }',
        "Tensor f(const Tensor& x) { "
        'TORCH_SYM_CHECK(x.dim() == 1 ? c10::SymBool(true) : x.sym_size(0).sym_gt(1), "rows"); return x.sum(); }',
    ),
    Example(
        'Tensor f(const Tensor& x) { TORCH_CHECK_VALUE(x.sym_size(0) > 1, "rows"); return x.sum(); }',
        "Tensor f(const Tensor& x) { "
        'TORCH_CHECK_VALUE(x.sym_size(0).sym_gt(1).expect_true(__FILE__, __LINE__), "rows"); return x.sum(); }',
    ),
    Example(
        "Tensor f(const Tensor& x) { auto d = x.dim(); TORCH_CHECK((d == 1 && x.sym_size(0) != 0) || "
        '(d == 2 && x.sym_size(1) != 0), "rows"); return x.sum(); }',
        "Tensor f(const Tensor& x) { auto d = x.dim(); "
        "TORCH_CHECK((d == 1 && x.sym_size(0).sym_ne(0).expect_true(__FILE__, __LINE__)) || "
        '(d == 2 && x.sym_size(1).sym_ne(0).expect_true(__FILE__, __LINE__)), "rows"); return x.sum(); }',
    ),
    Example(
        'Tensor f(const Tensor& x) { TORCH_CHECK(x.sym_size(0) == 1 || x.sym_size(1) == 1, "rows"); return x.sum(); }',
        None,
    ),
)


def rewrite(event: SizeCheck | ExpectedSizes) -> Iterator[Replacement]:
    """Name the twin of the macro, and ask SymInts for the comparisons; what changes stands between their operands."""
    if isinstance(event, ExpectedSizes):
        for comparison in event.expected:
            message = f"`{comparison.node.excerpt}` is checked when the graph runs"
            yield from replaced(comparison.node, [*compared(comparison, comparison.operator), EXPECTED], message)
        return
    whole = event.condition.node
    message = f"`{whole.excerpt}` is checked when the graph runs"
    parts = list(spelled(event.condition))
    if event.twin:
        yield Replacement(event.macro.start, event.macro.end, event.twin, message)
    else:
        alone = isinstance(event.condition, Comparison) or whole.kind == "parenthesized_expression"
        parts = [*parts, EXPECTED] if alone else ["(", *parts, ")", EXPECTED]
    yield from replaced(whole, parts, message)
