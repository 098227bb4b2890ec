"""`std::accumulate` over symbolic sizes computes in SymInt.

What it does: the initial value `1` becomes `c10::SymInt(1)` and `std::multiplies<int64_t>` becomes
`std::multiplies<c10::SymInt>`.

Why: the type of the initial value is the type of the sum.

Fix safety: safe. Over concrete sizes the same number is computed, in 64 bits also where `1` made it 32.

References: c10/core/SymInt.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example

if TYPE_CHECKING:
    from transforms.cpp.flow.engine import Flow
    from transforms.cpp.reading.tree import Node

NAME = "accumulate"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { auto s = x.sizes(); auto n = std::accumulate(s.begin(), s.end(), 1, "
        "std::multiplies<int64_t>()); return x.reshape({n}); }",
        "Tensor f(const Tensor& x) { auto s = x.sym_sizes(); auto n = std::accumulate(s.begin(), s.end(), "
        "c10::SymInt(1), std::multiplies<c10::SymInt>()); return x.reshape_symint({n}); }",
    ),
)


def rewrite(flow: Flow, initial: Node, origins: frozenset[int] | None) -> None:
    """Make the initial value a SymInt."""
    message = f"starts at `{initial.text}` as a SymInt"
    text = initial.text.replace(" ", "")
    name = initial.field("function")
    if initial.kind == "number_literal":
        flow.emit(NAME, initial.start, initial.end, f"c10::SymInt({initial.text.rstrip('lLuU')})", origins, message)
    elif name is not None and text.startswith(("static_cast<int64_t>(", "int64_t(")):
        flow.emit(NAME, name.start, name.end, "c10::SymInt", origins, message)
    else:
        flow.emit(NAME, initial.start, initial.start, "c10::SymInt(", origins, message)
        flow.emit(NAME, initial.end, initial.end, ")", origins, message)


def rewrite_operation(flow: Flow, operation: Node, origins: frozenset[int] | None) -> None:
    """`std::multiplies<int64_t>()` → `std::multiplies<c10::SymInt>()`."""
    for part in operation.walk():
        if part.kind == "type_descriptor" and flow.type_of(part.text).kind == "int":
            message = f"`{operation.text}` over SymInts"
            flow.emit(NAME, part.start, part.end, "c10::SymInt", origins, message)
            return
