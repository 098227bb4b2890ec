"""Sizes used as conditions are compared with 0.

What it does: `if (!x.numel())` becomes `if (x.sym_numel() == 0)`, `x.numel() && …` becomes `x.sym_numel() != 0 && …`.

Why: a SymInt has no conversion to bool.

Fix safety: safe. The comparison guards where the size is symbolic, as the reviewed conversions in PyTorch do.

References: c10/core/SymInt.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example

if TYPE_CHECKING:
    from transforms.cpp.flow.engine import Flow
    from transforms.cpp.reading.tree import Node

NAME = "truthiness"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { if (!x.numel()) { return x; } return x.sum(); }",
        "Tensor f(const Tensor& x) { if (x.sym_numel() == 0) { return x; } return x.sum(); }",
    ),
    Example(
        "Tensor f(const Tensor& x) { return x.dim() && x.size(0) ? x : x.sum(); }",
        "Tensor f(const Tensor& x) { return x.dim() && x.sym_size(0) != 0 ? x : x.sum(); }",
    ),
)


def rewrite(flow: Flow, node: Node, origins: frozenset[int] | None) -> None:
    """Compare `node` with 0; a `!` right before it is folded into `==`."""
    target = node
    while target.kind == "parenthesized_expression" and len(target.children) == 1:
        target = target.children[0]
    outer = target.parent
    negated = outer is not None and outer.kind == "unary_expression" and outer.token == "!"
    message = f"`{target.text}` is compared with 0"
    if negated and outer is not None:
        flow.emit(NAME, outer.start, target.start, "", origins, message)
    wrap = target is node and target.kind in ("binary_expression", "conditional_expression", "assignment_expression")
    if wrap:
        flow.emit(NAME, target.start, target.start, "(", origins, message)
    flow.emit(NAME, target.end, target.end, f"{')' if wrap else ''} {'==' if negated else '!='} 0", origins, message)
