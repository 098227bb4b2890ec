"""What a length becomes a number for where windows of one dimension are pooled."""

from __future__ import annotations

import pytest

from codemod.probe.collect import Collector
from codemod.probe.symbolic_forms import POOL_ADVICE
from codemod.probe.trace import Frame, Record

PROGRAM = Frame("/home/u/model.py", 5, "f", "return F.max_pool1d(x, 3)")
POOLED = Frame("/opt/venv/torch/nn/functional.py", 747, "_max_pool1d", "return torch.max_pool1d(input, kernel_size)")


def test_of_equal_steps_it_is_told_what_keeps_their_number() -> None:
    collector = Collector()
    frame = Frame("/home/u/model.py", 5, "f", "return torch.linspace(0, 1, n)")
    asked = {"name": "symfix_askers", "functions": [], "argument": "argument steps (int) of aten::linspace"}
    value = {"symbol": "s27", "sources": ["L['x'].size()[0]"], "value": "12"}
    specialized = Record("symbolic_shape_specialization", value, "0/0", (frame,), (frame,))
    collector.take([Record("artifact", asked, "0/0", (), ()), specialized])
    (answer,) = (answer for answer in collector.report().answers if answer.kind == "specialized")
    assert "torch.arange(steps)" in answer.advice


@pytest.mark.parametrize(
    ("functions", "advice"),
    [
        (["max_pool1d"], POOL_ADVICE),
        (["adaptive_max_pool1d", "max_pool1d"], POOL_ADVICE),
        (["max_pool1d_with_indices"], ""),
        ([], ""),
    ],
)
def test_it_is_told_what_keeps_the_length(functions: list[str], advice: str) -> None:
    collector = Collector()
    value = {"symbol": "s27", "sources": ["L['x'].size()[2]"], "value": "12"}
    asked = Record("artifact", {"name": "symfix_askers", "functions": functions}, "0/0", (), ())
    specialized = Record("symbolic_shape_specialization", value, "0/0", (PROGRAM, POOLED), (PROGRAM,))
    collector.take([asked, specialized])
    answers = [answer for answer in collector.report().answers if answer.kind == "specialized"]
    assert [(answer.native != "", answer.advice) for answer in answers] == [(bool(functions), advice)]
