"""The shapes that transforms/python/shapes reads from expressions, beside those that torch gives. Needs torch."""

from __future__ import annotations

import ast
import importlib.util
import itertools
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch

from transforms.python.shapes.expressions import Expressions, Guesses, State, Texts
from transforms.python.shapes.sizes import Sizes, constant, number
from transforms.python.shapes.tensors import Tensors
from transforms.python.shapes.values import Number, Other, Raised, Tensor, Value

SHAPES = [(5,), (0,), (3, 4), (0, 4), (3, 0), (1, 4), (2, 3, 4), (2, 0, 1)]
EXPRESSIONS = """x.clone()
x.neg().contiguous().float()
x + 1
2 * x
-x
x + y
torch.mul(x, y)
x.softmax(-1)
x.flip(0)
x.sum()
x.sum(0)
x.sum(-1, keepdim=True)
x.mean(dim=(0, 1))
torch.sum(x, 1)
x.argmax(0)
x.amax(1)
x.max(0)[0]
x.max()
x.sort(0)[1]
x.t()
x.T
x.mT
x.transpose(0, 1)
x.permute(1, 0)
x.unsqueeze(0)
x.unsqueeze(-1)
x.squeeze(0)
x.squeeze(1)
x.flatten()
x.flatten(1)
x.reshape(-1)
x.reshape(-1, 2)
x.view(x.size(0), -1)
x.reshape(x.shape[1], x.shape[0])
x.expand(3, -1)
x.expand(2, *x.shape)
x.expand_as(y)
x.repeat(2, 3)
x.repeat(2, 1, 1)
x.narrow(0, 0, 1)
x.select(0, 0)
x.index_select(0, torch.zeros(2).long())
torch.cat([x, y])
torch.cat((x, x), dim=-1)
torch.cat([x, x, x], 1)
torch.stack([x, x], 1)
torch.stack([x, x])
F.pad(x, (1, 2))
F.pad(x, (0, 0, 0, 3))
torch.nn.functional.pad(x, [0, k])
x @ y
torch.matmul(x, y)
x.mm(y)
x[0]
x[-1]
x[1:]
x[:2]
x[:0]
x[:-1]
x[:, 0]
x[:, :1]
x[None]
x[..., 0]
x.new_zeros(x.size(0), k)
x.new_empty((2, 3))
x.new_full((k,), 1)
torch.zeros(x.shape)
torch.ones(x.size(0))
torch.full((2, x.size(-1)), 1.0)
torch.empty_like(x)
torch.arange(x.size(0))
torch.zeros([k] + list(x.shape[1:]))
torch.zeros((k,) * 2)
torch.zeros(max(x.size(0), k), min(x.size(0), k))
torch.zeros(x.numel() // 2, x.dim())
torch.zeros(math.prod(x.shape), sum(x.shape))
torch.zeros(len(x), x.size(0) % k)
torch.zeros(k - x.size(0))
torch.linalg.norm(x)""".splitlines()


def read(text: str, shapes: dict[str, tuple[int, ...]]) -> list[int] | str | None:
    """The shape that is read; "raises", or None where it is not seen."""
    sizes = Sizes()
    variables: dict[str, Value] = {"k": Number(number(3))}
    variables |= {name: Tensor("", tuple(map(number, shape))) for name, shape in shapes.items()}
    expressions = Expressions(sizes, Tensors(sizes, {}), Guesses(), Texts())
    try:
        value = expressions.value(ast.parse(text, mode="eval").body, State(variables, {}, {}))
    except Raised:
        return "raises"
    if isinstance(value, Other):
        return None
    assert isinstance(value, Tensor), text
    assert value.sizes is not None
    constants = [constant(size) for size in value.sizes]
    assert None not in constants
    return [size for size in constants if size is not None]


def given(text: str, shapes: dict[str, tuple[int, ...]]) -> list[int] | str:
    """The shape that torch gives, or "raises"."""
    import math

    names: dict[str, Any] = {name: torch.rand(shape) for name, shape in shapes.items()}
    names |= {"k": 3, "torch": torch, "F": torch.nn.functional, "math": math}
    try:
        return list(eval(text, names).shape)
    except (IndexError, RuntimeError, TypeError):
        return "raises"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_shapes_are_those_of_torch(text: str) -> None:
    seen = 0
    for first, second in itertools.product(SHAPES, SHAPES if "y" in text else SHAPES[:1]):
        shapes = {"x": first, "y": second}
        shape, truth = read(text, shapes), given(text, shapes)
        if shape == "raises":
            assert truth == "raises", shapes
        elif shape is not None and truth != "raises":
            assert shape == truth, shapes
            seen += 1
    assert seen or "linalg" in text or "..." in text
