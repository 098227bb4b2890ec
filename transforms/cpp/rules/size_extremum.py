"""The smaller or larger of two sizes is asked of a SymInt.

What it does: `std::max(x.sym_size(0), n)` becomes `x.sym_size(0).max(n)`.

Why: `std::max` compares, and turns the comparison into a bool by a guard. Where a size is unbacked nothing can be
guarded: the operator throws GuardOnDataDependentSymNode. `max` of a SymInt is a number of the graph.

Fix safety: review. For integers it is the same number at the same cost. For sizes that have a hint the graph has
`Max(s0, s1)` in the place of a guard: it serves more sizes, and what is computed of it reads less plainly.

References: c10/core/SymInt.h (min, max).
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import Extremum, Replacement
from transforms.cpp.flow.sym_bool import POSTFIX

NAME = "size-extremum"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
EVENTS = (Extremum,)
EXAMPLES = (
    Example("Tensor f(const Tensor& x) { auto n = std::max<int64_t>(x.dim(), 4); return x.sum(n - 1); }", None),
    Example(
        "Tensor f(const Tensor& x) { return x.narrow_symint(0, 0, std::min(x.sym_size(0), x.sym_size(1))); }",
        "Tensor f(const Tensor& x) { return x.narrow_symint(0, 0, x.sym_size(0).min(x.sym_size(1))); }",
    ),
    Example(
        "Tensor f(const Tensor& x) { auto n = std::max<c10::SymInt>(4, x.sym_size(0) - 1); return x.sum(); }",
        "Tensor f(const Tensor& x) { auto n = c10::SymInt(4).max(x.sym_size(0) - 1); return x.sum(); }",
    ),
)


def rewrite(event: Extremum) -> Iterator[Replacement]:
    """Call the method of the left operand; an integer there becomes a SymInt."""
    left, right = event.left, event.right
    message = f"`{event.call.excerpt}` without a guard"
    if event.template is not None:
        enclosed = True
        yield Replacement(event.call.start, event.template.start, "", message)
        yield Replacement(event.template.end, left.start, "(", message)
    else:
        written = event.origins and not event.symbolic_left  # `min-max` makes a SymInt of it
        enclosed = not written and (left.kind not in POSTFIX or not event.symbolic_left)
        opening = "" if written or event.symbolic_left else "c10::SymInt"
        yield Replacement(event.call.start, left.start, f"{opening}{'(' * enclosed}", message)
    yield Replacement(left.end, right.start, f"{')' * enclosed}.{event.name}(", message)
