"""What is said of values that are computed of nothing is what torch computes."""

from __future__ import annotations

import ast
import types
from typing import Any, cast

import pytest

from transforms.python.flow.nodes import own_nodes
from transforms.python.writing.nothing import EMPTY, UNKNOWN, ZEROS, Nothing
from transforms.python.writing.place import Place

torch = pytest.importorskip("torch", reason="no torch in this environment")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("x", EMPTY),
        ("x.exp() + y", EMPTY),
        ("(y - x) / x.size(0)", EMPTY),
        ("torch.where(x > 0, x, y)", EMPTY),
        ("x[:, None].expand(-1, 2, -1)", EMPTY),
        ("x.new_zeros(x.shape)", EMPTY),
        ("x.sum()", ZEROS),
        ("-x.log().sum(0) / 2 + x.square().sum(0)", ZEROS),
        ("x.t() @ x", ZEROS),
        ("torch.mm(x.t(), x) * 0", ZEROS),
        ("x.new_zeros(4).abs().sqrt()", ZEROS),
        ("torch.count_nonzero(x)", ZEROS),
        ("x.mean()", UNKNOWN),
        ("x.sum() / x.size(0)", UNKNOWN),
        ("x.sum() + 1", UNKNOWN),
        ("x.sum().exp()", UNKNOWN),
        ("x.prod()", UNKNOWN),
        ("x.sum() * y", UNKNOWN),
        ("torch.cat([x, x])", UNKNOWN),
        ("torch.nn.functional.mse_loss(x, x)", UNKNOWN),
        ("y", UNKNOWN),
    ],
)
def test_what_is_said_of_nothing_is_so(value: str, said: str) -> None:
    source = f"def f(x, y):\n    if x.numel() == 0:\n        pass\n    z = {value}\n    return z\n"
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    branch, assignment = function.body[0], function.body[1]
    assert isinstance(branch, ast.If)
    assert isinstance(assignment, ast.Assign)
    place = cast("Place", types.SimpleNamespace(function=function, nodes=own_nodes(function)))
    assert Nothing(place, branch, {"x"}, set()).of(assignment.value) == said
    if said == UNKNOWN:
        return
    names: dict[str, Any] = {"torch": torch}
    exec(source, names)
    for shape in ((0, 3), (0, 1), (0, 0), (3, 0)):
        result = names["f"](torch.ones(shape), torch.ones(1))
        assert not result.any()  # an unknown value would be
        assert result.numel() == 0 or said == ZEROS
