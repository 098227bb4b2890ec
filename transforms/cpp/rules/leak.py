"""A size goes where only an integer can: Mode 4.

What it does: names the accessor that stays concrete and the sink that holds it back: a loop bound, a subscript, pointer
arithmetic, `parallel_for`, a callee that takes an integer, an unsigned variable, a member, code that cannot be parsed,
or that is a template's and not read.
It names functions that look as if symbols came through as well: composite kernels that read memory, what forward-mode
derivatives alone call, and composite operators that only the backward formulas of operators call which nothing traces.
Nothing is edited.

Why: once the accessor is symbolic, a SymInt would flow into code that needs an `int64_t`. Turning it back with
`guard_int` would only specialise silently; the code has to be restructured or decomposed.

Fix safety: manual.

References: c10/core/SymInt.h (guard_int), aten/src/ATen/native/README.md.
"""

from __future__ import annotations

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example

NAME = "leak"
MODE = Mode.LEAK
LEVEL = Level.MANUAL
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { for (int64_t i = 0; i < x.size(0); i++) {} return x; }",
        None,
        "a loop needs an integer bound",
    ),
    Example("Tensor f(const Tensor& x) { size_t n = x.numel(); return x.sum(n); }", None, "SymInts are signed"),
)
