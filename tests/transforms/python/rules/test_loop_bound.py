"""Loops over a size are named, wherever in `range` it stands, and nothing before them is converted for nothing."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    "bounds", ["x.size(0)", "1, x.size(0)", "0, n, 2", "x.size(0), 0, -1", "0, 8, x.size(0)", "k, n"]
)
def test_a_size_anywhere_in_range_bounds_the_loop(look: Any, bounds: str) -> None:
    (site,) = look(f"def f(x: Tensor, k: int):\n    n = x.shape[0]\n    for i in range({bounds}):\n        x = x + i\n")
    assert site.refusal == "loop-bound"


@pytest.mark.parametrize("bounds", ["k", "1, k", "x.dim()", "1, x.dim(), 2"])
def test_what_is_no_size_bounds_none(look: Any, bounds: str) -> None:
    assert not look(f"def f(x: Tensor, k: int):\n    for i in range({bounds}):\n        x = x + i\n")


@pytest.mark.parametrize("bounds", ["n", "1, n"])
def test_what_stands_before_such_a_loop_is_left(rewrite: Any, bounds: str) -> None:
    source = (
        "def f(x: Tensor):\n    n = x.size(0)\n    if n == 0:\n        return x.clone()\n"
        f"    for i in range({bounds}):\n        x = x + i\n    return x\n"
    )
    assert rewrite(source) == source


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("for i in range(n): x = x + i", "a loop runs over a size"),
        ("for i, k in enumerate(range(0, n)): x = x + i", "a loop runs over a size"),
        ("x = [x[i] for i in range(n)]", "a loop runs over a size"),
        ("x = x[..., range(0, n)]", "a range is as long as a size"),
        ("k = list(range(n))", "a range is as long as a size"),
    ],
)
def test_a_range_is_no_loop_by_itself(look: Any, statement: str, message: str) -> None:
    (site,) = look(f"def f(x: Tensor):\n    n = x.size(0)\n    {statement}\n    return x\n")
    assert (site.rule, site.message) == ("loop-bound", message)


def test_dynamo_rounds_a_size_by_itself(look: Any) -> None:
    source = "def f(x: Tensor):\n    k = int(round((x.size(0) - 3) / 2.0))\n    return x[k:]\n"
    asked = [finding.reason for finding in look(source) if finding.rule == "undecided-branch"]
    assert ["a known value" in reason for reason in asked] == [True]
    assert not look(source, inlined=True)
