"""A concrete sequence among symbolic ones is passed as SymInts.

What it does: where one argument of a call became symbolic and another is an `IntArrayRef` that stays concrete, the
latter is wrapped in `c10::fromIntArrayRefSlow`.

Why: an IntArrayRef never converts to a SymIntArrayRef.

Fix safety: safe. The wrapped array holds the same numbers.

References: c10/core/SymIntArrayRef.h.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import Replacement, SequenceArgument

NAME = "concrete-sequence"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EVENTS = (SequenceArgument,)
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x, IntArrayRef strides) { return x.as_strided(x.sizes(), strides); }",
        "Tensor f(const Tensor& x, IntArrayRef strides) { return x.as_strided_symint(x.sym_sizes(), "
        "c10::fromIntArrayRefSlow(strides)); }",
    ),
)


def rewrite(event: SequenceArgument) -> Iterator[Replacement]:
    """Wrap the argument."""
    argument = event.argument
    message = f"`{argument.excerpt}` beside a symbolic sequence"
    yield Replacement(argument.start, argument.start, "c10::fromIntArrayRefSlow(", message)
    yield Replacement(argument.end, argument.end, ")", message)
