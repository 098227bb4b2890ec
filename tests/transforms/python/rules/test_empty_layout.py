"""An uninitialised tensor of a layout has the dtype it had."""

from __future__ import annotations

from typing import Any

import pytest

MADE = "    return x.new_empty(s, dtype=dtype).to(memory_format=torch.channels_last)\n"


@pytest.mark.parametrize(
    ("parameter", "before", "written"),
    [
        ("dtype=None", "", False),
        ("dtype: torch.dtype | None", "", False),
        ("dtype", "", False),
        ("dtype: torch.dtype = None", "", False),
        ("dtype: torch.dtype", "", True),
        ("y: Tensor", "    dtype = y.dtype\n", True),
        ("dtype: torch.dtype", "    dtype = g(dtype)\n", False),
    ],
)
def test_a_dtype_that_may_be_none_is_the_tensors_own(rewrite: Any, parameter: str, before: str, written: bool) -> None:
    source = f"def f(x: Tensor, s: list[int], {parameter}):\n{before}{MADE}"
    assert ("torch.empty(" in rewrite(source)) is written
