"""Conditions that ask first what needs no size."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemod.fix.order import order_at
from codemod.model.edits import apply_edits


def ordered(condition: str) -> str | None:
    source = f"def f(x, y, z, n, m):\n    w = y\n    if n:\n        v = y\n    é = {condition}\n".encode()
    edit = order_at("case.py", source, 5)
    return None if edit is None else apply_edits(source, [edit]).decode().splitlines()[4].partition(" = ")[2]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("n == 1 and not is_torchdynamo_compiling()", "not is_torchdynamo_compiling() and n == 1"),
        ("n > 1 and y is None and causal", "y is None and n > 1 and causal"),
        ("x.shape[0] > n or torch.compiler.is_compiling()", "torch.compiler.is_compiling() or x.shape[0] > n"),
        ("y is None and x.size(0) > 4 and z is not None", "y is None and z is not None and x.size(0) > 4"),
        ("(n > 1) and (1 < len(x)) and (y is None)", "(y is None) and (n > 1) and (1 < len(x))"),
        ("n > 1 and w is None", "w is None and n > 1"),
        ("'and' != n and isinstance(y, list)", "isinstance(y, list) and 'and' != n"),
        ("z and (n > 1 and y is None)", "z and (y is None and n > 1)"),
    ],
)
def test_what_needs_no_size_is_asked_first(condition: str, expected: str) -> None:
    assert ordered(condition) == expected


@pytest.mark.parametrize(
    "condition",
    [
        "y is None and n > 1",
        "n > 1 and causal",  # what it is besides true or false is what the whole may be
        "n > 1 and x.flag is None",  # may be a property
        "f(n) > 1 and y is None",  # is called as often as before
        "(m := n) > 1 and m is None",
        "n > 1 and (m := y) is None",
        "n > 1 and y == 0",
        "n > 1 and self.is_tracing()",  # may do anything
        "n > 1 and v is None",  # has no value where n is 0
        "n > 1 and isinstance(y, types())",
        "z and n > 1 and y is None",
        "n > 1 and (\n        y is None)",
    ],
)
def test_what_may_be_seen_to_move_stays(condition: str) -> None:
    assert ordered(condition) is None


OPERANDS = ("n > 1", "(n == m)", "y is None", "not (z is None)", "isinstance(y, list)", "z", "not y", "1 < len(x) < n")


@given(
    st.lists(st.sampled_from(OPERANDS), min_size=2, max_size=5),
    st.sampled_from(["and", "or"]),
    st.lists(st.sampled_from([0, 1, 2, None, [], [3], "a"]), min_size=2, max_size=2),
    st.lists(st.integers(0, 3), min_size=2, max_size=2),
)
def test_the_value_is_the_same(operands: list[str], word: str, others: list[Any], numbers: list[int]) -> None:
    condition = f" {word} ".join(operands)
    names = {"n": numbers[0], "m": numbers[1], "y": others[0], "z": others[1], "x": [1, 2]}
    assert repr(eval(ordered(condition) or condition, names)) == repr(eval(condition, names))
