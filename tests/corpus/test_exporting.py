"""What torch.export makes a number in a module, unless it is strict, is named, and nothing that it keeps symbolic."""

from __future__ import annotations

import importlib.util
import logging
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import pytest

FIXED = (
    *("int(n)", "int(n * 0.5)", "int(n / 2)", "int(n // 2)", "int(math.ceil(n / 2))", "int(n ** 0.5)", "float(n)"),
    *(
        "float(n / 2)",
        "math.sqrt(n)",
        "math.log(n)",
        "math.log2(n)",
        "math.gcd(n, 8)",
        "len(x)",
        "len(x) // 2",
        "x.shape.numel()",
    ),
    *("sum(map(int, x.shape))", "sum(map(float, x.shape))", "sum(int(a) for a in x.shape)", "operator.index(n)"),
    *(
        "sum(i for i, _ in enumerate([1, 2], n))",
        "sum(range(n))",
        "len([0] * n)",
        "n.bit_length()",
        "int(x.sum())",
        "float(x.max())",
    ),
)
SERVED = (
    *("n + 1", "n // 2", "n / 2", "n % 3", "-n", "n ** 0.5", "n << 1", "abs(n - 100)", "sum(x.shape)", "x.numel()"),
    *("math.ceil(n / 2)", "math.floor(n / 2)", "round(n / 2)", "math.prod(x.shape)", "x.size(0)", "len(x.shape)"),
    *("int(x.dim())", "int(3.5)", "float(x.ndim)", "torch.tensor(n)", "torch.sym_int(n * 0.5)", "torch.sym_sqrt(n)"),
    *(
        "torch.sym_int(x.sum().item())",
        "torch.sym_float(n)",
        "max(n, 1)",
        "min(n, 100)",
        "torch.arange(n).sum()",
        "sum(list(x.shape))",
    ),
)


def source(expressions: Sequence[str]) -> str:
    """A file with a module for each expression of a size n of its input."""
    modules = (
        f"\n\nclass M{index}(torch.nn.Module):\n    def forward(self, x: torch.Tensor) -> torch.Tensor:\n"
        f"        n = x.shape[0]\n        return torch.ones(2) * ({expression})\n"
        for index, expression in enumerate(expressions)
    )
    return "import math\nimport operator\n\nimport torch\n" + "".join(modules)


def serves(module: Any) -> bool:
    """Whether an exported module gives what it gives in eager, for three numbers of rows."""
    import torch

    try:
        shapes = ({0: torch.export.Dim.DYNAMIC},)
        program = torch.export.export(module, (torch.ones(8, 2),), dynamic_shapes=shapes, strict=False).module()
        return all(torch.equal(program(torch.ones(n, 2)), module(torch.ones(n, 2))) for n in (8, 5, 13))
    except (Exception, AssertionError):
        return False


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_torch_serves_what_is_said_to_be_served() -> None:
    import torch

    together = f"torch.stack([{', '.join(f'torch.ones(2) * ({expression})' for expression in SERVED)}])"
    expressions = [*FIXED, together]  # an export of each of those that are served would take as long as all others
    namespace: dict[str, Any] = {"torch": torch, "math": math, "operator": operator}
    exec(source(expressions), namespace)
    logging.disable(logging.CRITICAL)
    try:
        served = [e for i, e in enumerate(expressions) if serves(namespace[f"M{i}"]())]
    finally:
        logging.disable(logging.NOTSET)
    assert served == [together]


def test_the_others_are_named(functions_named: Callable[[str], set[str]]) -> None:
    expressions = [*FIXED, *SERVED]
    found = functions_named(source(expressions))
    named = [expression for i, expression in enumerate(expressions) if f"M{i}.forward" in found]
    assert named == list(FIXED)
