"""Schemas take SymInts where their kernels follow.

    - func: keep_rows(Tensor self, int rows) -> Tensor      - func: keep_rows(Tensor self, SymInt rows) -> Tensor
      variants: function                                      variants: function
                                                              dispatch:
                                                                CompositeImplicitAutograd: keep_rows_symint

What it does: an `int` or `int[]` argument of a composite operator becomes `SymInt` or `SymInt[]` in its functional,
out and in-place schemas; the kernel is renamed to `…_symint`, takes `c10::SymInt` by value or `c10::SymIntArrayRef`,
and the yaml names it; derivatives.yaml follows, `x.sizes()` in a formula becomes `x.sym_sizes()`. All is one group.
Asked for by the schemas of `--vocabulary FILE` where that is another version's, and by the tree's own formulas.

Why: an argument that is `int` in the schema is turned into a constant before the kernel sees it.

Fix safety: review. A schema is part of the public interface. Dimensions and flags stay integers, and so does every
argument whose kernel cannot follow.

References: aten/src/ATen/native/README.md, torchgen/api/types/signatures.py, tools/autograd/derivatives.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.reach.schemas import Family

NAME = "schema-symint"
MODE = Mode.DIRECT_THROW
LEVEL = Level.REVIEW
EXAMPLES: tuple[Example, ...] = ()

Change = tuple[int, int, bytes]
"""(start, end, new bytes) in a yaml file."""


def _blocks(source: bytes, line: int) -> tuple[int, int]:
    """The byte span of the entry that begins on `line`."""
    start = 0
    for _ in range(line - 1):
        start = source.index(b"\n", start) + 1
    following = re.compile(rb"^(?:- |#|\s*$)", re.M).search(source, source.index(b"\n", start) + 1)
    return start, following.start() if following is not None else len(source)


def _argument(source: bytes, start: int, end: int, name: str) -> Iterator[Change]:
    stop = source.index(b"\n", start)
    pattern = re.compile(rb"(?<=[(,\s])int(?=(?:\[\d*\])?\??\s+%s\b)" % re.escape(name.encode()))
    for match in pattern.finditer(source, start, min(stop, end)):
        yield match.start(), match.end(), b"SymInt"


def rewrite_native_functions(source: bytes, family: Family, kernels: frozenset[str]) -> Iterator[Change]:
    """The argument's type in every schema of the family, and the kernels' new names."""
    for entry in family.entries:
        start, end = _blocks(source, entry.line)
        yield from _argument(source, start, end, family.argument)
        names = sorted({kernel for _, kernel in entry.dispatch if kernel.rpartition("::")[2] in kernels})
        table = re.compile(rb"^  dispatch:", re.M).search(source, start, end)
        for kernel in names:
            if table is None:
                line = b"  dispatch:\n    CompositeImplicitAutograd: %s_symint\n" % kernel.encode()
                yield end, end, line if source[end - 1 : end] == b"\n" else b"\n" + line
                continue
            for match in re.finditer(
                rb"(?<=: )%s(?=\s*(?:#.*)?$)" % re.escape(kernel.encode()), source[start:end], re.M
            ):
                yield start + match.end(), start + match.end(), b"_symint"


def rewrite_derivatives(source: bytes, family: Family) -> Iterator[Change]:
    """The argument's type in the entries' schemas, and accessors in formulas."""
    for derivative in family.derivatives:
        start, end = _blocks(source, derivative.line)
        yield from _argument(source, start, end, family.argument)
    for derivative, accessor in family.accessors:
        start, end = _blocks(source, derivative.line)
        pattern = re.compile(rb"(?<!\w)" + re.escape(accessor.encode()))
        for match in pattern.finditer(source, start, end):
            dot = source.index(b".", match.start()) + 1
            yield dot, dot, b"sym_"
