"""Branches that pad, with every amount under every condition: what is rewritten is the same in eager and compiled.

Most of them are wrong to rewrite; which ones are, torch says here, not the rule. Needs torch.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.transforms.python.conftest import apply  # noqa: E402

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
)
SIZES = tuple(itertools.product(range(1, 10), (2, 3), (1, 2, 3, 4, 7), (False, True)))


def run(function: Callable[..., Any], n: int, c: int, m: int, flag: bool) -> Any:
    """What a function gives, or the type of what it raises: some amounts cut off more than there is."""
    try:
        return function(torch.arange(float(n * c)).view(n, c), m, flag)
    except RuntimeError as error:
        return type(error)


def same(one: Any, other: Any) -> bool:
    """Whether two outcomes of `run` are the same."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return bool(torch.equal(one, other))
    return one is other


def function(source: str, compiling: bool = False) -> Callable[..., Any]:
    """The function of a source as eager runs it, or as it is where it is compiled."""
    names: dict[str, Any] = {}
    exec(source.replace("@torch.compile\n", "").replace("torch.compiler.is_compiling()", str(compiling)), names)
    return names["f"]  # type: ignore[no-any-return]


def rewritten() -> list[tuple[str, str]]:
    """The functions that the rule changes, before and after."""
    sources = [HEAD + form.format(*pair) for form in FORMS for pair in itertools.product(CONDITIONS, AMOUNTS)]
    changed = [(source, apply(source, home=None)) for source in sources]
    return [(before, after) for before, after in changed if "is_compiling()" in after]


def test_what_is_rewritten_gives_the_same_on_both_ways() -> None:
    pairs = rewritten()
    assert len(pairs) > 100
    for before, after in pairs:
        old, eager, compiled = function(before), function(after), function(after, compiling=True)
        for sizes in SIZES:
            wanted = run(old, *sizes)
            assert same(run(eager, *sizes), wanted), (sizes, after)
            assert same(run(compiled, *sizes), wanted), (sizes, after)


@pytest.mark.parametrize("condition", ["pad > 0", "n % m != 0", "n < m", "flag and pad"])
def test_one_graph_serves_every_size(condition: str) -> None:
    from torch._dynamo.testing import CompileCounter

    amount = {"n % m != 0": "m - n % m", "n < m": "missing"}.get(condition, "pad")
    source = HEAD + FORMS[0].format(condition, amount)
    graphs = {}
    for text in (source, apply(source, home=None)):
        names: dict[str, Any] = {}
        exec(text.replace("@torch.compile\n", ""), names)
        torch._dynamo.reset()
        counter = CompileCounter()
        compiled = torch.compile(names["f"], backend=counter, dynamic=True)
        for n in (4, 5, 6, 8, 9, 3, 12):
            assert same(run(compiled, n, 3, 4, True), run(names["f"], n, 3, 4, True))
        graphs[text == source] = counter.frame_count
    assert graphs == {True: 2, False: 1}
