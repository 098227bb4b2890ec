"""Dynamo makes checks of the assertions that are said to become ones, and of no others."""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path
from typing import Any

import pytest

from codemod.model.findings import Level
from tests.transforms.python.conftest import apply, find
from transforms.python.rules import assert_check, split_assert
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


SPLIT = (
    *("n == 4 and m == 6", "n == 4 and x.dim() == 2", "x.dim() == 2 and n == 4 and m == 6", "0 < n <= 8"),
    *("0 < x.dim() < n", "n == 1 or n == 4", "n == m or n == 4", "not n % 2", "not n > 9", "not (n > 9 or m == 5)"),
    *("n not in (2, 5)", "n not in (2,)", "not n in [2, m]", "n in {2, 4}", "not (n != 4)"),
    *("all(d % 2 == 0 for d in x.shape)", "x.dim() == 2 and all(d > 0 for d in x.shape)", "n < 9 and 0 < m <= 6"),
    *("(c := x.dim()) and n == 4 and m == 6 * c // 2", "(c := n == 4) and m == 6"),
    *(
        "(n == 4 and\n            m == 6)",
        "(n ==\n            4 and m == 6), 'four'",
        "n == 4 and (  # rows\n        m == 6)",
        "all(d % 2 == 0 for d in x  # of each\n        .shape)",
    ),
)
SIZES = (1, 2, 3, 4, 5, 6, 8, 9, 10)


def compiled(source: str, folder: Path) -> Any:
    """The function of a source, as it is and as Dynamo compiles it for sizes that it knows nothing of."""
    import torch

    (folder / "asserted.py").write_text(source)
    namespace: dict[str, Any] = {}
    exec(compile(source, str(folder / "asserted.py"), "exec"), namespace)
    torch._dynamo.reset()
    return namespace["f"], torch.compile(namespace["f"], fullgraph=True, backend="eager", dynamic=True)


def unbacked() -> tuple[Any, Any]:
    """Two tensors of four rows and six columns, which Dynamo is told nothing of."""
    import torch

    rows, other = torch.ones(4, 6), torch.ones(4, 6)
    for tensor in (rows, other):
        torch._dynamo.decorators.mark_unbacked(tensor, 0)
        torch._dynamo.decorators.mark_unbacked(tensor, 1)
    return rows, other


def asks(function: Any) -> bool:
    """Whether Dynamo asks for a size that it does not know."""
    logging.disable(logging.CRITICAL)  # torch logs each question that it cannot answer
    try:
        function(*unbacked())
    except Exception as error:
        message = str(error)
    else:
        return False
    finally:
        logging.disable(logging.NOTSET)
    assert "data-dependent" in message
    return True


@pytest.mark.parametrize("asserted", [*DEFERRED, *ASKED])
def test_dynamo_asks_where_it_is_said_to(asserted: str, tmp_path: Path) -> None:
    source = f"{HEAD}\n\n{REST.format(asserted)}"
    findings = find(f"{HEAD}\n\n@torch.compile\n{REST.format(asserted)}", torch=False)
    found = [(f.rule, f.reason) for f in findings if f.rule in (assert_check.NAME, split_assert.NAME)]
    split = (
        [(split_assert.NAME, "")]
        if asserted in SPLIT
        else [(assert_check.NAME, ASKED.get(asserted, assert_check.TRACED))]
    )
    assert found == split
    assert asks(compiled(source, tmp_path)[1]) == (asserted in ASKED)


@pytest.mark.parametrize("asserted", SPLIT)
def test_what_is_split_asserts_the_same_and_is_asked_for_no_more(asserted: str, tmp_path: Path) -> None:
    import torch

    source = f"{HEAD}\n\n@torch.compile\n{REST.format(asserted)}"
    new = apply(source, Level.SAFE, torch=False)
    assert new != source
    assert apply(new, Level.REVIEW, torch=False) == new
    before, asking = compiled(source.replace("@torch.compile\n", ""), tmp_path)
    after, checking = compiled(new.replace("@torch.compile\n", ""), tmp_path)
    for n in SIZES:
        for m in SIZES:
            x = torch.ones(n, m)
            ends = []
            for function in (before, after):
                try:
                    ends.append(function(x, x).shape)
                except AssertionError as error:
                    ends.append(str(error))
            assert ends[0] == ends[1]
    assert asks(asking)
    torch._dynamo.reset()
    assert not asks(checking)


@pytest.mark.parametrize(
    "asserted",
    [
        *("(n if n > m else m) == 6 and m == 6", "n == 1 or n == x.shape[1]", "n == 1 or m == 6", "n == 1 or n > 3"),
        *("n == 4 and m == 6, f'{n}'", "0 < next(NUMBERS) < n", "n not in NAMED", "n not in (next(NUMBERS), 3)"),
        *("np.all(np.equal(x.shape, (4, 6))) and n == 4",),
        *("not (n == 4 and m == 6)", "all(d % 2 == 0 for d in x.shape if d)", "all(0 < d < 9 for d in x.shape)"),
        *("all(name % 2 == 0 for name in x.shape)", "x.shape != y.shape and n == 4", "any(d > 3 for d in x.shape)"),
    ],
)
def test_what_is_not_the_same_in_parts_is_left(asserted: str) -> None:
    findings = find(f"{HEAD}\n\n@torch.compile\n{REST.format(asserted)}", torch=False)
    assert not [finding for finding in findings if finding.rule == split_assert.NAME]


def test_what_stands_beside_it_is_kept() -> None:
    source = REST.replace("assert {}", "x = x + 1; assert n == 4 and m == 6")
    assert not [f for f in find(f"{HEAD}\n\n@torch.compile\n{source}", torch=False) if f.edits]
