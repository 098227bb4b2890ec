"""Dynamo makes checks of the assertions that are said to become ones, and of no others."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
from pathlib import Path
from typing import Any

import pytest

from tests.transforms.python.conftest import find
from transforms.python.rules import assert_check
from transforms.python.writing import traced

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")

DEFERRED = (
    *("n + 2 == m", "n != 5", "n", "n % 2 == 0", "x.shape == y.shape", "x.shape[1:] == (6,)", "n in (2, 4)", "bool(n)"),
    *("len(x) == len(y)", "x.numel() == 24, 'm'", "n == 4, 'a' 'b'", "n == 4, 'a' + 'b'", "n == 4, f'm'"),
    *("x.dim() == 2 and n == 4", "x.dim() == 3 or n == 4", "x.dim() == 3 or (x.dim() == 2 and n == 4)", "n == 4, None"),
    *("n in [2, 4]", "n in [2 * k for k in (1, 2)]", "n in sorted(NAMED)", "n in list({2, 4})"),
    *("True if x.dim() == 2 else n == 4", "sym_or(n == 1, n == 4)", "torch.sym_not(n > 9)", "(c := n == 4)"),
)
ASKED = {
    **dict.fromkeys(("n == 4 and m == 6", "n == 4 and x.dim() == 2", "x.dim() == 2 and n == 4 and m == 6"), traced.AND),
    **dict.fromkeys(("n == 1 or n == 4", "n == 4 or x.dim() == 2"), traced.OR),
    **dict.fromkeys(("0 < n <= 8", "0 < x.dim() < n"), traced.CHAIN),
    **dict.fromkeys(("not n % 2", "not n > 9"), traced.NOT),
    **dict.fromkeys(("n not in (2, 5)", "n not in (2,)"), traced.NOT_IN),
    **dict.fromkeys(("n in {2, 4}", "n in {2 * k for k in (1, 2)}", "n in {2: 1, 4: 2}"), traced.LOOKED_UP),
    "n in frozenset((2, 4))": traced.LOOKED_UP,
    "n in NAMED": traced.MAY_LOOK_UP,
    "x.shape != y.shape": traced.SHAPES,
    "n == 4 if x.dim() == 2 else n > 2": traced.CHOICE,
    **dict.fromkeys(("all([d % 2 == 0 for d in x.shape])", "all(d % 2 == 0 for d in x.shape)"), traced.ALL),
    "any(d % 2 == 0 for d in x.shape)": traced.ANY,
    **dict.fromkeys(("n == 4, f'{n}'", "n == 4, 'rows %d' % 3", "n == 4, str(4)", "n == 4, name"), traced.MESSAGE),
}
HEAD = "import torch\nfrom torch.fx.experimental.symbolic_shapes import sym_or\n\nNAMED = {2, 4}\n"
REST = "def f(x: torch.Tensor, y: torch.Tensor):\n    n, m = x.shape\n    name = 'm'\n    assert {}\n    return x + 1\n"


@pytest.mark.parametrize("asserted", [*DEFERRED, *ASKED])
def test_dynamo_asks_where_it_is_said_to(asserted: str, tmp_path: Path) -> None:
    import torch

    source = f"{HEAD}\n\n{REST.format(asserted)}"
    reasons = [finding.reason for finding in find(f"{HEAD}\n\n@torch.compile\n{REST.format(asserted)}", torch=False)
               if finding.rule == assert_check.NAME]  # fmt: skip
    assert reasons == [ASKED.get(asserted, assert_check.TRACED)]
    (tmp_path / "asserted.py").write_text(source)
    namespace: dict[str, Any] = {}
    exec(compile(source, str(tmp_path / "asserted.py"), "exec"), namespace)
    rows, other = torch.ones(4, 6), torch.ones(4, 6)
    for tensor in (rows, other):
        torch._dynamo.decorators.mark_unbacked(tensor, 0)
        torch._dynamo.decorators.mark_unbacked(tensor, 1)
    torch._dynamo.reset()
    logging.disable(logging.CRITICAL)  # torch logs each question that it cannot answer
    outcome = pytest.raises(Exception, match="data-dependent") if asserted in ASKED else contextlib.nullcontext()
    with contextlib.ExitStack() as stack, outcome:
        stack.callback(logging.disable, logging.NOTSET)
        compiled: Any = torch.compile(namespace["f"], fullgraph=True, backend="eager", dynamic=True)
        compiled(rows, other)
