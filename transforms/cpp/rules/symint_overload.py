"""Operators and helpers are called by the name that takes SymInts.

What it does: `x.view(s)` becomes `x.view_symint(s)`, `at::empty` becomes `at::empty_symint`, `at::topk_out` becomes
`at::topk_symint_out`, where an argument is symbolic and the version's native_functions.yaml gives that overload; the
symbolic twins of helpers (`infer_size_symint`, …) are looked up in its headers.

Why: the C++ API keeps SymInt arguments in a second function beside the concrete one.

Fix safety: safe. Both call the same operator.

References: torchgen/api/cpp.py (name), aten/src/ATen/native/native_functions.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import CalleeName, Replacement

NAME = "symint-overload"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EVENTS = (CalleeName,)
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


def rewrite(event: CalleeName) -> Iterator[Replacement]:
    """Replace the called name; template arguments stay."""
    end = event.name.start + len(event.old.encode())
    yield Replacement(event.name.start, end, event.new, f"`{event.old}` → `{event.new}`")
