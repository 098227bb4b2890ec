"""Schemas take SymInts where their kernels follow.

    - func: keep_rows(Tensor self, int rows) -> Tensor      - func: keep_rows(Tensor self, SymInt rows) -> Tensor
      variants: function                                      variants: function
                                                              dispatch:
                                                                CompositeImplicitAutograd: keep_rows_symint

    m.def("wrap(Tensor source, int rows) -> Tensor");       m.def("wrap(Tensor source, SymInt rows) -> Tensor");

It has no example of one source by itself: a schema changes only together with its kernels, which may be other files.

What it does: in PyTorch's own tree an `int` or `int[]` argument of a composite operator becomes `SymInt` or
`SymInt[]` in its functional, out and in-place schemas; the kernel is renamed to `…_symint`, takes `c10::SymInt` by
value or `c10::SymIntArrayRef`, and the yaml names it; derivatives.yaml follows, `x.sizes()` in a formula becomes
`x.sym_sizes()`, `std::vector<int64_t>(n, 0)` one of `c10::SymInt`. What formulas call stays where one of them gives it
another list of integers. Asked for by the schemas of `--vocabulary FILE` where that is another version's, and by the
tree's own formulas.

In a library, an argument of a schema in C++ (`m.def("ns::op(…)")`) changes where a size would come to it. What
follows: kernels under Meta, Autograd and composite keys, functions that call the operator through the dispatcher
(`typed<…>().call(…)`, `redispatch`), autograd functions and what they save in `ctx->saved_data`. Kernels of backends
stay as they are: the dispatcher takes SymInts apart for a kernel that has integers. Refused where a kernel is a
lambda, a template or not to be found, is of two operators, is boxed for the stable ABI (it has no SymInts), or is
given to something else besides, such as pybind11. All is one group.

Why: an argument that is `int` in the schema is turned into a constant before the kernel sees it.

Fix safety: review. A schema is part of the public interface. Callers from Python and TorchScript give integers as
before, and `typed<…>` with integers elsewhere goes on to make constants. C++ that calls a function whose signature
changes is to be built anew: an int64_t becomes a SymInt by itself, a list does not (`c10::fromIntArrayRefSlow`).
Dimensions and flags stay integers, and so does every argument whose kernels cannot follow.

References: aten/src/ATen/native/README.md, torchgen/api/types/signatures.py, tools/autograd/derivatives.yaml;
`unpackSymInt` in aten/src/ATen/core/boxing/KernelFunction_impl.h.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import Replacement
from transforms.cpp.flow.settled import SymbolicArgument, SymbolicDerivative, SymbolicDispatch, SymbolicSchema
from transforms.cpp.reach.vocabulary import symint_name
from transforms.cpp.reading.lines import Lines

NAME = "schema-symint"
MODE = Mode.DIRECT_THROW
LEVEL = Level.REVIEW
EVENTS = (SymbolicSchema, SymbolicDispatch, SymbolicDerivative, SymbolicArgument)
EXAMPLES: tuple[Example, ...] = ()

_AFTER_ENTRY = re.compile(rb"^(?:- |#|\s*$)", re.M)
_DISPATCH = re.compile(rb"^  dispatch:", re.M)
_EXCERPT = 100
Change = tuple[int, int, str]
"""(start, end, new text) in a yaml file."""


def rewrite(event: SymbolicSchema | SymbolicDispatch | SymbolicDerivative | SymbolicArgument) -> Iterator[Replacement]:
    """Change one entry: the type of an argument, the names of kernels, or the accessors in formulas."""
    if isinstance(event, SymbolicArgument):
        yield Replacement(event.start, event.end, "SymInt", f"the schema of {event.operator}: `int` → `SymInt`")
        return
    start, end = _entry(event.lines, event.line)
    source = event.lines.source
    if isinstance(event, SymbolicSchema):
        changes = _argument(source, start, end, event.argument)
    elif isinstance(event, SymbolicDispatch):
        changes = _kernels(source, start, end, event.kernels)
    else:
        changes = _accessors(source, start, end, event.accessor)
    for first, last, new in changes:
        yield Replacement(first, last, new, f"`{event.lines.text(first)[:_EXCERPT]}`")


def _entry(lines: Lines, line: int) -> tuple[int, int]:
    """The byte span of the entry that begins on `line`."""
    start = lines.starts[line - 1]
    following = _AFTER_ENTRY.search(lines.source, lines.source.index(b"\n", start) + 1)
    return start, following.start() if following is not None else len(lines.source)


def _argument(source: bytes, start: int, end: int, name: str) -> Iterator[Change]:
    stop = source.index(b"\n", start)
    pattern = re.compile(rb"(?<=[(,\s])int(?=(?:\[\d*\])?\??\s+%s\b)" % re.escape(name.encode()))
    for match in pattern.finditer(source, start, min(stop, end)):
        yield match.start(), match.end(), "SymInt"


def _kernels(source: bytes, start: int, end: int, kernels: Iterable[str]) -> Iterator[Change]:
    table = _DISPATCH.search(source, start, end)
    for kernel in kernels:
        if table is None:
            added = f"  dispatch:\n    CompositeImplicitAutograd: {symint_name(kernel)}\n"
            yield end, end, added if source[end - 1 : end] == b"\n" else f"\n{added}"
            continue
        pattern = re.compile(rb"(?<=: )%s(?=\s*(?:#.*)?$)" % re.escape(kernel.encode()), re.M)
        for match in pattern.finditer(source[start:end]):
            yield start + match.start(), start + match.end(), symint_name(kernel)


def _accessors(source: bytes, start: int, end: int, accessor: str) -> Iterator[Change]:
    pattern = re.compile(rb"(?<!\w)" + re.escape(accessor.encode()))
    for match in pattern.finditer(source, start, end):
        if (made := source.find(b"<int64_t>", match.start(), match.end())) >= 0:
            yield made + 1, made + 8, "c10::SymInt"
            continue
        dot = source.index(b".", match.start()) + 1
        yield dot, dot, "sym_"
