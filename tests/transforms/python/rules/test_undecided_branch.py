"""What is said of a branch that no rule can decide."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("path", "slices"),
    [
        ("x = x[:, :k]", True),
        ("x = x[:, -k:].contiguous()", True),
        ("x = x.mT", False),
        ("x = x[:, :k].exp()", False),
        ("x = x[k]", False),
    ],
)
def test_a_branch_that_only_slices_is_said_to_need_none(look: Any, path: str, slices: bool) -> None:
    source = f"def f(x: Tensor, k: int):\n    if x.size(1) > k:\n        {path}\n    return x\n"
    (finding,) = look(source, inlined=True, home=None)
    assert finding.reason.startswith("neither outcome is the general case: write one path for both with ")
    assert ("a slice without the branch" in finding.reason) is slices
