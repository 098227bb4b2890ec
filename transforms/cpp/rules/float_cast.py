"""Casts of sizes to floating point become SymFloat.

What it does: `static_cast<double>(n)`, `double(n)` and `(float)n` become `static_cast<c10::SymFloat>(n)` and so on; a
number to the left of such a value becomes a SymFloat too.

Why: a SymInt has no conversion to double.

Fix safety: safe. For a concrete size the value is the same.

References: c10/core/SymFloat.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example

if TYPE_CHECKING:
    from transforms.cpp.flow.engine import Flow
    from transforms.cpp.reading.tree import Node

NAME = "float-cast"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { return x.sum() / static_cast<double>(x.numel()); }",
        "Tensor f(const Tensor& x) { return x.sum() / static_cast<c10::SymFloat>(x.sym_numel()); }",
    ),
    Example(
        "Tensor f(const Tensor& x) { return x.mul(3. / static_cast<double>(x.numel())); }",
        "Tensor f(const Tensor& x) { return x.mul(c10::SymFloat(3.) / static_cast<c10::SymFloat>(x.sym_numel())); }",
    ),
)


def rewrite(flow: Flow, spelled: Node, origins: frozenset[int] | None) -> None:
    """Replace the type that is cast to."""
    flow.emit(NAME, spelled.start, spelled.end, "c10::SymFloat", origins, f"`{spelled.text}` → `c10::SymFloat`")


def rewrite_operand(flow: Flow, operand: Node, origins: frozenset[int] | None) -> None:
    """Make the left operand of a SymFloat one as well."""
    message = f"`{operand.text}` beside a SymFloat"
    flow.emit(NAME, operand.start, operand.start, "c10::SymFloat(", origins, message)
    flow.emit(NAME, operand.end, operand.end, ")", origins, message)
