"""What an autograd function saves of its sizes is read as SymInts.

What it does: where the forward of a torch::autograd::Function saves a symbolic size as `ctx->saved_data["n"]`, its
backward reads it with `toSymInt()` in place of `toInt()`; lists with `toSymIntVector()` and `toSymIntList()`, as far as
the version has them. The forward is left as it is: an IValue takes SymInts as it takes integers.

Why: `toInt()` of a symbolic size is a guard, which makes a constant of it.

Fix safety: review. Whatever reads the same name elsewhere, in code that is not seen, guards as before.

References: aten/src/ATen/core/ivalue.h; torchvision's roi_align and FBGEMM's jagged tensors went this way.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import Replacement, SavedRead
from transforms.cpp.flow.saved import symbolic_read

NAME = "saved-data"
MODE = Mode.LEAK
LEVEL = Level.REVIEW
EVENTS = (SavedRead,)
_CLASS = """\
struct Keep : torch::autograd::Function<Keep> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) { ctx->saved_data["n"] = x.%ssize(0); return x; }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0].narrow%s(0, 0, ctx->saved_data["n"].%s())};
  }
};"""
EXAMPLES = (
    Example(_CLASS % ("", "", "toInt"), _CLASS % ("sym_", "_symint", "toSymInt")),
    Example(
        """\
struct Keep : torch::autograd::Function<Keep> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) { ctx->saved_data["n"] = x.size(0); return x; }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0].unfold(0, ctx->saved_data["n"].toInt(), 1)};
  }
};""",
        None,
        "the backward gives it to an operator that takes integers",
    ),
)


def rewrite(event: SavedRead) -> Iterator[Replacement]:
    """Replace the name of the method."""
    new = symbolic_read(event.old)
    yield Replacement(event.method.start, event.method.end, new, f"`{event.old}` → `{new}`")
