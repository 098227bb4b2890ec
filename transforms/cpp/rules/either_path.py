"""A branch on sizes either path of which will do is not asked where a size is not known.

What it does: `if (cost > other) { return at::mm(a, at::mm(b, c)); } else { return at::mm(at::mm(a, b), c); }` becomes
`if (TORCH_GUARD_OR_FALSE(cost.sym_gt(other))) …`, where both paths multiply the same matrices from left to right. The
same where a size above or below a number picks which of two functions is given the same arguments; where a special
number, 1 or more, is not handed on to the function that is given all arguments else (`if (n == 1) { return x.mean(); }
return general(x, n);`); and where equal shapes, `a.equals(b)`, are not broadcast (`infer_size…(a, b)`), as others are.

Why: the branch needs an answer while tracing, and where a size is unbacked there is none: the operator throws
GuardOnDataDependentSymNode, though either path gives the result.

Fix safety: review. Eager and sizes that have a hint go as before. A graph whose sizes are unbacked takes the path of a
comparison that does not hold: it may take longer, and its results differ as far as rounding does. Of two functions a
person has to say that they compute the same; left are two operators of ATen, constants, and functions of the file that
raise or return constants. `n < 2` tells one and none apart, and is left. Broadcasting takes unknown sizes to be equal,
and the graph checks it.

References: c10/core/SymBool.h (TORCH_GUARD_OR_FALSE), c10/core/SymIntArrayRef.h (sym_equals);
aten/src/ATen/native/AdaptiveAveragePooling.cpp, aten/src/ATen/ExpandUtils.h (expand_outplace).
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import EitherPath, Replacement
from transforms.cpp.flow.sym_bool import compared, replaced

NAME = "either-path"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
EVENTS = (EitherPath,)
_HEAD = "Tensor f(const Tensor& a, const Tensor& b, const Tensor& c) {"
_PATHS = "{ return at::mm(a, at::mm(b, c)); } return at::mm(at::mm(a, b), c); }"
EXAMPLES = (
    Example(
        f"{_HEAD} if (a.sym_size(0) > c.sym_size(1)) {_PATHS}",
        f"{_HEAD} if (TORCH_GUARD_OR_FALSE(a.sym_size(0).sym_gt(c.sym_size(1)))) {_PATHS}",
    ),
    Example(
        f"{_HEAD} if (a.sym_size(0) > c.sym_size(1)) {{ return at::mm(at::mm(c, b), a); }} "
        "return at::mm(at::mm(a, b), c); }",
        None,
    ),
    Example(
        f"{_HEAD} if (a.dim() == 2 && a.sym_size(0) > 25) {{ return pairs(a, b); }} return at::distances(a, b); }}",
        f"{_HEAD} if (a.dim() == 2 && TORCH_GUARD_OR_FALSE(a.sym_size(0).sym_gt(25))) {{ return pairs(a, b); }} "
        "return at::distances(a, b); }",
    ),
    Example(f"{_HEAD} if (a.sym_size(0) > 25) {{ return pairs(a, b); }} return at::distances(a, c); }}", None),
    Example(
        "Tensor f(const Tensor& x, c10::SymIntArrayRef n) { if (n[0] == 1) { return x.mean(); } return pool(x, n); }",
        "Tensor f(const Tensor& x, c10::SymIntArrayRef n) { "
        "if (TORCH_GUARD_OR_FALSE(n[0].sym_eq(1))) { return x.mean(); } return pool(x, n); }",
    ),
    Example(
        "Tensor f(const Tensor& x, c10::SymInt n) { if (n == 0) { return x.zero_(); } return pool(x, n); }",
        None,
    ),
    Example(
        "Tensor f(const Tensor& x, const Tensor& y) { auto a = x.sym_sizes(); auto b = y.sym_sizes(); "
        "if (a.equals(b)) { return x; } return x.expand_symint(infer_size_symint(a, b)); }",
        "Tensor f(const Tensor& x, const Tensor& y) { auto a = x.sym_sizes(); auto b = y.sym_sizes(); "
        "if (TORCH_GUARD_OR_FALSE(sym_equals(a, b))) { return x; } "
        "return x.expand_symint(infer_size_symint(a, b)); }",
    ),
)


def rewrite(event: EitherPath) -> Iterator[Replacement]:
    """Ask a guard for an answer to each comparison."""
    for comparison in event.compared:
        message = f"`{comparison.node.excerpt}` is taken to be false where it is not known: either path will do"
        parts = [f"{event.guard}(", *compared(comparison, comparison.operator), ")"]
        yield from replaced(comparison.node, parts, message)
