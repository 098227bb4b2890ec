"""Conditions that ask first what needs no size."""

from __future__ import annotations

import pytest

from codemod.fix.order import order_at
from codemod.model.edits import apply_edits


def ordered(condition: str) -> str | None:
    source = f"def f(x, y, n):\n    é = {condition}\n".encode()
    edit = order_at("case.py", source, 2)
    return None if edit is None else apply_edits(source, [edit]).decode().splitlines()[1].partition(" = ")[2]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("n == 1 and not is_torchdynamo_compiling()", "not is_torchdynamo_compiling() and n == 1"),
        ("n > 1 and y is None and causal", "y is None and n > 1 and causal"),
        ("x.shape[0] > n or torch.compiler.is_compiling()", "torch.compiler.is_compiling() or x.shape[0] > n"),
        ("y is None and x.size(0) > 4 and z is not None", "y is None and z is not None and x.size(0) > 4"),
        ("(n > 1) and (1 < len(x)) and (y is None)", "(y is None) and (n > 1) and (1 < len(x))"),
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
        "n > 1 and isinstance(y, types())",
        "z and n > 1 and y is None",
        "n > 1 and (\n        y is None)",
    ],
)
def test_what_may_be_seen_to_move_stays(condition: str) -> None:
    assert ordered(condition) is None


@pytest.mark.parametrize("name", ["y", "None", "[]"])
@pytest.mark.parametrize("number", [0, 1, 2, None])
def test_the_value_is_the_same(name: str, number: int | None) -> None:
    condition = "n > 1 and y is None and m" if number is not None else "n is None and y is None and m"
    written = ordered(condition) or condition
    names = {"n": number, "y": eval(name, {"y": 3}), "m": []}
    assert repr(eval(written, names)) == repr(eval(condition, names))
