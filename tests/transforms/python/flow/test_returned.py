"""What a call returns is told by what it is given, where that decides."""

from __future__ import annotations

import json

import pytest

from codemod.cli import main
from tests.conftest import MakeTree

HELPERS = """import torch
from torch import Tensor, nn


def divisible(n, m):
    return n % m == 0


def default(*values):
    for value in values:
        if value is not None:
            return value() if callable(value) else value
    return None


def given(value, other):
    return other if value is None else value


def rows(x, n=None):
    return x.size(0) if n is None else n


def chosen(n, scale=1):
    return default(n, scale)


class Model(nn.Module):
    def __init__(self):
        self.divisible = divisible

    def same(self, n):
        return n

    def forward(self, x: Tensor, k: int, *others):
        n = x.shape[0]
        both = divisible(n, 2), default(n, 1), given(None, x.sum()), rows(x, n), chosen(n), self.same(n)
"""


@pytest.mark.parametrize(
    ("test", "asks"),
    [
        ("divisible(n, 3)", True),
        ("divisible(k + 1, 3)", False),
        ("divisible(3, m=n)", True),
        ("divisible(k, m=self.blocks)", False),
        ("divisible(*others)", True),  # which may be sizes for all that is known
        ("default(None, n) == 2", True),
        ("default(None, self.causal)", False),
        ("default(None, k) == 2", False),
        ("n == 1 and given(k, self.causal)", True),  # that other calls give a Tensor says nothing of this one
        ("rows(self.table, k) == 2", True),  # whatever it is given
        ("chosen(k) == 2", True),  # what it gives is another function's
        ("self.same(k) == 2", False),
        ("self.same(n) == 2", True),
    ],
)
def test_a_call_is_judged_by_what_it_is_given(
    make_tree: MakeTree,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    test: str,
    asks: bool,
) -> None:
    source = f"{HELPERS}        if {test}:\n            x = x.mT\n        return x, both\n"
    monkeypatch.chdir(make_tree({"model.py": source.encode()}))
    with pytest.raises(SystemExit):
        main(["scan", "--scope", "all", "--format", "json"])
    found = [f for f in json.loads(capsys.readouterr().out)["findings"] if f["function"] == "Model.forward"]
    assert bool(found) is asks
