"""Branches on sizes that only raise: what is expected instead, and where more depends on the branch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms.cpp.snippets import converted

EXPECTED = ".expect_true(__FILE__, __LINE__)"


def raising(condition: str, body: str = '{ TORCH_CHECK_VALUE(false, "no"); }') -> str:
    return (
        "Tensor f(const Tensor& x, const Tensor& y, bool b) { "
        f"const auto n = x.sym_size(0); if ({condition}) {body} return x.sum(); }}"
    )


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("n != 2", f"!n.sym_eq(2){EXPECTED}"),
        ("(n > y.sym_size(0))", f"(!n.sym_le(y.sym_size(0)){EXPECTED})"),
        ("n < 2 || b || n == 7", f"!n.sym_ge(2){EXPECTED} || b || !n.sym_ne(7){EXPECTED}"),
        ("b && n != 2", f"b && !n.sym_eq(2){EXPECTED}"),
        ("x.sym_sizes() != y.sym_sizes()", f"!sym_equals(x.sym_sizes(), y.sym_sizes()){EXPECTED}"),
    ],
)
def test_the_opposite_is_expected(tmp_path: Path, condition: str, expected: str) -> None:
    after = raising(expected.removeprefix("(").removesuffix(")") if condition.startswith("(") else expected)
    assert converted(tmp_path, raising(condition)) == after
    assert converted(tmp_path, after) == after


@pytest.mark.parametrize("condition", ["x.dim() != 2", "n != 2 && b", "n != 2 && n != 3", "!(n == 2)", "b", "n"])
def test_other_conditions_stay(tmp_path: Path, condition: str) -> None:
    assert "expect" not in converted(tmp_path, raising(condition))


@pytest.mark.parametrize(
    "body",
    [
        '{ TORCH_CHECK_VALUE(b, "no"); }',
        '{ TORCH_WARN("few"); TORCH_CHECK(false, "no"); }',
        '{ TORCH_CHECK(false, "no"); } else { return y; }',
    ],
)
def test_a_branch_that_does_more_stays(tmp_path: Path, body: str) -> None:
    source = raising("n != 2", body)
    assert converted(tmp_path, source) == source
