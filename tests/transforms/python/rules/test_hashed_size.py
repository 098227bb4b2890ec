"""Sizes that are hashed, in what holds them by their hash."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = "def f(x: Tensor, xs: list[Tensor], n: int):\n"


@pytest.mark.parametrize(
    ("expression", "hashed"),
    [
        ("{x.size(0), n}", True),
        ("{n, x.dim()}", False),
        ("{x.size(0): 1}", True),
        ("{n: x.size(0)}", False),
        ("{(x.size(0), n)}", True),
        ("{t.shape for t in xs}", True),
        ("{t.dtype for t in xs}", False),
        ("{t.size(0): t for t in xs}", True),
        ("{t: t.size(0) for t in xs}", False),
        ("set(t.size(0) for t in xs)", True),
        ("frozenset([t.shape for t in xs])", True),
        ("set(x.shape)", True),
        ("set(t.dim() for t in xs)", False),
        ("[t.size(0) for t in xs]", False),
        ("d.get(x.size(0), 1)", True),
        ("d.get(n, x.size(0))", False),
        ("d.setdefault((n, x.size(0)), 1)", True),
        ("d.pop(x.size(0), None)", True),
        ("hash(x.shape)", True),
        ("hash(n)", False),
        ("Counter(t.size(0) for t in xs)", True),
        ("Counter(t.dim() for t in xs)", False),
    ],
)
def test_sizes_in_sets_and_keys(look: Any, expression: str, hashed: bool) -> None:
    found = look(f"{HEAD}    return g({expression})\n")
    assert [finding.rule for finding in found] == ["hashed-size"] * hashed


def test_the_call_stops_there(look: Any) -> None:
    """What is left of a half conversion would stop the same call."""
    source = f"{HEAD}    s = {{x.size(0), n}}\n    if x.size(1) != n:\n        raise ValueError('n')\n    return s\n"
    assert [(finding.rule, bool(finding.edits)) for finding in look(source)] == [
        ("hashed-size", False), ("raise-check", False),
    ]  # fmt: skip
