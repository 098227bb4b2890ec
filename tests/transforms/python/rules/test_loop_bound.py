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
