"""Casts of sizes to floating point become SymFloat.

What it does: `static_cast<double>(n)`, `double(n)` and `(double)n` become `static_cast<c10::SymFloat>(n)` and so on; a
number to the left of such a value becomes a SymFloat too, and so does `0.5` in `c ? n : 0.5`.

Why: a SymInt has no conversion to double, and a double beside it in `?:` would become a SymInt, without its fraction.

Fix safety: safe. For a concrete size the value is the same. A `float` is less precise than a SymFloat, so casts to it
are left, as is arithmetic of sizes that comes to one.

References: c10/core/SymFloat.h.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import FloatCast, FloatOperand, Replacement

NAME = "float-cast"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EVENTS = (FloatCast, FloatOperand)
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { return x.sum() / static_cast<double>(x.numel()); }",
        "Tensor f(const Tensor& x) { return x.sum() / static_cast<c10::SymFloat>(x.sym_numel()); }",
    ),
    Example(
        "Tensor f(const Tensor& x) { return x.mul(3. / static_cast<double>(x.numel())); }",
        "Tensor f(const Tensor& x) { return x.mul(c10::SymFloat(3.) / static_cast<c10::SymFloat>(x.sym_numel())); }",
    ),
    Example(
        "Tensor f(const Tensor& x, bool b) { return x.mul(b ? x.numel() : 0.5); }",
        "Tensor f(const Tensor& x, bool b) { return x.mul(b ? x.sym_numel() : c10::SymFloat(0.5)); }",
    ),
)


def rewrite(event: FloatCast | FloatOperand) -> Iterator[Replacement]:
    """Replace the type that is cast to; make what stands beside a SymFloat one as well."""
    if isinstance(event, FloatCast):
        spelled = event.spelled
        yield Replacement(spelled.start, spelled.end, "c10::SymFloat", f"`{spelled.text}` → `c10::SymFloat`")
        return
    operand = event.operand
    message = f"`{operand.excerpt}` beside a SymFloat"
    yield Replacement(operand.start, operand.start, "c10::SymFloat(", message)
    yield Replacement(operand.end, operand.end, ")", message)
