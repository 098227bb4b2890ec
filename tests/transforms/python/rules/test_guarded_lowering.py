"""Sizes that lowerings of Inductor make numbers of: which need not be, and what is compiled then."""

from __future__ import annotations

from typing import Any

import pytest

from transforms.python.flow.plain_arguments import takes_size

HEAD = """from torch import Tensor
from torch._inductor.lowering import register_lowering
from torch.utils._sympy.functions import FloorDiv


@register_lowering([aten.slice, aten.topk], type_promotion_kind=None)
@wrapped
def slice_(x, dim=0, start=0, end=9, step=1):
    return x


@register_lowering(aten.topk)
def topk(x, k, dim=-1):
    return x


def helper(x, n):
    return x


@register_lowering(aten.f)
def f(x, dim):
"""
GUARD = "V.graph.sizevars.guard_int(x.get_size()[dim])"


def _lowering(body: str) -> str:
    return HEAD.replace("[aten.slice, aten.topk]", "aten.slice") + body


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("    n = {0} // 2\n    return slice_(x, dim, 0, n)\n", "n = FloorDiv(x.get_size()[dim], 2)"),
        ("    n = {0}\n    return slice_(x, dim, n - 1, n)\n", "n = x.get_size()[dim]"),
        ("    n = {0}\n    m = n * 2\n    return slice_(x, dim, 0, end=m)\n", "n = x.get_size()[dim]"),
        ("    return slice_(x, dim, end=({0} + 1) // 2)\n", "end=FloorDiv(x.get_size()[dim] + 1, 2))"),
        ("    return slice_(x, dim, 0, {0})\n", "slice_(x, dim, 0, x.get_size()[dim])"),
        ("    sizes = V.graph.sizevars\n    n = sizes.guard_int(x.get_size()[0])\n    return slice_(x, 0, n)\n", ""),
        ("    n = {0} // 2\n    m = n // 2\n    return slice_(x, dim, 0, m)\n", ""),
        ("    n = {0}\n    return slice_(x, dim, n, 9, n)\n", "n = x.get_size()[dim]"),
        ("    n = {0}\n    return slice_(x, n, 0, 1)\n", ""),
        ("    n = {0}\n    return topk(x, n)\n", "n = x.get_size()[dim]"),
        ("    n = {0}\n    return topk(x, 1, n)\n", ""),
        ("    n = {0}\n    return helper(x, n)\n", ""),
        ("    n = {0}\n    return slice_(x, dim, *[n])\n", ""),
        ("    n = {0}\n    return slice_(x, dim, 0, n) if n > 2 else x\n", ""),
        ("    n = {0}\n    n = n + 1\n    return slice_(x, dim, 0, n)\n", ""),
        ("    n = {0}\n    return helper(x, lambda: slice_(x, dim, 0, n))\n", ""),
        ("    n = {0}\n    return [slice_(x, dim, i, i + 1) for i in range(n)]\n", ""),
        ("    n = [1] * {0}\n    return slice_(x, dim, 0, n)\n", ""),
        ("    n = {0} % 2\n    return slice_(x, dim, 0, n)\n", ""),
        ("    n = {0} / 2\n    return slice_(x, dim, 0, n)\n", ""),
        ("    return slice_(x, dim, 0, {0} * True)\n", ""),
    ],
)
def test_what_only_computes_with_a_size_does_without_the_number(rewrite: Any, body: str, written: str) -> None:
    source = _lowering(body.format(GUARD))
    if written:
        assert written in rewrite(source)
    else:
        assert rewrite(source) == source


def test_all_operators_of_a_lowering_take_the_size_and_the_file_has_how_inductor_divides(rewrite: Any) -> None:
    body = f"    n = {GUARD} // 2\n    return slice_(x, dim, 0, n)\n"
    for source in (HEAD + body, _lowering(body).replace("import FloorDiv", "import CeilDiv")):
        assert rewrite(source) == source


@pytest.mark.parametrize(("name", "said"), [("x.get_size()[0]", True), ("n", True), ("dim_size", True), ("dim", False)])
def test_of_dimensions_and_outside_of_lowerings_nothing_is_said(look: Any, name: str, said: bool) -> None:
    body = f"    return range(V.graph.sizevars.guard_int({name}))\n"
    source = f"@register_lowering(aten.f)\ndef f(x, n, dim, dim_size):\n{body}"
    assert [finding.rule for finding in look(source)] == ["guarded-lowering"] * said
    assert look(source, sympy=False) == []


def test_which_arguments_of_operators_are_sizes() -> None:
    assert takes_size("slice", 2)
    assert takes_size("slice", "end")
    assert not takes_size("slice", "dim")
    assert not takes_size("slice", 9)
    assert takes_size("view", 1)
    assert not takes_size("no_such_operator", 0)
