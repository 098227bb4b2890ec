"""`n -= k` and `++n` are spelled out.

What it does: `n -= k` becomes `n = n - k`, `n %= k` becomes `n = n % k`, and `++n;` becomes `n = n + 1;` once `n` is a
SymInt.

Why: SymInt has `+=`, `*=` and `/=` only.

Fix safety: safe. The operand is put in brackets where it holds an operator, so that the same number is computed.

References: c10/core/SymInt.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example

if TYPE_CHECKING:
    from transforms.cpp.flow.engine import Flow
    from transforms.cpp.reading.tree import Node

NAME = "compound-assignment"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
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
)


def rewrite(flow: Flow, node: Node, left: Node, right: Node, origins: frozenset[int] | None) -> None:
    """`left -= right` → `left = left - right`."""
    operator = node.token[0]
    between = node.source[left.end : right.start].decode("utf-8", "surrogateescape").replace(node.token, "=")
    wrap = right.kind in ("binary_expression", "conditional_expression")
    message = f"`{left.text} {node.token} …` → `{left.text} = {left.text} {operator} …`"
    flow.emit(NAME, left.end, right.start, f"{between}{left.text} {operator} {'(' if wrap else ''}", origins, message)
    if wrap:
        flow.emit(NAME, right.end, right.end, ")", origins, message)


def rewrite_step(flow: Flow, node: Node, argument: Node, origins: frozenset[int] | None) -> None:
    """`++n` → `n = n + 1`, for a statement of its own."""
    new = f"{argument.text} = {argument.text} {node.token[:1]} 1"
    flow.emit(NAME, node.start, node.end, new, origins, f"`{node.text}` → `{new}`")
