"""A shortcut for empty tensors, or for a size of 1, is not taken where a size is not known.

What it does: `if (x.sym_numel() == 0) { return …; }` becomes `if (TORCH_GUARD_OR_FALSE(x.sym_numel().sym_eq(0))) …`;
`!= 0` and `> 0` get TORCH_GUARD_OR_TRUE. A number below 0 stands for "not given": no size is one. A version that has
neither has TORCH_GUARD_SIZE_OBLIVIOUS. A size that is compared with 1 is decided where the branch does not return and
the other path begins with a check that it equals another size, no number, as of sizes that are broadcast. A result
`conditional_t<…, Tensor&, Tensor>` is a Tensor.
Left are branches whose result is no Tensor, that raise, end a loop, stop a recursion or change what a pointer leads to,
those that use a tensor where it is not empty (one that stands for none is), and those whose other path is wrong for an
empty tensor without a word: it is seen to give another shape at the end of the function, divides by a size, reduces
without an identity (`max`, `mean`), reads elements, or slices from the end by a size (`-n`), itself or in a function
of its file. A shortcut whose result has elements is left where not both paths are seen to make zeros of nothing, by
sums, products of matrices and what keeps zeros: a loss, `x.sum(0).exp()` and what is not known are not. So is one in a
`try`, or in a function that its file calls in one.

Why: the branch needs an answer while tracing, and where a size is unbacked there is none: the operator throws
GuardOnDataDependentSymNode, though the path for sizes in general would have done.

Fix safety: review. Eager and sizes that have a hint go as before. A graph whose sizes are unbacked takes the general
path for an empty tensor too, with the dtype that this gives; where it cannot (it selects or narrows to an element), the
graph raises. Where sizes are broadcast, unknown ones are taken to be equal, as PyTorch's own broadcasting takes them,
and the graph checks it.

References: c10/core/SymBool.h (TORCH_GUARD_OR_FALSE, TORCH_GUARD_OR_TRUE, TORCH_GUARD_SIZE_OBLIVIOUS);
aten/src/ATen/ExpandUtils.cpp (infer_size_impl).
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import EXPECTED_NUMBER, Replacement, ShortcutNumber, SizeShortcut
from transforms.cpp.flow.sym_bool import EXPECTED, compared, replaced
from transforms.cpp.flow.truth import operand

NAME = "size-shortcut"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
EVENTS = (SizeShortcut, ShortcutNumber)
EXAMPLES = (
    Example("Tensor f(const Tensor& x) { if (x.dim() == 0) { return x; } return x.sum(); }", None),
    Example(
        "Tensor f(const Tensor& x) { if (x.sym_numel() == 0) { return x; } return x.exp(); }",
        "Tensor f(const Tensor& x) { "
        "if (TORCH_GUARD_OR_FALSE(x.sym_numel().sym_eq(0))) { return x; } return x.exp(); }",
    ),
    Example(
        "Tensor f(Tensor x) { if (x.dim() && x.size(0) > 0) { x = x.conj(); } return x; }",
        "Tensor f(Tensor x) { "
        "if (x.dim() && TORCH_GUARD_OR_TRUE(x.sym_size(0).sym_gt(0))) { x = x.conj(); } return x; }",
    ),
    Example("Tensor f(Tensor x, const Tensor& y) { if (y.sym_numel() > 0) { x = x + y; } return x; }", None),
    Example(
        "Tensor f(const Tensor& x) { if (!x.numel()) { return x; } return x.exp(); }",
        "Tensor f(const Tensor& x) { "
        "if (TORCH_GUARD_OR_FALSE(x.sym_numel().sym_eq(0))) { return x; } return x.exp(); }",
    ),
    Example("Tensor f(const Tensor& x) { if (x.sym_size(0) == 1) { return x; } return x.sum(); }", None),
    Example("Tensor f(const Tensor& x) { if (x.sym_numel() == 0) { return x; } return x.mean(); }", None),
    Example("Tensor f(const Tensor& x) { if (x.sym_numel() == 0) { return x; } return x / x.sym_numel(); }", None),
    Example(
        "Tensor f(const Tensor& x) { if (x.sym_numel() == 0) { return x.sum(); } return at::unknown(x); }",
        None,
    ),
    Example(
        "Tensor f(const Tensor& x, Tensor y) { const auto n = x.sym_size(0); if (n == 1) { y = y.sum(0); } else "
        '{ TORCH_SYM_CHECK(n.sym_eq(y.sym_size(0)), "rows"); } return y; }',
        "Tensor f(const Tensor& x, Tensor y) { const auto n = x.sym_size(0); "
        "if (TORCH_GUARD_OR_FALSE(n.sym_eq(1))) { y = y.sum(0); } else "
        '{ TORCH_SYM_CHECK(n.sym_eq(y.sym_size(0)), "rows"); } return y; }',
    ),
    Example("bool f(const Tensor& x) { if (x.sym_numel() == 0) { return true; } return x.defined(); }", None),
)


def rewrite(event: SizeShortcut | ShortcutNumber) -> Iterator[Replacement]:
    """Ask SymInts for each comparison, and a guard for an answer to that; what is between the comparisons stays."""
    if isinstance(event, ShortcutNumber):
        target, negated = operand(event.node)
        message = f"`{target.excerpt}` is taken to be more than 0 where it is not known"
        product = target.kind == "binary_expression"
        if event.guards == EXPECTED_NUMBER:
            message = f"`{target.excerpt}` is expected not to be 0: the graph checks it when it runs"
            yield Replacement(target.start, target.start, "(" * product, message)
            yield Replacement(target.end, target.end, f"{')' * product}.sym_ne(0){EXPECTED}", message)
            return
        opening = f"{event.guards[negated is None]}({'(' * product}"
        yield Replacement(negated.start if negated else target.start, target.start, opening, message)
        yield Replacement(target.end, target.end, f"{')' * product}.{'sym_eq' if negated else 'sym_ne'}(0))", message)
        return
    for comparison, outcome in event.decided:
        message = f"`{comparison.node.excerpt}` is taken to be {'true' if outcome else 'false'} where it is not known"
        parts = [f"{event.guards[outcome]}(", *compared(comparison, comparison.operator), ")"]
        yield from replaced(comparison.node, parts, message)
