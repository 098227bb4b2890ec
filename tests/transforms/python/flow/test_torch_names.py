"""What is taken for a Tensor is one: every name of torch's that is, called."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from typing import Any

import pytest

from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.nodes import own_nodes
from transforms.python.flow.torch_results import AMBIGUOUS, MIXED, SEVERAL, SINGLE
from transforms.python.flow.values import TENSORS, Value

ARGUMENTS = ("", "x", "x, y", "x, 1", "x, 2, 0", "1", "2, 0", "[x, y]", "x, [1, 2]", "x, 3, 1, 0, 1, False, True")
"""What the names are called with, of which each takes some."""
SPACES = ("torch", "torch.nn.functional", "torch.fft", "torch.special", "torch.sparse", "x")


@functools.cache
def value(expression: str) -> Value:
    function = ast.parse(f"def f(x: Tensor, y: Tensor, n: int):\n    return {expression}\n").body[0]
    assert isinstance(function, ast.FunctionDef)
    returned = function.body[0]
    assert isinstance(returned, ast.Return)
    assert returned.value is not None
    return Interpreter(function, own_nodes(function)).value(returned.value)


def called(torch: Any, space: str) -> Iterator[tuple[str, Value, Any]]:
    """Each call that is taken to give Tensors and raises nothing, with what it is taken for and what it gives."""
    owner = torch.Tensor if space == "x" else functools.reduce(getattr, space.split(".")[1:], torch)
    for name in dir(owner):
        for arguments in ARGUMENTS if not name.startswith("__") else ():
            expression = f"{space}.{name}({arguments})"
            taken = value(expression)
            if not taken.surely_tensor and not (taken.kind == TENSORS and taken.sure):
                continue
            tensors = {"x": torch.rand(4, 4) + 0.1, "y": torch.rand(4, 4) + 0.1, "torch": torch}
            try:
                given = eval(expression, tensors)
            except Exception:  # other arguments are needed
                continue
            yield expression, taken, given


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("space", SPACES)
def test_what_is_surely_a_tensor_is_one(space: str) -> None:
    torch = pytest.importorskip("torch", reason="no torch in this environment")
    calls = list(called(torch, space))
    wrong = [
        (expression, type(given))
        for expression, taken, given in calls
        for part in ([given] if taken.surely_tensor else given)
        if not isinstance(part, torch.Tensor)
    ]
    assert wrong == []
    assert calls


def test_each_name_gives_a_tensor_by_its_schemas() -> None:
    """Also what no call above gets right; what TorchScript has of that name for a dict or a number is another."""
    torch = pytest.importorskip("torch", reason="no torch in this environment")
    wrong = [
        (schema.name, schema.overload_name)
        for name in sorted(SINGLE - AMBIGUOUS)
        for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}")
        if schema.arguments and str(schema.arguments[0].type) == "Tensor"
        if [str(returned.type) for returned in schema.returns] != ["Tensor"]
    ]
    assert wrong == []


def test_a_name_is_known_for_one_thing() -> None:
    assert not SINGLE & SEVERAL
    assert not MIXED & (SINGLE | SEVERAL)


@pytest.mark.parametrize(
    "expression",
    ["x.untyped_storage()", "x.storage()", "torch.svd_lowrank(x)", "torch.compile(x)", "x.type()", "x.of_a_subclass()",
     "F._pair(x)", "F.adaptive_max_pool1d(x, 2, True)", "F.max_pool1d(x, 2, 2, 0, 1, False, True)", "F.max_pool1d(*x)",
     "F.max_pool1d(x, **y)", "torch.histogramdd(x, 3)[1]", "'%s' % x", "y.name % x", "(1, 2) * x"],
)  # fmt: skip
def test_what_nobody_knows_is_not_surely_a_tensor(expression: str) -> None:
    assert not value(expression).surely_tensor
    assert value(f"len({expression})").kind == "plain"


@pytest.mark.parametrize(
    "expression",
    ["x.add_(y)", "torch.cat([x, y])", "F.max_pool1d(x, 2, 1)", "torch.split(x, 2)[0]", "x.max()", "n % x", "2 * x",
     "torch.fft.fft(x)", "torch.sparse.mm(x, y)", "torch.special.erf(x)", "x.unbind()[0]"],
)  # fmt: skip
def test_what_is_known_is_a_tensor(expression: str) -> None:
    assert value(expression).surely_tensor
