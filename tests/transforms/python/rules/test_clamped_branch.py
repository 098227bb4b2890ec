"""Branches whose work is nothing for clamped amounts: what else may happen to a list of amounts, and in the branch."""

from __future__ import annotations

from typing import Any

import pytest

PADS = "def f(x: Tensor, y: Tensor, n: int):\n    pads = [0] * 4\n    {0}\n    if x.size(0) < n:\n"


def _is_rewritten(look: Any, source: str) -> bool:
    return any(finding.rule == "clamped-branch" and finding.edits for finding in look(source))


@pytest.mark.parametrize(
    ("statement", "kept"),
    [
        ("k = n", True), ("k = pads[0]", True), ("same(pads)", False), ("other = pads", False), ("pads += [1]", False),
        ("pads.reverse()", False), ("del pads[0]", False), ("own.pad(x, pads)", False), ("pads[1] = 2", False),
        ("k = [pads]", False),
    ],
)  # fmt: skip
def test_only_what_pads_has_the_amounts(look: Any, statement: str, kept: bool) -> None:
    body = "        pads[3] = n - x.size(0)\n    return torch.constant_pad_nd(x, pads)\n"
    assert _is_rewritten(look, PADS.format(statement) + body) is kept


@pytest.mark.parametrize(
    ("value", "kept"), [("1", True), ("y.dtype", True), ("y.add_(1)", False), ("other(y)", False), ("y[n]", False)]
)
def test_nothing_else_happens_in_the_branch(look: Any, value: str, kept: bool) -> None:
    body = f"    if x.size(0) > n:\n        k = {value}\n        x = x.narrow(0, 0, n)\n    return x * 2\n"
    assert _is_rewritten(look, "def f(x: Tensor, y: Tensor, n: int):\n" + body) is kept


@pytest.mark.parametrize(("below", "kept"), [("return z + 1", True), ("return z.add_(1)", False)])
def test_what_a_flag_has_padded_is_not_written_in_place(look: Any, below: str, kept: bool) -> None:
    body = "        grown = True\n        pads[3] = n - x.size(0)\n"
    body += "    z = torch.constant_pad_nd(x, pads) if grown else x\n"
    assert _is_rewritten(look, f"{PADS.format('grown = False')}{body}    {below}\n") is kept


@pytest.mark.parametrize(
    ("loop", "index", "kept"),
    [
        ("for d in range(2)", "d", True),
        ("for d in range(2)", "3 - 2 * d", True),
        ("for d, k in enumerate(y.shape)", "d", True),
        ("for d in range(2)", "k", True),
        ("for d in range(2)", "1", False),
        ("for d in range(2)", "n", False),
        ("while n", "1", False),
    ],
)
def test_each_turn_of_a_loop_has_an_amount_of_its_own(look: Any, loop: str, index: str, kept: bool) -> None:
    head = "def f(x: Tensor, y: Tensor, n: int):\n    pads = [0] * 4\n    d = 0\n"
    body = f"        k = len(pads) - d - 1\n        if x.size(0) < n:\n            pads[{index}] = n - x.size(0)\n"
    below = "    return torch.constant_pad_nd(x, pads)\n"
    assert _is_rewritten(look, f"{head}    {loop}:\n{body}{below}") is kept


def test_a_list_of_amounts_may_be_made_in_each_turn(look: Any) -> None:
    body = "        pads = [0] * 4\n        if x.size(0) < n:\n            pads[1] = n - x.size(0)\n"
    body = f"    for _ in range(2):\n{body}        x = torch.constant_pad_nd(x, pads)\n    return x\n"
    assert _is_rewritten(look, f"def f(x: Tensor, n: int):\n{body}")
