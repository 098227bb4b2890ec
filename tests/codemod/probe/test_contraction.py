"""What torch.einsum asks for the order in which it contracts."""

from __future__ import annotations

import pytest

from codemod.probe.collect import Collector
from codemod.probe.contraction import ORDER_ADVICE
from codemod.probe.trace import Frame, Record

PROGRAM = Frame("/home/u/model.py", 5, "f", "return torch.einsum('ab,bc,cd->ad', x, y, z)")
CALLER = Frame("/opt/venv/torch/functional.py", 377, "einsum", "tupled_path = _opt_einsum.contract_path(")
ORDER = Frame("/opt/venv/opt_einsum/contract.py", 317, "contract_path", "dim = int(sh[cnum])")
NODE = Frame("/opt/venv/torch/fx/experimental/sym_node.py", 500, "guard_int", "")
WITHIN = Frame("/opt/venv/torch/functional.py", 385, "einsum", "return _VF.einsum(equation, operands)")
FAKE = Frame("/opt/venv/torch/_refs/__init__.py", 448, "_broadcast_shapes", "if shape[idx] == common_shape[idx]:")


@pytest.mark.parametrize(
    ("stack", "advice"),
    [
        ((PROGRAM, CALLER, ORDER, NODE), ORDER_ADVICE),
        ((PROGRAM, CALLER, ORDER), ORDER_ADVICE),
        ((PROGRAM, WITHIN, FAKE, NODE), ""),
        ((PROGRAM, ORDER, NODE), ""),  # the program asks for an order itself
        ((PROGRAM, Frame("/home/u/torch_free/functional.py", 3, "einsum"), ORDER, NODE), ""),
    ],
)
def test_sizes_that_are_weighed_for_an_order_have_the_setting_for_advice(stack: tuple[Frame, ...], advice: str) -> None:
    collector = Collector()
    value = {"symbol": "s27", "sources": ["L['x'].size()[0]"], "value": "3"}
    collector.take([Record("symbolic_shape_specialization", value, "0/0", stack, (PROGRAM,))])
    (answer,) = collector.report().answers
    assert (answer.kind, answer.advice) == ("specialized", advice)
