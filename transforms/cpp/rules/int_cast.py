"""Casts of sizes to int64_t go.

What it does: `static_cast<int64_t>(x.size(0))` becomes `x.sym_size(0)`.

Why: the value is an int64_t already; a SymInt cannot be cast to one.

Fix safety: safe. Casts to narrower or unsigned types are left, and reported.

References: c10/core/SymInt.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example

if TYPE_CHECKING:
    from transforms.cpp.flow.engine import Flow
    from transforms.cpp.reading.tree import Node

NAME = "int-cast"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { return x.expand({static_cast<int64_t>(x.size(0)), 3}); }",
        "Tensor f(const Tensor& x) { return x.expand_symint({x.sym_size(0), 3}); }",
    ),
)


def rewrite(flow: Flow, cast: Node, value: Node, origins: frozenset[int] | None) -> None:
    """Leave the value, in parentheses where its operators need them."""
    bare = value.kind in ("identifier", "call_expression", "parenthesized_expression", "subscript_expression")
    message = f"`{cast.text}` needs no cast"
    flow.emit(NAME, cast.start, value.start, "" if bare else "(", origins, message)
    if value.end < cast.end or not bare:
        flow.emit(NAME, value.end, cast.end, "" if bare else ")", origins, message)
