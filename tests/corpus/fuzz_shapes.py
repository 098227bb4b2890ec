"""Functions drawn at random, rewritten, and run beside themselves in sizes that nothing was traced with.

    python tests/corpus/fuzz_shapes.py --functions 500 --seed 1 [--composite]

Each function is rewritten as a fake whose kernel is the function as it was, or with `--composite` as what an operator
is made of. In eager it has to give and raise the same. Compiled with every size unbacked it has to take what eager
takes, and to give the same. Printed is each function that does not, with the sizes; then how many there are of each:
left as they are, right, wrong, and rewritten but still not compiled. Needs torch.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from drawn_functions import HEAD, function
from torch._dynamo.decorators import mark_unbacked

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.transforms.python.conftest import apply

Shapes = tuple[tuple[int, ...], tuple[int, ...]]
_K = 3
_COUNT = itertools.count()
_LIMITS = {"recompile_limit": 10**6, "accumulated_recompile_limit": 10**6}
_COMPOSITE = "@register_decomposition(aten.foo)\n"
_OF_BROADCASTING = re.compile(r"\bM(?:in|ax)\(")
"""Compiled code refuses a size of 1 that it took for another, whatever the function was before."""


class Verdict(NamedTuple):
    """What became of a function: "left", "right", "wrong", "not compiled" or "takes none"; and where it shows."""

    kind: str
    shown: str = ""


def shapes() -> Iterator[Shapes]:
    """Shapes of x and y, those that broadcast and others."""
    for rows, columns in itertools.product((5, 0, 1, 2, 3, 4, 7, 9), (6, 0, 1, 2, 3)):
        others = [(rows, columns), (rows, 1), (1, columns), (columns,), (rows,), (1,), (0,), (columns, rows), (1, 1)]
        others += [(rows + 1, columns), (0, columns), (rows, 0), (columns, 4)]
        yield from (((rows, columns), other) for other in dict.fromkeys(others))


ALL = list(shapes())


def rewritten(source: str, composite: bool) -> str:
    """The function as symfix writes it at level review."""
    if composite:
        return apply(_COMPOSITE + source, path="torch/_refs/drawn.py").removeprefix(_COMPOSITE)
    return apply(source, path="library/fakes.py", home=None)


class Drawn:
    """Judges functions, each as an operator of its own."""

    def __init__(self, composite: bool) -> None:
        make: Any = torch.library.Library
        self._library = make("symfix_drawn_functions", "FRAGMENT")
        self._composite = composite

    def verdict(self, source: str) -> Verdict:
        """What becomes of a function."""
        new = rewritten(source, self._composite)
        if new == source:
            return Verdict("left")
        before, after = _function(source), _function(new)
        ends = {sizes: _end(before, sizes) for sizes in ALL}
        for sizes, end in ends.items():
            if not _same(end, changed := _end(after, sizes)):
                return Verdict("wrong", f"eager, {sizes}: {_shown(end)}, now {_shown(changed)}\n{new}")
        taken = [sizes for sizes in ALL if not isinstance(ends[sizes], str)]
        compiled = Counter[str]()
        for rank in (1, 2):
            of_rank = [sizes for sizes in taken if len(sizes[1]) == rank]
            traced = next((sizes for sizes in of_rank if min(map(min, sizes)) > 1), None)
            if traced is not None:
                with torch._dynamo.config.patch(_LIMITS):
                    compiled[self._compiled(before, after, traced, of_rank, ends)] += 1
        wrong = [shown for shown in compiled if shown not in ("", "not compiled")]
        if wrong:
            return Verdict("wrong", f"{wrong[0]}\n{new}")
        return Verdict("takes none") if not compiled else Verdict("right" if compiled[""] else "not compiled", new)

    def _compiled(self, before: Any, after: Any, traced: Shapes, taken: list[Shapes], ends: dict[Shapes, Any]) -> str:
        """What is wrong once compiled with one input; "" for nothing."""
        call = self._operator(before, after)
        torch.compiler.reset()
        compiled: Any = torch.compile(call, backend="aot_eager", fullgraph=True)
        try:
            compiled(*_inputs(traced, unbacked=True))
        except Exception:  # Dynamo raises many
            return "not compiled"
        for sizes in taken:
            expected = ends[sizes]
            try:
                result, shape = compiled(*_inputs(sizes))
            except RuntimeError as error:
                if not _OF_BROADCASTING.search(str(error)):
                    return f"{sizes}: refused: {str(error).splitlines()[0][:100]}"
                continue
            if shape != list(expected.shape) or not _same(expected, result):
                return f"{sizes}: {shape} for {list(expected.shape)}, or other values"
        return ""

    def _operator(self, before: Any, after: Any) -> Any:
        name = f"op{next(_COUNT)}"
        self._library.define(f"{name}(Tensor x, Tensor y, SymInt k) -> Tensor")
        if self._composite:
            self._library.impl(name, _copying(after), "CompositeImplicitAutograd")
        else:
            self._library.impl(name, _copying(before), "CPU")
            torch.library.register_fake(f"symfix_drawn_functions::{name}", after, lib=self._library)
        operator = getattr(torch.ops.symfix_drawn_functions, name)

        def call(x: Any, y: Any) -> Any:
            result = operator(x, y, _K)
            return result, list(result.shape)

        return call


def _function(source: str) -> Any:
    names: dict[str, Any] = {}
    exec(HEAD + source, names)
    return names["f"]


def _inputs(sizes: Shapes, unbacked: bool = False) -> list[Any]:
    torch.manual_seed(0)
    tensors = [torch.rand(shape) for shape in sizes]
    for tensor in tensors if unbacked else ():
        for dimension in range(tensor.dim()):
            mark_unbacked(tensor, dimension)
    return tensors


def _end(function: Any, sizes: Shapes) -> Any:
    """What a function gives, or as a text what it raises."""
    try:
        return function(*_inputs(sizes), _K)
    except Exception as error:  # whatever it is, the rewritten one has to raise it too
        return f"{type(error).__name__}: {error}"


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, str) or isinstance(second, str):
        return bool(type(first) is type(second) and first == second)
    return first.shape == second.shape and torch.allclose(first.float(), second.float(), equal_nan=True)


def _shown(end: Any) -> str:
    return end if isinstance(end, str) else f"a tensor of {list(end.shape)}"


def _copying(function: Any) -> Any:
    return lambda x, y, k: function(x.clone(), y.clone(), k).clone()


def main() -> None:
    """Draws, judges, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--composite", action="store_true")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    drawn, kinds = Drawn(options.composite), Counter[str]()
    for seed in range(options.seed, options.seed + options.functions):
        verdict = drawn.verdict(function(seed))
        kinds[verdict.kind] += 1
        if verdict.kind in ("wrong", "not compiled"):
            print(f"seed {seed}: {verdict.kind}: {verdict.shown}", flush=True)
    print(", ".join(f"{kind}: {count}" for kind, count in kinds.most_common()))


if __name__ == "__main__":
    main()
