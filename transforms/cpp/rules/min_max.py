"""Operands of `std::min` and `std::max` agree.

What it does: `std::max(n, 1)` becomes `std::max(n, c10::SymInt(1))`, `std::max<int64_t>(n, 1)` becomes
`std::max<c10::SymInt>(n, 1)`, where `n` became symbolic.

Why: both operands must deduce one type.

Fix safety: safe. The comparison guards where a size is symbolic.

References: c10/core/SymInt.h (min, max).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example

if TYPE_CHECKING:
    from transforms.cpp.flow.engine import Flow
    from transforms.cpp.reading.tree import Node

NAME = "min-max"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { auto n = std::max(x.size(0), 1); return x.narrow(0, 0, n); }",
        "Tensor f(const Tensor& x) { auto n = std::max(x.sym_size(0), c10::SymInt(1)); return "
        "x.narrow_symint(0, 0, n); }",
    ),
    Example(
        "Tensor f(const Tensor& x) { auto n = std::min<int64_t>(x.size(0), 4); return x.narrow(0, 0, n); }",
        "Tensor f(const Tensor& x) { auto n = std::min<c10::SymInt>(x.sym_size(0), 4); return "
        "x.narrow_symint(0, 0, n); }",
    ),
)


def rewrite_operand(flow: Flow, operand: Node, origins: frozenset[int] | None) -> None:
    """Make an integer operand a SymInt."""
    message = f"`{operand.text}` beside a SymInt"
    flow.emit(NAME, operand.start, operand.start, "c10::SymInt(", origins, message)
    flow.emit(NAME, operand.end, operand.end, ")", origins, message)


def rewrite_template(flow: Flow, template: Node, origins: frozenset[int] | None) -> None:
    """Replace the spelled template argument."""
    flow.emit(NAME, template.start, template.end, "c10::SymInt", origins, f"`<{template.text}>` → `<c10::SymInt>`")
