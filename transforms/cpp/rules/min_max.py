"""Operands of `std::min` and `std::max` agree.

What it does: `std::max(n, 1)` becomes `std::max(n, c10::SymInt(1))`, `std::max<int64_t>(n, 1)` becomes
`std::max<c10::SymInt>(n, 1)`, where `n` became symbolic.

Why: both operands must deduce one type.

Fix safety: safe. The comparison guards where a size is symbolic; `size-extremum` (review) has it make no guard.

References: c10/core/SymInt.h (min, max).
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import ExtremumOperand, ExtremumTemplate, Replacement

NAME = "min-max"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EVENTS = (ExtremumOperand, ExtremumTemplate)
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { auto n = std::max(x.size(0), 1); return x.narrow(0, 0, n); }",
        "Tensor f(const Tensor& x) { auto n = x.sym_size(0).max(c10::SymInt(1)); return x.narrow_symint(0, 0, n); }",
    ),
    Example(
        "Tensor f(const Tensor& x) { auto n = std::min<int64_t>(x.size(0), 4); return x.narrow(0, 0, n); }",
        "Tensor f(const Tensor& x) { auto n = c10::SymInt(x.sym_size(0)).min(4); return x.narrow_symint(0, 0, n); }",
    ),
)


def rewrite(event: ExtremumOperand | ExtremumTemplate) -> Iterator[Replacement]:
    """Make an integer operand, or the spelled template argument, a SymInt."""
    if isinstance(event, ExtremumTemplate):
        template = event.template
        yield Replacement(template.start, template.end, "c10::SymInt", f"`<{template.text}>` → `<c10::SymInt>`")
        return
    operand = event.operand
    message = f"`{operand.excerpt}` beside a SymInt"
    yield Replacement(operand.start, operand.start, "c10::SymInt(", message)
    yield Replacement(operand.end, operand.end, ")", message)
