"""Helpers that backends and symbolic code share gain a symbolic twin.

What it does: where a symbolic value is passed to a helper of the tree that takes `int64_t` or `IntArrayRef`, or is
returned by it, and the helper has to stay as it is, for others give it integers, count with what it returns or take
its address, a twin called `…_symint` is written behind it, with SymInts where symbolic values go, and one behind each
of its declarations. Callers whose values can follow call the twin; the others are left alone. The twin is a copy of the
helper with the edits that its body needs, so it is written only where the whole body converts and is shorter than forty
lines. Where it returns a tuple, the parts that are sizes are symbolic. No twin is written of kernels, methods,
templates and constexpr functions, nor of a function that is defined more than once: a build may have the other body.

Why: a helper that CUDA kernels call with integers cannot take SymInts, and a function that tracing runs cannot call it.

Fix safety: review. The helper has two bodies then; a template over int64_t and c10::SymInt may be what you want.

References: aten/src/ATen/functorch/BatchRulesHelper.h (`get_bdim_size2` and `get_bdim_size2_symint`),
aten/src/ATen/ExpandUtils.h (`infer_size` and `infer_size_symint`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import Replacement
from transforms.cpp.flow.settled import HelperTwin

_BEFORE = re.compile(rb"[ \t\w]*\Z")
"""What may stand before a helper on its line: white space, and macros such as TORCH_API."""
NAME = "shared-helper"
MODE = Mode.DIRECT_THROW
LEVEL = Level.REVIEW
EVENTS = (HelperTwin,)
EXAMPLES = (
    Example(
        "static int64_t twice(int64_t n) { return 2 * n; }\n"
        "Tensor f(const Tensor& x) { return x.narrow(0, 0, twice(x.size(0))); }\n"
        "Tensor g(const Tensor& x) { for (int64_t i = 0; i < twice(x.size(0)); i++) {} return x; }",
        "static int64_t twice(int64_t n) { return 2 * n; }\n\n"
        "static c10::SymInt twice_symint(c10::SymInt n) { return 2 * n; }\n"
        "Tensor f(const Tensor& x) { return x.narrow_symint(0, 0, twice_symint(x.sym_size(0))); }\n"
        "Tensor g(const Tensor& x) { for (int64_t i = 0; i < twice(x.size(0)); i++) {} return x; }",
    ),
    Example(
        "static int64_t count(int64_t n) { int64_t c = 0; for (int64_t i = 0; i < n; i++) c++; return c; }\n"
        "Tensor f(const Tensor& x) { return x.narrow(0, 0, count(x.size(0))); }\n"
        "Tensor g(const Tensor& x) { for (int64_t i = 0; i < count(x.size(0)); i++) {} return x; }",
        None,
        "the helper's body loops over its argument",
    ),
)


def rewrite(event: HelperTwin) -> Iterator[Replacement]:
    """Write the twin behind the helper, at its indentation."""
    named = (event.named.end - len(event.function.encode()), event.named.end, event.name)
    text, end = b"", event.end
    for start, stop, new in sorted((*event.changes, named), reverse=True):
        text = new.encode("utf-8", "surrogateescape") + event.lines.source[stop:end] + text
        end = start
    text = event.lines.source[event.start : end] + text
    first = event.lines.source.rfind(b"\n", 0, event.start) + 1
    before = _BEFORE.match(event.lines.source, first, event.start)
    new = (b"\n\n" + (before[0] if before is not None else b"") + text).decode("utf-8", "surrogateescape")
    yield Replacement(event.end, event.end, new, f"`{event.function}` gains the twin `{event.name}`")
