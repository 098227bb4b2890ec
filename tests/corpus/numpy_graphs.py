"""What numpy computes of sizes, given to everything that takes a number, before and after symfix: values, and graphs.

    python tests/corpus/numpy_graphs.py [--every N]

Most of it is left as it is; what may be rewritten, eager says here, not the rule: what is rewritten has to give the
same, or raise the same kind of error, in 108 sizes, with warnings of numpy's taken for errors. Counted are the graphs
that `torch.compile` makes for 14 sizes with dynamic shapes, and whether one graph takes sizes that are not known while
tracing. With `--every N` graphs are made of each Nth. Needs torch and numpy.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from padding_graphs import function, graphs, rewrite, takes_unknown

HEAD = """import numpy as np
import torch
from torch import Tensor
@torch.compile
def f(x: Tensor, m: int, flag: bool):
    n, c = x.shape
"""
NUMBERS = (
    "np.prod(x.shape)", "np.prod(x.shape[1:])", "np.prod(x.shape[2:])", "np.prod((n, c), dtype=np.int64)",
    "np.prod([n, 2])", "np.prod((n, 0.5))", "np.ceil(n / m)", "np.floor(n / 3)", "np.round(n / m)", "np.sqrt(n)",
    "np.sqrt(n * c)", "np.sqrt(n + c - 1)", "np.sqrt(n - m)", "np.maximum(n, m)", "np.minimum(n, 2 * c)",
    "np.maximum(n, 1.5)", "np.log2(n)", "np.max((n, c))", "np.array(n)", "np.power(n, 2)", "np.mod(n, m)",
)  # fmt: skip
FORMS = (
    "    return x.new_zeros({0})\n",
    "    return x.new_zeros(int({0}))\n",
    "    return x.new_zeros(int({0} * m) + 1)\n",
    "    return x.new_zeros(1 + int(2.5 * {0} - 1))\n",
    "    return x * {0}\n",
    "    return x / {0} + x\n",
    "    return ({0} * 0.5) * x\n",
    "    return x * (1.0 / {0})\n",
    "    return x + 7 // {0}\n",
    "    return x + {0} / 2\n",
    "    return x + ({0} % m)\n",
    "    k = {0}\n    return x.reshape(-1)[:k]\n",
    "    k = int({0})\n    return torch.arange(k) + k\n",
    "    k = {0}\n    x = x + 1\n    return x.new_zeros((k, 2)) + k\n",
    "    k = {0}\n    return torch.full((2,), float(k))\n",
    "    k = {0}\n    return x * k, k\n",
    "    k = {0}\n    return x * k.item()\n",
    "    k = {0}\n    return x if isinstance(k, int) else -x\n",
    "    k = {0}\n    return x + 1 if k > m else x - 1\n",
    "    return x.reshape({0}, -1)\n",
    "    return x, {0} > m\n",
    "    k = max({0}, 1)\n    return x, k\n",
    "    k = max({0}, 1)\n    return x.new_zeros(k)\n",
    "    assert {0} >= 0 and not {0} < -m\n    return x.new_zeros(int({0}))\n",
    "    return str({0})\n",
)
SIZES = tuple(itertools.product((*range(9), 11, 12, 17), (1, 2, 3), (1, 2, 4)))


def run(function: Callable[..., Any], n: int, c: int, m: int) -> Any:
    """What a function gives, with its types, or the type of what it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            given = function(torch.arange(float(n * c)).view(n, c), m, False)
    except Exception as error:  # whatever it is
        return type(error)
    if isinstance(given, torch.Tensor):
        return str(given.dtype), tuple(given.shape), given.tolist()
    return [
        (type(part), getattr(part, "dtype", None), str(part)) for part in (given if type(given) is tuple else [given])
    ]


def sources(forms: Sequence[str] = FORMS) -> list[str]:
    """Every number in every form."""
    return [HEAD + form.format(number) for form in forms for number in NUMBERS]


def rewritten(forms: Sequence[str] = FORMS) -> list[tuple[str, str]]:
    """The functions of some forms that the rule changes, before and after."""
    return [(before, after) for before in sources(forms) if (after := rewrite(before)) != before]


def differs(before: str, after: str) -> str:
    """Where a rewritten function gives another thing than before, "" for nowhere.

    Of what numpy refuses with a warning, and of no sizes at all, whose product is no int of numpy's, nothing is asked.
    """
    old, new = function(before), function(after)
    for sizes in SIZES:
        wanted = run(old, *sizes)
        if run(new, *sizes) != wanted and wanted not in (RuntimeWarning, TypeError):
            return f"{sizes}: {wanted}, {run(new, *sizes)}:\n{after}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, metavar="N")
    every = parser.parse_args().every
    logging.disable(logging.ERROR)
    warnings.simplefilter("ignore")
    torch._dynamo.config.recompile_limit = 64
    pairs = rewritten()
    wrong = [shown for pair in pairs if (shown := differs(*pair))]
    print(*wrong, sep="\n")
    changed: Counter[str] = Counter()
    running = [pair for pair in pairs if not isinstance(run(function(pair[0]), 5, 3, 4), type)]
    for pair in running[::every]:
        before, after = map(graphs, pair)
        changed["fewer graphs" if after < before else "as many graphs" if after == before else "more graphs"] += 1
        took, takes = map(takes_unknown, pair)
        changed[f"{'takes' if takes else 'refuses'} unknown sizes, {'took' if took else 'refused'} them"] += 1
    print(f"{len(pairs)} of {len(sources())} rewritten, {len(wrong)} wrong; eager ran {len(running)} before")
    print(", ".join(f"{what}: {count}" for what, count in changed.most_common()))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
