"""Operators and helpers are called by the name that takes SymInts.

What it does: `x.view(s)` becomes `x.view_symint(s)`, `at::empty` becomes `at::empty_symint`, `at::topk_out` becomes
`at::topk_symint_out`, where an argument is symbolic and the version's native_functions.yaml gives that overload; the
symbolic twins of helpers (`infer_size_symint`, …) are looked up in its headers. A helper that asks a Tensor for a size
and returns it as an integer stops a symbolic tensor as an accessor does: where the tree has a twin of it that returns a
SymInt, a call whose value can follow is one of the twin.

Why: the C++ API keeps SymInt arguments in a second function beside the concrete one.

Fix safety: safe. Both call the same operator.

References: torchgen/api/cpp.py (name), aten/src/ATen/native/native_functions.yaml,
aten/src/ATen/functorch/BatchRulesHelper.h (`get_bdim_size2_symint`).
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
        "inline int64_t width(const Tensor& x) { return x.size(0); }\n"
        "inline c10::SymInt width_symint(const Tensor& x) { return x.sym_size(0); }\n"
        "Tensor f(const Tensor& x) { return x.narrow(0, 0, width(x)); }",
        "inline int64_t width(const Tensor& x) { return x.size(0); }\n"
        "inline c10::SymInt width_symint(const Tensor& x) { return x.sym_size(0); }\n"
        "Tensor f(const Tensor& x) { return x.narrow_symint(0, 0, width_symint(x)); }",
    ),
    Example(
        "inline int64_t width(const Tensor& x) { return x.size(0); }\n"
        "inline c10::SymInt width_symint(const Tensor& x) { return x.sym_size(0); }\n"
        "Tensor f(const Tensor& x) { for (int64_t i = 0; i < width(x); i++) {} return x; }",
        None,
        "the value counts a loop",
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
