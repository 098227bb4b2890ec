"""Helpers take and return SymInts where their callers have them.

What it does: where a symbolic value is passed to a helper function of the tree that takes `int64_t` or `IntArrayRef`,
and the helper's own body can follow, the parameter becomes `c10::SymInt` (by value) or `c10::SymIntArrayRef`, in the
definition and in every declaration; a returned value likewise, and each part of a returned tuple by itself. All callers
in the tree are checked: one that cannot give or take the symbolic type keeps the helper as it is, and one that passes a
parameter of its own on is a helper itself. Where a function is defined more than once, in branches of `#if` or in files
of which a build takes one, all its definitions change or none does. What a reference is bound to that the helper
writes through changes with it.
Where a kernel gains the name `…_symint`, registrations that name it follow, a macro such as functorch's OP_DECOMPOSE
being expanded there.

Why: the chain behind an accessor goes on into the helper; the helper is where it otherwise throws.

Fix safety: review. A signature changes, which code outside the tree may depend on. A helper keeps its own where it is
named without being called (in a table, for pybind11, as a template's argument), where an overload could be chosen in
its place, where it is constexpr, and where a file that declares it includes nothing of torch: it gains a twin, or
stays. A template is called with sizes where its body is written for SymInt, or is made of sums and products alone.

References: aten/src/ATen/ExpandUtils.h and aten/src/ATen/functorch/BatchRulesHelper.h went this way.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import Replacement
from transforms.cpp.flow.settled import RegisteredKernel, SettledSignature, SymbolicKernel
from transforms.cpp.reading.types import symbolic_spelling

NAME = "helper-signature"
MODE = Mode.DIRECT_THROW
LEVEL = Level.REVIEW
EVENTS = (SettledSignature, SymbolicKernel, RegisteredKernel)
EXAMPLES = (
    Example(
        "static Tensor keep(const Tensor& x, int64_t n) { return x.narrow(0, 0, n); }\n"
        "Tensor f(const Tensor& x) { return keep(x, x.size(0)); }",
        "static Tensor keep(const Tensor& x, c10::SymInt n) { return x.narrow_symint(0, 0, n); }\n"
        "Tensor f(const Tensor& x) { return keep(x, x.sym_size(0)); }",
    ),
    Example(
        "static int64_t twice(int64_t n) { for (int64_t i = 0; i < n; i++) {} return 2 * n; }\n"
        "Tensor f(const Tensor& x) { return x.narrow(0, 0, twice(x.size(0))); }",
        None,
        "the helper loops over its argument",
    ),
)


def rewrite(event: SettledSignature | SymbolicKernel | RegisteredKernel) -> Iterator[Replacement]:
    """Replace the types of a signature, where every one has a symbolic twin, or the name of a kernel."""
    if isinstance(event, RegisteredKernel):
        yield Replacement(event.start, event.end, event.new, f"`{event.old}` is registered as `{event.new}`")
        return
    if isinstance(event, SymbolicKernel):
        start = event.name.end - len(event.old.encode())
        yield Replacement(start, event.name.end, event.new, f"`{event.old}` → `{event.new}`")
        return
    replacements = []
    for spelled in event.types:
        twin = symbolic_spelling(spelled.text)
        if twin is None:
            return
        message = f"`{event.function}`: `{spelled.text}` → `{twin}`"
        replacements.append(Replacement(spelled.start, spelled.end, twin, message))
    yield from replacements
