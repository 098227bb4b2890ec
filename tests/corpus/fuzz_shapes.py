"""Functions drawn at random, rewritten, and run beside themselves in sizes that nothing was traced with.

    python tests/corpus/fuzz_shapes.py --functions 500 --seed 1 [--composite | --library] [--numbers | --checks]

Each function is rewritten as a fake whose kernel is the function as it was, with `--composite` as what an operator is
made of, or with `--library` as what eager runs and Dynamo traces. In eager it has to give and raise the same. Compiled
with every size unbacked it has to take what eager takes, and to give the same. Printed is each function that does not,
with the sizes; then how many there are of each: left as they are, right, wrong, and rewritten but still not compiled.
Needs torch.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import drawn_functions
import drawn_numbers
import torch
from corpus_drawn import ALL, Call, K, compiled_differs, eager_differs, end, takes_any
from drawn_functions import HEAD

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.transforms.python.conftest import apply

_COUNT = itertools.count()
FORMS = ("fake", "composite", "library")
_COMPOSITE = "@register_decomposition(aten.foo)\n"


class Verdict(NamedTuple):
    """What became of a function: "left", "right", "wrong", "not compiled" or "takes none"; and where it shows."""

    kind: str
    shown: str = ""


def rewritten(source: str, form: str) -> str:
    """The function as symfix writes it at level review."""
    if form == "composite":
        return apply(_COMPOSITE + source, path="torch/_refs/drawn.py").removeprefix(_COMPOSITE)
    if form == "library":
        return apply(source, path="library/model.py", inlined=True, eager=True, home=None)
    return apply(source, path="library/fakes.py", home=None)


class Drawn:
    """Judges functions, each as an operator of its own; of a library each as it is. `form` is one of FORMS."""

    def __init__(self, form: str) -> None:
        make: Any = torch.library.Library
        self._library = make("symfix_drawn_functions", "FRAGMENT")
        self._form = form

    def verdict(self, source: str) -> Verdict:
        """What becomes of a function."""
        new = rewritten(source, self._form)
        if new == source:
            return Verdict("left")
        before, after = _function(source), _function(new)
        ends = {sizes: end(before, sizes) for sizes in ALL}
        if shown := eager_differs(ends, after):
            return Verdict("wrong", f"{shown}\n{new}")
        if not takes_any(ends):
            return Verdict("takes none")
        compiles, shown = compiled_differs(ends, self._operator(before, after))
        kind = "not compiled" if not compiles else "wrong" if shown else "right"
        return Verdict(kind, f"{shown}\n{new}")

    def _operator(self, before: Call, after: Call) -> Call:
        if self._form == "library":
            return after
        name = f"op{next(_COUNT)}"
        self._library.define(f"{name}(Tensor x, Tensor y) -> Tensor")
        if self._form == "composite":
            self._library.impl(name, _copying(after), "CompositeImplicitAutograd")
        else:
            self._library.impl(name, _copying(before), "CPU")
            torch.library.register_fake(f"symfix_drawn_functions::{name}", after, lib=self._library)
        operator: Call = getattr(torch.ops.symfix_drawn_functions, name)
        return operator


def _function(source: str) -> Call:
    names: dict[str, Any] = {}
    exec(HEAD + source, names)
    given = names["f"]
    return lambda x, y: given(x, y, K)


def _copying(given: Call) -> Call:
    return lambda x, y: given(x.clone(), y.clone()).clone()


def main() -> None:
    """Draws, judges, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    form = parser.add_mutually_exclusive_group()
    for name in FORMS[1:]:
        form.add_argument(f"--{name}", action="store_const", const=name, default=FORMS[0], dest="form")
    family = parser.add_mutually_exclusive_group()
    family.add_argument("--numbers", action="store_true", help="functions that compute with sizes, not of branches")
    family.add_argument("--checks", action="store_true", help="functions that check sizes behind a shortcut")
    options = parser.parse_args()
    logging.disable(logging.ERROR)
    torch.set_num_threads(1)
    drawn, kinds = Drawn(options.form), Counter[str]()
    draw = drawn_functions.checked if options.checks else drawn_functions.function
    draw = drawn_numbers.function if options.numbers else draw
    for seed in range(options.seed, options.seed + options.functions):
        verdict = drawn.verdict(draw(seed))
        kinds[verdict.kind] += 1
        if verdict.kind in ("wrong", "not compiled"):
            print(f"seed {seed}: {verdict.kind}: {verdict.shown}", flush=True)
    print(", ".join(f"{kind}: {count}" for kind, count in kinds.most_common()))


if __name__ == "__main__":
    main()
