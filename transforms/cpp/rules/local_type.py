"""Declared types follow the symbolic values stored in them.

What it does: `int64_t` becomes `c10::SymInt`, `IntArrayRef` becomes `c10::SymIntArrayRef`, `DimVector`,
`std::vector<int64_t>`, `SmallVector`, `SmallBuffer` and optionals of them likewise: for locals, temporaries, range-for
variables and lambdas. `auto` stays `auto`.

Why: a SymInt never converts to an integer, so the whole chain behind an accessor has to change with it.

Fix safety: safe. A SymInt that holds a plain integer computes like an int64_t.

References: c10/core/SymInt.h, c10/core/SymIntArrayRef.h.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import Replacement, StoredType

NAME = "local-type"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EVENTS = (StoredType,)
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { int64_t n = x.size(0); return x.expand({n, 3}); }",
        "Tensor f(const Tensor& x) { c10::SymInt n = x.sym_size(0); return x.expand_symint({n, 3}); }",
    ),
    Example(
        "Tensor f(const Tensor& x) { std::vector<int64_t> s(x.dim(), 1); s[0] = x.size(0); return x.reshape(s); }",
        "Tensor f(const Tensor& x) { std::vector<c10::SymInt> s(x.dim(), 1); s[0] = x.sym_size(0); return "
        "x.reshape_symint(s); }",
    ),
    Example(
        "Tensor f(const Tensor& x) { size_t n = x.numel(); return x.reshape({(int64_t)n}); }",
        None,
        "an unsigned integer has no symbolic twin",
    ),
)


def rewrite(event: StoredType) -> Iterator[Replacement]:
    """Replace a type as written."""
    spelled, twin = event.spelled, event.twin
    if twin != spelled.text:
        yield Replacement(spelled.start, spelled.end, twin, f"`{spelled.text}` → `{twin}`")
