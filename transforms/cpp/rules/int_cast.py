"""Casts of sizes to int64_t go.

What it does: `static_cast<int64_t>(x.size(0))` becomes `x.sym_size(0)`.

Why: the value is an int64_t already; a SymInt cannot be cast to one.

Fix safety: safe. Casts to narrower or unsigned types are left, and reported.

References: c10/core/SymInt.h.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import IntCast, Replacement

NAME = "int-cast"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EVENTS = (IntCast,)
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { return x.expand({static_cast<int64_t>(x.size(0)), 3}); }",
        "Tensor f(const Tensor& x) { return x.expand_symint({x.sym_size(0), 3}); }",
    ),
)


def rewrite(event: IntCast) -> Iterator[Replacement]:
    """Leave the value, in parentheses where its operators need them."""
    cast, value = event.cast, event.value
    bare = value.kind in ("identifier", "call_expression", "parenthesized_expression", "subscript_expression")
    message = f"`{cast.excerpt}` needs no cast"
    yield Replacement(cast.start, value.start, "" if bare else "(", message)
    if value.end < cast.end or not bare:
        yield Replacement(value.end, cast.end, "" if bare else ")", message)
