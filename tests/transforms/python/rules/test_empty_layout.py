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


@pytest.mark.parametrize(
    ("sizes", "written"),
    [("[0]", None), ("(n, n, n)", None), ("[n] * 3", True), ("(n, n, n, n)", True), ("[*s, n]", True), ("s", True)],
)
@pytest.mark.parametrize("kind", ["contiguous_format", "legacy_contiguous_format"])
def test_ranks_of_one_format_are_not_asked_for_it(look: Any, sizes: str, written: bool | None, kind: str) -> None:
    """As in the meta of _pdist_forward; torch/__init__.py gives contiguous_format its other name."""
    source = (
        f"def f(x: Tensor, s: list[int], n: int):\n    return x.new_empty({sizes}).to(memory_format=torch.{kind})\n"
    )
    assert [bool(finding.edits) for finding in look(source)] == ([] if written is None else [written])
