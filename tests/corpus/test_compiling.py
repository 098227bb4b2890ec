"""What torch.compile makes a constant of each size with dynamic shapes is named, and nothing that one graph serves."""

from __future__ import annotations

import functools
import importlib.util
import logging
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import pytest

CONSTANT = (
    *("np.prod(x.shape)", "np.ceil(n / 4)", "np.sqrt(n)", "np.log2(n)", "np.array([n]).sum()", "np.power(n, 2)"),
    *("torch.as_tensor([n])", "torch.as_tensor(x.shape)", "torch.asarray(n)", "torch.LongTensor([n])"),
    *("torch.Tensor([n, 2])", "torch.DoubleTensor((n, n))", "torch.linspace(0, 1, n).sum()", "math.log(n)"),
    *("math.exp(-n)", "math.pow(n, 2)", "n.bit_length()", "len([0] * n)", "hash(n)", "{8: 1}.get(n, 0)"),
    *("sum(i for i in range(n))", "torch.histc(x, n).sum()", "F.one_hot(torch.arange(n), n).sum()"),
)
SERVED = (
    *("math.prod(x.shape)", "math.ceil(n / 4)", "math.floor(n / 4)", "math.sqrt(n)", "math.log2(n)", "n ** 0.5"),
    *("int(n / 2)", "int(n * 0.5)", "float(n)", "round(n / 2)", "max(n, 3)", "min(n, 300)", "abs(n - 300)", "n << 1"),
    *("n & 1", "n // 3", "n % 3", "functools.reduce(operator.mul, x.shape)", "sum(x.shape)"),
    *("torch.tensor([n])", "torch.tensor(x.shape).sum()", "torch.tensor(n)", "torch.full((), n)", "x.new_tensor([n])"),
    *("torch.scalar_tensor(n)", "torch.Tensor(n, 2).zero_().sum()", "torch.arange(n).sum()", "len(x)", "x.numel()"),
    *("x.reshape(-1, *x.shape[1:]).sum()", "np.pi * n", "torch.as_tensor([2, x.dim()])", "np.sqrt(x.dim())"),
)


def source(expressions: Sequence[str]) -> str:
    """A file with a compiled function for each expression of the number of rows."""
    functions = (
        f"\n\n@torch.compile(dynamic=True)\ndef f{index}(x: torch.Tensor) -> torch.Tensor:\n"
        f"    n = x.shape[0]\n    return torch.ones(2) * ({expression})\n"
        for index, expression in enumerate(expressions)
    )
    modules = "functools", "math", "operator", "numpy as np", "torch", "torch.nn.functional as F"
    return "".join((*(f"import {module}\n" for module in modules), *functions))


def graphs(function: Any) -> int:
    """How many graphs serve a function for three numbers of rows, each of which gives what eager gives."""
    import torch
    from torch._dynamo.testing import CompileCounterWithBackend

    torch._dynamo.reset()
    counter = CompileCounterWithBackend("aot_eager")
    compiled: Any = torch.compile(function, backend=counter, dynamic=True)
    for rows in (8, 5, 13):
        x = torch.arange(2.0 * rows).view(rows, 2)
        assert torch.equal(compiled(x), function(x))
    return int(counter.frame_count)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_one_graph_serves_what_is_said_to_be_served() -> None:
    import torch

    np = pytest.importorskip("numpy")
    together = f"torch.stack([{', '.join(f'torch.ones(2) * ({expression})' for expression in SERVED)}])"
    expressions = [*CONSTANT, together]
    names = {"torch": torch, "math": math, "operator": operator, "functools": functools, "np": np}
    exec(source(expressions).replace("@torch.compile(dynamic=True)\n", ""), names)
    logging.disable(logging.CRITICAL)
    try:
        counts = {e: graphs(names[f"f{i}"]) for i, e in enumerate(expressions)}
    finally:
        logging.disable(logging.NOTSET)
    assert [expression for expression, count in counts.items() if count < 3] == [together]
    assert counts[together] == 1


def test_the_others_are_named(functions_named: Callable[[str], set[str]]) -> None:
    expressions = [*CONSTANT, *SERVED]
    found = functions_named(source(expressions))
    named = [expression for i, expression in enumerate(expressions) if f"f{i}" in found]
    assert named == list(CONSTANT)
