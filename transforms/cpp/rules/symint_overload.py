"""Operators and helpers are called by the name that takes SymInts.

What it does: `x.view(s)` becomes `x.view_symint(s)`, `at::empty` becomes `at::empty_symint`, `at::topk_out` becomes
`at::topk_symint_out`, where an argument is symbolic and the version's native_functions.yaml gives that overload; the
symbolic twins of helpers (`infer_size_symint`, …) are looked up in its headers.

Why: the C++ API keeps SymInt arguments in a second function beside the concrete one.

Fix safety: safe. Both call the same operator.

References: torchgen/api/cpp.py (name), aten/src/ATen/native/native_functions.yaml.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example

if TYPE_CHECKING:
    from transforms.cpp.flow.engine import Flow
    from transforms.cpp.reading.tree import Node

NAME = "symint-overload"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { return at::empty(x.sizes(), x.options()); }",
        "Tensor f(const Tensor& x) { return at::empty_symint(x.sym_sizes(), x.options()); }",
    ),
    Example(
        "Tensor f(const Tensor& x) { return x.unfold(0, x.size(0), 1); }",
        None,
        "`unfold` takes `int` in its schema",
    ),
)


def rewrite(flow: Flow, name: Node, old: str, new: str, origins: frozenset[int] | None) -> None:
    """Replace the called name; template arguments stay."""
    flow.emit(NAME, name.start, name.start + len(old.encode()), new, origins, f"`{old}` → `{new}`")
