"""Checks of sizes that only the running graph can answer are left to it.

What it does: `TORCH_CHECK(x.sym_size(0) == n, "…")` becomes `TORCH_SYM_CHECK(x.sym_size(0).sym_eq(n), "…")`.

Why: a comparison of SymInts is turned into a bool by a guard, and where a size is unbacked nothing can be guarded:
the operator throws GuardOnDataDependentSymNode. TORCH_SYM_CHECK records the condition, and the graph checks it when it
runs. For integers, and for sizes that have a hint, it is the check as it was: the same error, the same message.

Fix safety: review. It serves unbacked sizes alone, and reads less plainly than the comparison.

References: c10/core/SymBool.h (TORCH_SYM_CHECK), c10/core/SymInt.h (sym_eq and its kin).
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import Replacement, SizeCheck

NAME = "size-check"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
EVENTS = (SizeCheck,)
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
)
_METHODS = {"==": "sym_eq", "!=": "sym_ne", "<": "sym_lt", "<=": "sym_le", ">": "sym_gt", ">=": "sym_ge"}
_POSTFIX = frozenset({"identifier", "call_expression", "field_expression", "subscript_expression"})


def rewrite(event: SizeCheck) -> Iterator[Replacement]:
    """Name the twin of the macro, and ask the SymInt on the left for the comparison."""
    left, right = event.left, event.right
    message = f"`{left.excerpt} {event.operator} {right.excerpt}` is checked when the graph runs"
    yield Replacement(event.macro.start, event.macro.end, event.twin, message)
    opening = "" if event.symbolic_left else "c10::SymInt"
    bare = event.symbolic_left and left.kind in (*_POSTFIX, "parenthesized_expression")
    if not bare:
        yield Replacement(left.start, left.start, f"{opening}(", message)
    yield Replacement(left.end, right.start, f"{'' if bare else ')'}.{_METHODS[event.operator]}(", message)
    yield Replacement(right.end, right.end, ")", message)
