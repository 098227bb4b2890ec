"""`numel` of a shape: what is a Tensor's own, and who keeps it a symbol by itself."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = "import math\n\n\ndef f(x: Tensor, shape: ShapeType, k):\n"


@pytest.mark.parametrize(
    ("number", "new"),
    [
        ("x.t().shape.numel()", "x.t().numel()"),
        ("(x + 1).size().numel()", "(x + 1).numel()"),
        ("shape.numel()", "math.prod(shape)"),
        ("x.shape[:-1].numel()", "math.prod(x.shape[:-1])"),
        ("k.shape.numel()", "math.prod(k.shape)"),  # what it is, nobody says
    ],
)
def test_the_number_is_the_same(rewrite: Any, number: str, new: str) -> None:
    assert rewrite(f"{HEAD}    return x.new_empty({number})\n") == f"{HEAD}    return x.new_empty({new})\n"


@pytest.mark.parametrize("number", ["x.numel()", "k.numel()", "k.sizes.numel()", "torch.numel(x)"])
def test_what_is_no_shape_is_left(look: Any, number: str) -> None:
    assert not look(f"{HEAD}    return x.new_empty({number})\n")


def test_dynamo_keeps_it_a_symbol(look: Any) -> None:
    source = f"{HEAD}    return x.new_empty(x.shape.numel())\n"
    assert look(source)[0].edits
    assert not look(source, inlined=True)


@pytest.mark.parametrize("who", [{"eager": True}, {"scripted": True}, {"sympy": True}])
def test_fx_traces_what_others_run_too(look: Any, who: dict[str, bool]) -> None:
    (finding,) = look(f"{HEAD}    return x.new_empty(x.shape.numel() + shape.numel())\n", **who)[1:]
    assert not finding.edits
    assert "torch.fx" in finding.reason


def test_what_cannot_be_written_stops_the_call(look: Any) -> None:
    source = "def f(x: Tensor, y: Tensor):\n    torch._check(x.shape == y.shape)\n    return x.shape[1:].numel()\n"
    assert {finding.rule: finding.refusal for finding in look(source)} == {
        "check-condition": "half",
        "shape-elements": "undecided",
    }
