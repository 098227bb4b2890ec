"""Branches on whether sizes are equal: which paths do nothing where they are, and who would see a copy."""

from __future__ import annotations

from typing import Any

import pytest


def _is_rewritten(look: Any, source: str) -> bool:
    findings = look(f"def f(x: Tensor, y: Tensor, m: int):\n{source}")
    return any(finding.rule in ("size-branch", "shape-branch") and finding.edits for finding in findings)


@pytest.mark.parametrize(
    ("value", "same"),
    [
        ("x.expand(y.shape)", True), ("x.bool().expand(y.shape)", False), ("x.to(torch.bool).expand(y.shape)", False),
        ("x.to_dense().expand(y.shape)", False), ("torch.broadcast_to(x, y.shape)", True),
        ("torch.broadcast_to(x, z.shape)", False), ("x.expand(size=z.shape)", False), ("x.expand_as(y)", True),
        ("x.expand(size=y.shape)", True),
    ],
)  # fmt: skip
def test_what_converts_or_has_another_shape_is_not_neutral(look: Any, value: str, same: bool) -> None:
    source = f"    if x.shape != y.shape:\n        x = {value}\n    return x * y\n"
    assert _is_rewritten(look, source) is same


def test_what_both_ways_convert_is_the_same(look: Any) -> None:
    source = "    x = {0} if x.shape == y.shape else x.bool().expand(y.shape)\n    return x * y\n"
    assert _is_rewritten(look, source.format("x.bool()"))
    assert not _is_rewritten(look, source.format("x"))


@pytest.mark.parametrize(
    ("above", "test", "value", "same"),
    [
        ("", "x.size(0) != y.size(0)", "x.expand(y.size(0))", False),
        ("", "x.size(0) != m", "x.view(m)", False),
        ("    assert x.ndim == 1\n", "x.size(0) != y.size(0)", "x.expand(y.size(0))", True),
        ("    if x.dim() != 2:\n        return x\n", "x.size(0) != y.size(0)", "x.expand(y.size(0), -1)", True),
        ("    assert x.ndim == 2\n", "x.size(0) != y.size(0)", "x.expand(y.size(0))", False),
        ("    b, n = x.shape\n", "b != y.size(0)", "x.expand(y.size(0), n)", True),
        ("    b, n = x.shape\n", "b != y.size(0)", "x.expand(n, y.size(0))", False),
        ("    b, n = x.shape\n", "n != y.size(0)", "x.expand(y.size(0), y.size(0))", False),
        ("    b, n = x.shape\n", "n != y.size(-1)", "x.expand(b, y.size(-1))", True),
        ("    b, n = x.shape\n    x = x.sum(0)\n", "n != y.size(0)", "x.expand(b, y.size(0))", False),
        ("    b, *n = x.shape\n", "b != y.size(0)", "x.expand(y.size(0), -1)", False),
        ("    b, n = x.shape\n", "b != y.size(0) or n != y.size(1)", "x.expand(y.size(0), y.size(1))", True),
        ("    b, n = x.shape\n", "b != y.size(0) and n != y.size(1)", "x.expand(y.size(0), y.size(1))", False),
        ("", "x.ndim == 1 and x.size(0) != y.size(0)", "x.expand(y.size(0))", True),
        ("    z = x.shape\n", "z != y.shape", "x.expand(y.shape)", True),
        ("    z = m.shape\n", "z != y.shape", "x.expand(y.shape)", False),
        ("", "x.shape != (y.size(1), y.size(0))", "x.expand(y.size(1), y.size(0))", True),
    ],
)
def test_as_many_sizes_as_a_tensor_has_are_given(look: Any, above: str, test: str, value: str, same: bool) -> None:
    assert _is_rewritten(look, f"{above}    if {test}:\n        x = {value}\n    return x + y\n") is same


@pytest.mark.parametrize(
    ("value", "below", "seen"),
    [
        ("x.expand(y.shape).clone()", "x.add_(y)", True),
        ("x.expand(y.shape).clone()", "y.add_(x)", False),
        ("x.reshape(y.shape)", "x.view(-1)[0] = 1", True),
        ("x.expand(y.shape)", "x.add_(y)", False),
        ("x.expand(y.shape)", "x.unsqueeze_(0)", True),
        ("x.expand(y.shape)", "x.requires_grad_()", True),
        ("x.expand(y.shape)", "x.requires_grad = True", True),
    ],
)
def test_another_tensor_is_given_where_nobody_sees_it(look: Any, value: str, below: str, seen: bool) -> None:
    source = f"    if x.shape != y.shape:\n        x = {value}\n    {below}\n    return x * y\n"
    assert _is_rewritten(look, source) is not seen
