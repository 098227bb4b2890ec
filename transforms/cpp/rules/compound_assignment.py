"""`n -= k` and `++n` are spelled out.

What it does: `n -= k` becomes `n = n - k`, `n %= k` becomes `n = n % k`, and `++n;` becomes `n = n + 1;` once `n` is a
SymInt; `s *= 2` becomes `s = s * 2` once `s` is a SymFloat.

Why: SymInt has `+=`, `*=` and `/=` only, and SymFloat none of them.

Fix safety: safe. The operand is put in brackets where it holds an operator, so that the same number is computed. A
target that may be another one when it is evaluated again, or changed by the operand, is left: `sizes[d++] -= k`.

References: c10/core/SymInt.h, c10/core/SymFloat.h.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import CompoundAssignment, Replacement, Step

NAME = "compound-assignment"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EVENTS = (CompoundAssignment, Step)
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x, int64_t k) { auto n = x.size(0); n -= k + 1; return x.narrow(0, 0, n); }",
        "Tensor f(const Tensor& x, int64_t k) { auto n = x.sym_size(0); n = n - (k + 1); return "
        "x.narrow_symint(0, 0, n); }",
    ),
    Example(
        "Tensor f(const Tensor& x) { auto n = x.size(0); --n; return x.narrow(0, 0, n); }",
        "Tensor f(const Tensor& x) { auto n = x.sym_size(0); n = n - 1; return x.narrow_symint(0, 0, n); }",
    ),
    Example(
        "Tensor f(const Tensor& x) { double s = x.size(0); s *= 0.5; return x.mul(s); }",
        "Tensor f(const Tensor& x) { c10::SymFloat s = x.sym_size(0); s = s * 0.5; return x.mul(s); }",
    ),
    Example(
        "Tensor f(const Tensor& x, int64_t d) { auto sizes = x.sizes().vec(); sizes[d++] -= 1; return x.view(sizes); }",
        None,
        "d would be stepped twice",
    ),
    Example(
        "Tensor f(const Tensor& x) { auto n = x.size(0); n *= 0.5; return x.narrow(0, 0, n); }",
        None,
        "a SymInt would take 0.5 for 0",
    ),
)


def rewrite(event: CompoundAssignment | Step) -> Iterator[Replacement]:
    """`left -= right` → `left = left - right`; `++n`, as a statement of its own, → `n = n + 1`."""
    node = event.node
    if isinstance(event, Step):
        new = f"{event.argument.text} = {event.argument.text} {node.token[:1]} 1"
        yield Replacement(node.start, node.end, new, f"`{node.text}` → `{new}`")
        return
    left, right = event.left, event.right
    operator = node.token[0]
    between = node.source[left.end : right.start].decode("utf-8", "surrogateescape").replace(node.token, "=")
    wrap = right.kind in ("binary_expression", "conditional_expression", "assignment_expression")
    message = f"`{left.excerpt} {node.token} …` → `{left.excerpt} = {left.excerpt} {operator} …`"
    yield Replacement(left.end, right.start, f"{between}{left.text} {operator} {'(' if wrap else ''}", message)
    if wrap:
        yield Replacement(right.end, right.end, ")", message)
