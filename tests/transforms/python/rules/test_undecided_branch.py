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
        ("x = x[..., :k]", True),
        ("x = x[:k]", False),  # of another dimension
        ("x[:, :k] = y[:, :k]", False),  # takes as many as it gets
        ("x = y[:, :k]", False),
        ("x = x[:, :-k]", False),  # nothing is left where k is 0
        ("x = x[:, k:]", False),
        ("x = x[:, 1:k]", False),
        ("x = x[:k, :k]", True),
        ("x = x[:k, : k + 1]", False),
    ],
)
def test_a_branch_that_only_slices_is_said_to_need_none(look: Any, path: str, slices: bool) -> None:
    source = f"def f(x: Tensor, y: Tensor, k: int):\n    if x.size(1) > k:\n        {path}\n    return x\n"
    (finding,) = look(source, inlined=True, home=None)
    assert finding.reason.startswith("neither outcome is the general case: write one path for both with ")
    assert ("a slice without the branch" in finding.reason) is slices


@pytest.mark.parametrize(
    ("test", "path", "slices"),
    [
        ("k < x.size(1)", "x = x[:, :k]", True),
        ("n >= k", "x = x[:, :k]", True),
        ("n < k", "x = x[:, :k]", False),
        ("n - k > 0", "x = x[:, : -(n - k)]", False),
        ("n > 0", "x = x[:, :n]", False),  # without the branch nothing is left of it where n is 0
        ("n > 512", "x = x[:, :512]", True),
        ("k is not None and n > k", "x = x[:, :k]", True),
        ("n > k and n > 2", "x = x[:, :k]", False),
        ("n > k or n > 2", "x = x[:, :k]", False),
    ],
)
def test_what_is_longer_than_a_bound_is_cut_to_it(look: Any, test: str, path: str, slices: bool) -> None:
    source = f"def f(x: Tensor, k: int):\n    n = x.size(1)\n    if {test}:\n        {path}\n    return x\n"
    reasons = [finding.reason for finding in look(source, inlined=True, home=None)]
    assert any("a slice without the branch" in reason for reason in reasons) is slices


@pytest.mark.parametrize("truth", ["x.size(0) > 3 and x.size(1) > k", "not x.size(0) > 3", "x.shape == y.shape"])
@pytest.mark.parametrize("kept", ["kept = {}\n    return g(kept)", "return {}"])
def test_a_truth_that_is_kept_is_no_choice_of_paths(look: Any, truth: str, kept: str) -> None:
    (finding,) = look(f"def f(x: Tensor, y: Tensor, k: int):\n    {kept.format(truth)}\n", inlined=True)
    assert finding.rule == "undecided-branch"
    assert "what gives a bool" in finding.reason
    assert "neither outcome" not in finding.reason
