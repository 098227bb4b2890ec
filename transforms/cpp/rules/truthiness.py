"""Sizes used as conditions are compared with 0.

What it does: `if (!x.numel())` becomes `if (x.sym_numel() == 0)`, `x.numel() && …` becomes `x.sym_numel() != 0 && …`.

Why: a SymInt has no conversion to bool.

Fix safety: safe. The comparison guards where the size is symbolic, as the reviewed conversions in PyTorch do.

References: c10/core/SymInt.h.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import Condition, Replacement
from transforms.cpp.flow.truth import operand, stands_in_operator

NAME = "truthiness"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EVENTS = (Condition,)
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { if (!x.numel()) { return x; } return x.mean(); }",
        "Tensor f(const Tensor& x) { if (x.sym_numel() == 0) { return x; } return x.mean(); }",
    ),
    Example(
        "Tensor f(const Tensor& x) { return x.dim() && x.size(0) ? x : x.sum(); }",
        "Tensor f(const Tensor& x) { return x.dim() && x.sym_size(0) != 0 ? x : x.sum(); }",
    ),
)


def rewrite(event: Condition) -> Iterator[Replacement]:
    """Compare the condition with 0; a `!` right before it is folded into `==`."""
    target, negated = operand(event.node)
    message = f"`{target.excerpt}` is compared with 0"
    enclosed = negated is not None and stands_in_operator(negated)
    if negated is not None:
        yield Replacement(negated.start, target.start, "(" if enclosed else "", message)
    wrap = target is event.node and target.kind in (
        "binary_expression",
        "conditional_expression",
        "assignment_expression",
    )
    if wrap:
        yield Replacement(target.start, target.start, "(", message)
    yield Replacement(
        target.end, target.end, f"{')' if wrap else ''} {'==' if negated else '!='} 0{')' * enclosed}", message
    )
