"""The quotient that serves every size gives, for unknown sizes too, the number that the choice would have given."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

BEFORE = (
    "def f(x: Tensor, y: Tensor):\n    n, m = x.size(0), y.size(0)\n    return (n - 1.0) / (m - {}) if m {} else 0\n"
)


class Sized:
    """Stands for a Tensor of one dimension."""

    def __init__(self, size: int) -> None:
        self._size = size

    def size(self, dimension: int) -> int:
        """The size of its only dimension."""
        return self._size


def called(source: str, monkeypatch: pytest.MonkeyPatch, concrete: bool) -> Any:
    """The function of a source over a torch whose guards answer only where sizes are `concrete`."""
    torch, shapes = ModuleType("torch"), ModuleType("torch.fx.experimental.symbolic_shapes")
    vars(torch).update(sym_max=max, sym_min=min)
    vars(shapes).update(guard_or_true=lambda condition: condition if concrete else True)
    for name in ("torch.fx", "torch.fx.experimental"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, shapes.__name__, shapes)
    monkeypatch.setitem(sys.modules, "torch", torch)
    names: dict[str, Any] = {"torch": torch, "Tensor": Sized}
    exec(source, names)
    return names["f"]


@pytest.mark.parametrize("concrete", [True, False])
@pytest.mark.parametrize(("least", "test"), [("1.0", "> 1"), ("1", "> 1"), ("1.0", ">= 2")])
def test_the_same_number_for_every_size(
    rewrite: Any, monkeypatch: pytest.MonkeyPatch, least: str, test: str, concrete: bool
) -> None:
    before = BEFORE.format(least, test)
    after = rewrite(before)
    assert after != before
    old, new = (called(source, monkeypatch, concrete) for source in (before, after))
    for n in range(6):
        for m in range(6):
            assert new(Sized(n), Sized(m)) == old(Sized(n), Sized(m)), (n, m)


@pytest.mark.parametrize(
    ("least", "test"), [("2.0", "> 1"), ("1.0", "> 0"), ("1.0", "> 2"), ("1.0", "< 1"), ("True", "> 1")]
)
def test_another_size_than_the_one_that_divides_by_0(look: Any, least: str, test: str) -> None:
    found = look(BEFORE.format(least, test))
    assert found
    assert "guarded-quotient" not in {finding.rule for finding in found if finding.edits}
