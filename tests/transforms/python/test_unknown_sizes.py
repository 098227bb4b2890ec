"""Rewritten functions where no size is known: what their guards assume is right, or a check says that it is not."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from tests.conftest import drawn

CLAMPED = """
def f(x: Tensor, n: int):
    shape = x.shape
    pads = [0] * 2
    grown = False
    if shape[0] < n:
        grown = True
        pads[1] = n - shape[0]
    if shape[0] > n:
        x = x.narrow(0, 0, n)
    return torch.constant_pad_nd(x, pads) if grown else x
"""
SORTED = """
def f(x: Tensor, dims: list[int]):
    strides = x.stride()
    order = sorted(dims, key=lambda d: strides[d], reverse={})
    dims.sort(key=lambda d: strides[d])
    return order, dims
"""


class Rows:
    """A tensor of one dimension."""

    def __init__(self, *values: int) -> None:
        self.values = values
        self.shape = (len(values),)
        self.elements = len(values)

    def narrow(self, dimension: int, start: int, length: int) -> Rows:
        if dimension or start < 0 or start + length > len(self.values):
            raise RuntimeError("out of range")
        return Rows(*self.values[start : start + length])

    def stride(self) -> tuple[int, ...]:
        return self.values

    def numel(self) -> int:
        return self.elements


def pad(x: Rows, pads: list[int]) -> Rows:
    assert min(pads) >= 0
    return Rows(*([0] * pads[0]), *x.values, *([0] * pads[1]))


def check(condition: bool, message: Callable[[], str]) -> None:
    if not condition:
        raise RuntimeError(message())


def function(source: str, concrete: bool) -> Callable[..., Any]:
    """A source's function, its guards answered by the sizes or, where they are not `concrete`, by their default."""
    guards = types.SimpleNamespace(
        guard_or_true=lambda truth: truth if concrete else True, sym_or=lambda *truths: any(truths)
    )
    torch = types.SimpleNamespace(_check=check, sym_max=max, sym_min=min, constant_pad_nd=pad)

    def importer(name: str, *rest: Any) -> Any:
        return guards if name == "torch.fx.experimental.symbolic_shapes" else builtins.__import__(name, *rest)

    names = {"torch": torch, "Tensor": Rows, "__builtins__": {**vars(builtins), "__import__": importer}}
    exec(compile(source, "generated", "exec"), names)
    made: Callable[..., Any] = names["f"]  # type: ignore[assignment]
    return made


@pytest.mark.parametrize("concrete", [True, False])
@pytest.mark.parametrize("wanted", range(5))
@pytest.mark.parametrize("size", range(5))
def test_clamped_amounts_serve_both_outcomes(rewrite: Any, size: int, wanted: int, concrete: bool) -> None:
    rewritten = rewrite(CLAMPED)
    assert "guard_or_true(shape[0] < n)" in rewritten
    assert "guard_or_true(shape[0] > n)" in rewritten
    x = Rows(*range(1, size + 1))
    expected = function(CLAMPED, True)(x, wanted)
    assert function(rewritten, concrete)(x, wanted).values == expected.values


@settings(max_examples=drawn(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.booleans(), st.booleans(), st.booleans())
def test_an_order_is_kept_or_checked(rewrite: Any, strides: Any, falling: Any, concrete: Any, empty: Any) -> None:
    source = SORTED.format(falling)
    x, dims = Rows(*strides), list(range(len(strides)))
    x.elements = 0 if empty else 2
    expected = function(source, True)(x, list(dims))
    changed = function(rewrite(source), concrete)
    ordered = all(order == dims for order in expected)
    if concrete or ordered:
        assert changed(x, list(dims)) == expected
    elif empty:  # no stride of it leads to an element: whatever the order, nothing is refused
        assert [sorted(order) for order in changed(x, list(dims))] == [dims, dims]
    else:
        with pytest.raises(RuntimeError, match="expected strides"):
            changed(x, list(dims))
