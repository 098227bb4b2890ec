"""Branches that pad or cut, with every amount under every condition, before and after symfix: values, and graphs.

    python tests/corpus/padding_graphs.py [--every N]

Most of them are wrong to rewrite; which ones are, torch says here, not the rule. What is rewritten has to give in
eager, and on the way that is compiled, what it gave before, in 360 sizes. Counted are the graphs that `torch.compile`
makes for 14 sizes with dynamic shapes, and whether one graph takes sizes that are not known while tracing. With
`--every N` graphs are made of each Nth. Needs torch.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch._dynamo.decorators import mark_unbacked
from torch._dynamo.testing import CompileCounterWithBackend

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.transforms.python.conftest import apply

HEAD = """import torch
import torch.nn.functional as F
from torch import Tensor
@torch.compile
def f(x: Tensor, m: int, flag: bool):
    n, c = x.shape
    rest = n % m
    pad = -n % m
    missing = m - n
"""
CONDITIONS = (
    "pad > 0", "pad", "not pad == 0", "pad != 0 or c % 2 == 1", "rest", "rest > 1", "n % m != 0", "n % 2 == 1",
    "n % 3 == 1", "n % 3 == 2", "n < m", "missing >= 0", "n != m", "flag and pad", "flag or pad", "pad and c % 2",
    "missing > 0 or rest", "n >= m", "0 < missing < 3",
)  # fmt: skip
AMOUNTS = (
    "pad", "m - rest", "rest", "missing", "m - n % m", "1", "n % 2", "c % 2", "pad + 1", "max(missing, 0)",
    "pad * (c % 2)", "n - m", "2 - n % 2", "(n % 3) // 2",
)  # fmt: skip
FORMS = (
    "    if {0}:\n        x = F.pad(x, (0, 0, 0, {1}))\n    return x + 1\n",
    "    if {0}:\n        y = F.pad(x, (0, {1}), value=2.0)\n    else:\n        y = x\n    return y + 1\n",
    "    return (x if not ({0}) else F.pad(x, ({1}, 0))) + 1\n",
    "    y = x\n    if {0}:\n        y = F.pad(x, (0, {1}))\n    return y + x.sum()\n",
    "    if (k := {1}) > 0:\n        x = F.pad(x, (0, 0, 0, k))\n    return x + k\n",
    "    if (k := {1}) and {0}:\n        x = F.pad(x, (0, k))\n    return x + k\n",
    "    k = 0\n    if {0}:\n        k = {1}\n        x = F.pad(x, (0, 0, 0, k))\n    return x + k\n",
    "    if {0}:\n        x = torch.cat([x, x.new_ones({1}, c)])\n    return x + 1\n",
    "    k = {1}\n    if {0}:\n        x = torch.cat((torch.full((n, k), 2.0).to(x), x), dim=1)\n    return x + 1\n",
    "    if {0}:\n        x = x[:-({1})]\n    return x + 1\n",
    "    return (x[..., : -({1})].contiguous() if {0} else x) + 1\n",
    "    if {0}:\n        k = {1}\n        x = F.pad(x, (0, 0, 0, k))\n        n = n + k\n    return x[: n + 1] * n\n",
    "    if {0}:\n        x = F.pad(x, ({1}, 0))\n        c += {1}\n    return x * c + n\n",
    "    y = x * 2\n    if {0}:\n        x, y = (F.pad(t, (0, {1})) for t in (x, y))\n    return torch.cat((x, y))\n",
    "    y = x * 2\n    if {0}:\n        x, y = map(lambda t: F.pad(t, (0, 0, {1}, 0)), (x, y))\n    return x - y\n",
    "    if {0}:\n        return F.pad(x, (0, {1}))\n    return x\n",
    "    if not ({0}):\n        return x\n    return F.pad(x, (0, 0, {1}, {1}))\n",
    "    x = x[1:]\n    k = m - x.size(0) % m\n    if {0}:\n        x = x[: -({1})]\n    return x * k\n",
)
LENGTHS = (
    "    if {0}:\n        x = F.pad(x, (0, 0, 0, {1}))\n    else:\n        x = x[:m]\n    return x + 1\n",
    "    if n > m:\n        x = x[:m]\n    elif {0}:\n        x = F.pad(x, (0, 0, 0, {1}))\n    return x + 1\n",
    "    if {0}:\n        return F.pad(x, (0, 0, {1}, 0))\n    return x[:m]\n",
    "    if {0}:\n        x = F.pad(x, (0, 0, 0, {1}))\n    elif n > m:\n        x = x[:m, :]\n    return x.sum(0)\n",
    "    if {0}:\n        x = F.pad(x, (0, 0, {1}, 0))\n    else:\n        x = x[-m:].contiguous()\n    return x + 1\n",
    "    if n >= m:\n        return x[-m:, :].contiguous()\n    return F.pad(x, (0, 0, {1}, 0)).contiguous()\n",
    "    if n >= m:\n        x = x[: m + c]\n    elif {0}:\n        x = F.pad(x, (0, 0, 0, {1}))\n    return x + 1\n",
)
SIZES = tuple(itertools.product(range(1, 10), (2, 3), (1, 2, 3, 4, 7), (False, True)))


def run(function: Callable[..., Any], n: int, c: int, m: int, flag: bool) -> Any:
    """What a function gives, or the type of what it raises: some amounts cut off more than there is."""
    try:
        return function(torch.arange(float(n * c)).view(n, c), m, flag)
    except RuntimeError as error:
        return type(error)


def same(first: Any, second: Any) -> bool:
    """Whether two outcomes of `run` are the same."""
    if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor):
        return bool(torch.equal(first, second))
    return first is second


def function(source: str, compiling: bool = False) -> Callable[..., Any]:
    """The function of a source as eager runs it, or as it is where it is compiled."""
    names: dict[str, Any] = {}
    exec(source.replace("@torch.compile\n", "").replace("torch.compiler.is_compiling()", str(compiling)), names)
    return names["f"]  # type: ignore[no-any-return]


def rewrite(source: str) -> str:
    """The function as symfix writes it at level review, as if it were a library's."""
    return apply(source, home=None)


def sources(forms: Sequence[str] = (*FORMS, *LENGTHS), amounts: Sequence[str] = AMOUNTS) -> list[str]:
    """Every condition with every amount in every form, each function once."""
    pairs = list(itertools.product(CONDITIONS, amounts))
    return list(dict.fromkeys(HEAD + form.format(*pair) for form in forms for pair in pairs))


def rewritten(functions: Sequence[str]) -> list[tuple[str, str]]:
    """Those of some functions that the rules change, before and after."""
    changed = [(source, rewrite(source)) for source in functions]
    return [(before, after) for before, after in changed if "is_compiling()" in after]


def differs(before: str, after: str) -> str:
    """Where a rewritten function gives another thing than before, "" for nowhere."""
    old, ways = function(before), (function(after), function(after, compiling=True))
    for sizes in SIZES:
        wanted = run(old, *sizes)
        if not all(same(run(way, *sizes), wanted) for way in ways):
            return f"{sizes}:\n{after}"
    return ""


def graphs(source: str) -> int:
    """How many graphs a function needs for 14 sizes, but for those that eager refuses, compiled with dynamic shapes.

    AOTAutograd asks for more than Dynamo does, of a tensor that may be empty: all backends that are used run it.
    """
    plain, counter = _as_compiled(source), CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(plain, backend=counter, dynamic=True)
    for n, m in itertools.product((4, 5, 6, 8, 9, 3, 12), (4, 3)):
        wanted = run(plain, n, 3, m, True)
        if isinstance(wanted, torch.Tensor):
            assert same(run(compiled, n, 3, m, True), wanted), source
    return counter.frame_count


def takes_unknown(source: str) -> bool:
    """Whether one graph serves numbers of rows that are not known, and gives what eager gives where that raises not."""
    plain = _as_compiled(source)
    compiled = torch.compile(plain, backend="aot_eager", fullgraph=True)
    for n in (5, 4, 6, 8, 9):
        rows = torch.arange(float(n * 3)).view(n, 3)
        mark_unbacked(rows, 0)
        wanted = run(plain, n, 3, 4, True)
        try:
            given = compiled(rows, 4, True)
        except (RuntimeError, AssertionError):
            if isinstance(wanted, torch.Tensor):
                return False
        else:
            assert same(given, wanted), source
    return True


def _as_compiled(source: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(source.replace("@torch.compile\n", ""), names)
    torch._dynamo.reset()
    return names["f"]  # type: ignore[no-any-return]


_UNKNOWN = {1: "takes unknown sizes, before not", 0: "takes as before", -1: "takes them no longer"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, metavar="N")
    every = parser.parse_args().every
    logging.disable(logging.ERROR)
    torch._dynamo.config.recompile_limit = 64
    pairs = rewritten(sources())
    wrong = [shown for pair in pairs if (shown := differs(*pair))]
    print(*wrong, sep="\n")
    changed: Counter[str] = Counter()
    for pair in pairs[::every]:
        before, after = map(graphs, pair)
        changed["fewer graphs" if after < before else "as many graphs" if after == before else "more graphs"] += 1
        took, takes = map(takes_unknown, pair)
        changed[_UNKNOWN[takes - took]] += 1
    print(f"{len(pairs)} of {len(sources())} rewritten, {len(wrong)} wrong")
    print(", ".join(f"{what}: {count}" for what, count in changed.most_common()))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
