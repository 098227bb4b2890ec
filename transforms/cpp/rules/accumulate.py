"""`std::accumulate` and `std::transform` over symbolic sizes compute in SymInt.

What it does: the initial value `1` becomes `c10::SymInt(1)` and `std::multiplies<int64_t>` becomes
`std::multiplies<c10::SymInt>`, and so does `std::negate<int64_t>()` that is given to `std::transform`.

Why: the type of the initial value is the type of the sum, and a functor over `int64_t` takes no SymInt.

Fix safety: safe. Over concrete sizes the same number is computed, in 64 bits also where `1` made it 32.

References: c10/core/SymInt.h.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import AccumulateOperation, AccumulateStart, Replacement

NAME = "accumulate"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EVENTS = (AccumulateOperation, AccumulateStart)
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { auto s = x.sizes(); auto n = std::accumulate(s.begin(), s.end(), 1, "
        "std::multiplies<int64_t>()); return x.reshape({n}); }",
        "Tensor f(const Tensor& x) { auto s = x.sym_sizes(); auto n = std::accumulate(s.begin(), s.end(), "
        "c10::SymInt(1), std::multiplies<c10::SymInt>()); return x.reshape_symint({n}); }",
    ),
    Example(
        "Tensor f(const Tensor& x) { auto s = x.sizes().vec(); std::transform(s.cbegin(), s.cend(), s.begin(), "
        "std::negate<int64_t>()); return x.reshape(s); }",
        "Tensor f(const Tensor& x) { auto s = x.sym_sizes().vec(); std::transform(s.cbegin(), s.cend(), s.begin(), "
        "std::negate<c10::SymInt>()); return x.reshape_symint(s); }",
    ),
)


def rewrite(event: AccumulateStart | AccumulateOperation) -> Iterator[Replacement]:
    """Make the initial value a SymInt, and `std::multiplies<int64_t>()` one over SymInts."""
    if isinstance(event, AccumulateOperation):
        element = event.element
        yield Replacement(element.start, element.end, "c10::SymInt", f"`{event.operation.excerpt}` over SymInts")
        return
    initial = event.initial
    message = f"starts at `{initial.excerpt}` as a SymInt"
    text = initial.text.replace(" ", "")
    name = initial.field("function")
    if initial.kind == "number_literal":
        literal = initial.text.rstrip("lLuU")
        yield Replacement(initial.start, initial.end, f"c10::SymInt({literal})", message)
    elif name is not None and text.startswith(("static_cast<int64_t>(", "int64_t(")):
        yield Replacement(name.start, name.end, "c10::SymInt", message)
    else:
        yield Replacement(initial.start, initial.start, "c10::SymInt(", message)
        yield Replacement(initial.end, initial.end, ")", message)
