"""The names of operators."""

from __future__ import annotations

import pytest

from codemod.model.operators import operator_name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a b",
        "a::",
        "::a",
        "a::b::c",
        "a.b.c",
        "a.",
        ".a",
        "1a",
        "a::1",
        "a.1",
        "a-b",
        "a\n",
        "\x1b[2J",
        "a::b(c)",
        "ä",
        "Fixes #1 @someone",
        "::error file=x::y",
        "a/../b",
        "a::b ",
        " a",
    ],
)
def test_what_is_no_name(name: str) -> None:
    assert operator_name(name) == ""
    assert operator_name(name, "lib") == ""


@pytest.mark.parametrize(
    "name", ["add", "add.Tensor", "aten::add", "aten::__and__.Scalar", "_c10d::all_reduce_", "a1::_2.x3"]
)
def test_what_is_one(name: str) -> None:
    assert operator_name(name) == name
    assert operator_name(name, "lib") == (name if "::" in name else f"lib::{name}")


@pytest.mark.parametrize("namespace", ["CONCAT(a, b)", "a::b", "1", " "])
def test_a_namespace_that_is_none(namespace: str) -> None:
    assert operator_name("add", namespace) == ""
