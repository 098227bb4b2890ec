"""Fakes as libraries write them, rewritten, beside the kernels that they are of, in sizes that nothing was traced with.

Each function is an operator's kernel as it stands, and its fake as symfix rewrites it. What is compiled with every size
unbacked takes all sizes that the kernel takes, 0 and 1 among them, and predicts the shapes that the kernel gives.
Needs torch.
"""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Sequence
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch
from torch._dynamo.decorators import mark_unbacked

from tests.transforms.python.conftest import apply

torch.set_num_threads(1)

HEAD = "from __future__ import annotations\nimport torch\nfrom torch import Tensor\n"
SINGLES = list(itertools.product((5, 0, 1, 2), (6, 0, 1)))
"""The shapes of one tensor; the first is traced."""
PAIRS = [((5, 6), (6,)), *itertools.product([(5, 6), (0, 6), (5, 0), (1, 1)], [(6,), (0,), (1,)])]
ROWS = [((5, 6), (7, 6)), *itertools.product([(5, 6), (0, 6), (1, 6)], [(7, 6), (0, 6), (1, 6)])]
FAKES: dict[str, tuple[str, Sequence[Any]]] = {
    "an optional tensor that is empty": (
        """
    rows, columns = x.shape
    if y.numel() > 0:
        assert y.ndim == 1 and y.size(0) == columns, f"{y.size(0)}"
        assert y.dtype == x.dtype, "dtype"
    return x.clone()""",
        PAIRS,
    ),
    "a shortcut of the same shape": (
        """
    if x.numel() == 0 or y.size(0) == 0:
        return x.new_zeros(x.size(0), y.size(0))
    return x.new_empty(x.size(0), y.size(0)).zero_()""",
        ROWS,
    ),
    "the smaller of two sizes": (
        """
    n = min(x.size(0), y.size(0))
    if n == 0:
        return x.new_zeros(0)
    return x.new_zeros(n)""",
        ROWS,
    ),
    "padding to a multiple": (
        """
    n = x.size(0)
    rows = (n + 3) // 4
    if rows * 4 != n:
        x = torch.nn.functional.pad(x, (0, 0, 0, rows * 4 - n))
    return x.view(rows, 4, x.size(1)).sum(1)""",
        [(shape,) for shape in SINGLES],
    ),
    "a check of what is broadcast": (
        """
    for a, b in zip(x.shape, y.shape):
        if a != b and a != 1 and b != 1:
            raise RuntimeError("cannot be broadcast")
    return x.new_zeros([max(a, b) for a, b in zip(x.shape, y.shape)])""",
        [((5, 6), (5, 6)), ((1, 6), (5, 6)), ((5, 1), (1, 6)), ((2, 3), (2, 3)), ((0, 6), (0, 1))],
    ),
    "a sum over what may be empty": (
        """
    if x.size(1) == 0:
        return x.new_zeros(x.size(0), 1)
    return x.sum(1, keepdim=True)""",
        [(shape,) for shape in SINGLES],
    ),
    "an even number": (
        """
    if x.size(1) % 2 != 0:
        raise ValueError(f"odd: {x.size(1)}")
    return x.new_zeros(x.size(0), int(x.size(1) / 2))""",
        [(shape,) for shape in SINGLES],
    ),
}
LEFT = {
    "a product with what may be none": """
    if y.size(0) == 0:
        return x * 2
    return x + y""",
    "a default for what is empty": """
    if y.numel() == 0:
        y = x.new_zeros(6)
    return x + y""",
    "rows that only others have": """
    if x.size(0) == 0:
        return x.new_zeros(1, x.size(1))
    return x.clone()""",
    "a scale of one element or many": """
    if y.numel() != 1:
        y = y.view(-1, 1)
    return x * y""",
    "a cache that may be empty": """
    if y.numel() > 0:
        x = torch.cat([y.view(1, -1), x])
    return x""",
    "another rank": """
    n, m = x.shape
    if n == 0:
        return x.sum(1)
    return x.mean(1, keepdim=True)""",
    "rows that nothing is padded to": """
    n, m = x.shape
    if n == 0:
        x = torch.nn.functional.pad(x, (0, 0, 0, 3))
    return x * 2""",
    "a few rows": """
    n, m = x.shape
    if n // 3 == 0:
        return x.new_zeros(1, m)
    return x.clone()""",
    "other rows through a variable": """
    n, m = x.shape
    if x.is_contiguous() and n == 0:
        n = 1
    return x.new_zeros(n, m)""",
    "a stack": """
    if x.size(0) == 0:
        return x.clone()
    return torch.stack([x, x])""",
    "a square root": """
    n = x.size(0)
    if n == 0:
        return x.clone()
    return x.new_zeros(math.isqrt(n), 2)""",
}


@pytest.fixture(scope="module")
def library() -> Any:
    make: Any = torch.library.Library
    return make("symfix_idioms", "DEF")


@pytest.mark.parametrize("name", FAKES)
def test_the_fake_takes_and_predicts_what_the_kernel_does(library: Any, name: str) -> None:
    body, shapes = FAKES[name]
    operator, count = f"op{list(FAKES).index(name)}", len(shapes[0])
    source = f"def f({', '.join(f'{x}: Tensor' for x in 'xy'[:count])}) -> Tensor:{body}\n"
    rewritten = apply(source, path="library/fakes.py", home=None)
    assert rewritten != source
    kernel, fake = (_function(text) for text in (source, rewritten))
    library.define(f"{operator}({', '.join(f'Tensor {x}' for x in 'xy'[:count])}) -> Tensor")
    library.impl(operator, kernel, "CPU")
    torch.library.register_fake(f"symfix_idioms::{operator}", fake, lib=library)

    def call(*tensors: Any) -> Any:
        result = getattr(torch.ops.symfix_idioms, operator)(*tensors)
        return result, list(result.shape)

    torch.compiler.reset()
    compiled: Any = torch.compile(call, backend="aot_eager", fullgraph=True)
    traced = [torch.rand(shape) for shape in shapes[0]]
    for tensor in traced:
        for dimension in range(tensor.dim()):
            mark_unbacked(tensor, dimension)
    compiled(*traced)
    taken = 0
    for sizes in shapes:
        tensors = [torch.rand(shape) for shape in sizes]
        try:
            expected = call(*tensors)
        except (AssertionError, RuntimeError, ValueError):
            continue
        torch.testing.assert_close(compiled(*tensors), expected)
        taken += 1
    assert taken > 2


@pytest.mark.parametrize("name", LEFT)
def test_what_other_sizes_do_not_fit_is_left(name: str) -> None:
    source = f"import math\n\n\ndef f(x: Tensor, y: Tensor) -> Tensor:{LEFT[name]}\n"
    assert apply(source, path="library/fakes.py", home=None) == source


def _function(source: str) -> Any:
    names: dict[str, Any] = {}
    exec(HEAD + source, names)
    return names["f"]
