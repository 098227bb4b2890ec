"""Checks of sizes that are left to the running graph: which ones, how they read, and what they come with."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.findings import Level
from codemod.model.groups import make_groups
from tests.transforms.cpp.snippets import converted, findings

ROWS = 'Tensor f(const Tensor& x) { TORCH_CHECK(x.size(0) > 1, "rows"); return x; }'


def checked(condition: str) -> str:
    return (
        "Tensor f(const Tensor& x, int64_t k) { const auto n = x.sym_size(0); const auto m = x.sym_numel(); "
        f'TORCH_CHECK({condition}, "no"); return x.sum(); }}'
    )


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x.sym_size(0) != 2", "x.sym_size(0).sym_ne(2)"),
        ("3 <= x.sym_size(0)", "c10::SymInt(3).sym_le(x.sym_size(0))"),
        ("x.sym_size(0) % 2 == 0", "(x.sym_size(0) % 2).sym_eq(0)"),
        ("(x.sym_size(0) + 1) < 9", "(x.sym_size(0) + 1).sym_lt(9)"),
        ("x.dim() == 1 || x.sym_size(0) == 2", "x.dim() == 1 ? c10::SymBool(true) : x.sym_size(0).sym_eq(2)"),
        ("!x.defined() || x.sym_size(0) == 2", "!x.defined() ? c10::SymBool(true) : x.sym_size(0).sym_eq(2)"),
        ("x.dim() == 2 && x.sym_size(0) > 1", "x.dim() == 2 ? x.sym_size(0).sym_gt(1) : c10::SymBool(false)"),
        ("n < x.sym_size(0) && n != m", "n.sym_lt(x.sym_size(0)).sym_and(n.sym_ne(m))"),
        (
            "(x.defined() || n != 0) || m == 1",
            "(x.defined() ? c10::SymBool(true) : n.sym_ne(0)).sym_or(m.sym_eq(1))",
        ),
        ("(n == 1) || m == 1", "(n.sym_eq(1)).sym_or(m.sym_eq(1))"),
        ("x.sym_size(0) /* rows */ == 2", "x.sym_size(0)/* rows */ .sym_eq(2)"),
        ("n == 1 || /* columns */ m == 2", "n.sym_eq(1).sym_or(/* columns */ m.sym_eq(2))"),
        ("x.dim() == 1 || /* of a || b */ n == 2", "x.dim() == 1 ? c10::SymBool(true) : /* of a || b */ n.sym_eq(2)"),
        ("n > 1 && m > 1 && n != m", "n.sym_gt(1).sym_and(m.sym_gt(1)).sym_and(n.sym_ne(m))"),
        (
            "x.dim() == 2 && (n == 1 || n == m)",
            "x.dim() == 2 ? (n.sym_eq(1).sym_or(n.sym_eq(m))) : c10::SymBool(false)",
        ),
    ],
)
def test_the_symint_on_the_left_is_asked(tmp_path: Path, condition: str, expected: str) -> None:
    assert converted(tmp_path, checked(condition)) == checked(expected).replace("TORCH_CHECK", "TORCH_SYM_CHECK")


EXPECTED = ".expect_true(__FILE__, __LINE__)"
COLUMNS = f"x.sym_size(1).sym_gt(1){EXPECTED}"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("n != 0 && x.sym_size(1) != 0", f"n.sym_ne(0){EXPECTED} && x.sym_size(1).sym_ne(0){EXPECTED}"),
        ("(n == 2) && k == 1 && m > n", f"n.sym_eq(2){EXPECTED} && k == 1 && m.sym_gt(n){EXPECTED}"),
        (
            "(k == 1 && n > 1 && x.sym_size(1) > 1) || (k == 2 && x.sym_size(1) > 1)",
            f"(k == 1 && n.sym_gt(1){EXPECTED} && {COLUMNS}) || (k == 2 && {COLUMNS})",
        ),
    ],
)
def test_comparisons_are_expected_one_by_one(tmp_path: Path, condition: str, expected: str) -> None:
    after = checked(expected)
    assert converted(tmp_path, checked(condition)) == after
    assert converted(tmp_path, after) == after


@pytest.mark.parametrize(
    "condition",
    [
        "(k == 1 && n > 1 && x.sym_size(1) > 1) || (k == 1 && m > 1 && x.sym_size(1) > 2)",  # both may be asked
        "(k == 1 && n > 1 && x.sym_size(1) > 1) || (k > 1 && m > 1 && x.sym_size(1) > 2)",
        "(k == 1 && n > 1 && x.sym_size(1) > 1) || k > 0",  # may hold whatever the sizes are
        "(k == 1 && n > 1 && x.sym_size(1) > 1) || (k + 1 == 2 && x.sym_size(0) > 1 && x.sym_size(1) > 2)",
        "!(n != 0 && x.sym_size(1) != 0)",
        "x.sym_size(1) == 3 || x.sym_size(1) == 4",  # expected of the first, it would never come to the second
        "x.dim() == 1 || n == 3 || n == 4",
        "(n == 3 && x.sym_size(0) == 2) || (n == 4 && x.sym_size(0) == 1)",
        "x.dim() == 2",
        "x.defined()",
        "x.sym_size(0) == 2 || x.dim() == 1",
        "n == 1 || x.sym_size(1) == 2",
        "n == 1 || m / n == 2",
        "x.dim() == 1 || n == 2 || m == 2",
        "(n == 1 && x.dim() == 1) || m == 2",
        "any(x) || n == 1",
        "n.sym_eq(1) || m == 1",
        "x.sym_numel() == 0 && x.dim() == 1 || m == 1",
    ],
)
def test_other_conditions_stay(tmp_path: Path, condition: str) -> None:
    assert converted(tmp_path, checked(condition)) == checked(condition)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x.sizes() == y.sizes()", "sym_equals(x.sym_sizes(), y.sym_sizes())"),
        ("x.sizes() != y.sizes()", "sym_equals(x.sym_sizes(), y.sym_sizes()).sym_not()"),
        ("b || x.sizes() == y.sizes()", "b ? c10::SymBool(true) : sym_equals(x.sym_sizes(), y.sym_sizes())"),
    ],
)
def test_shapes_are_compared_whole(tmp_path: Path, condition: str, expected: str) -> None:
    source = 'Tensor f(const Tensor& x, const Tensor& y, bool b) {{ {}({}, "shapes"); return x + y; }}'
    assert converted(tmp_path, source.format("TORCH_CHECK", condition)) == source.format("TORCH_SYM_CHECK", expected)


@pytest.mark.parametrize("condition", ["x.sizes() < y.sizes()", "x.sizes() == taken", "x.sizes() == IntArrayRef({2})"])
def test_other_comparisons_of_shapes_stay(tmp_path: Path, condition: str) -> None:
    source = f'Tensor f(Tensor x, Tensor y, IntArrayRef taken) {{ TORCH_CHECK({condition}, "shapes"); return x + y; }}'
    assert "TORCH_SYM_CHECK" not in converted(tmp_path, source)


def test_a_macro_without_a_twin_keeps_its_name(tmp_path: Path) -> None:
    source = 'Tensor f(const Tensor& x, bool b) {{ TORCH_CHECK_VALUE({}, "rows"); return x.sum(); }}'
    after = source.format("(b ? c10::SymBool(true) : x.sym_size(0).sym_eq(2)).expect_true(__FILE__, __LINE__)")
    assert converted(tmp_path, source.format("b || x.size(0) == 2")) == after
    assert converted(tmp_path, after) == after


def test_a_check_without_a_message_stays(tmp_path: Path) -> None:
    source = "Tensor f(const Tensor& x) { TORCH_CHECK(x.sym_size(0) == 2); return x.sum(); }"
    assert converted(tmp_path, source) == source


def test_the_accessors_stay_safe_and_the_check_holds_them_for_itself(tmp_path: Path) -> None:
    assert converted(tmp_path, ROWS, Level.SAFE) == ROWS.replace("x.size", "x.sym_size")
    safe, review = sorted(make_groups(findings(tmp_path, ROWS)), key=lambda group: group.level)
    assert (safe.level, review.level) == (Level.SAFE, Level.REVIEW)
    assert set(safe.edits) < set(review.edits)


TEMPLATE = (
    "template <typename T> static void check(const Tensor& w, const T& n, int64_t k) {{ "
    'TORCH_CHECK({}, "no"); take(at::symint::{}<T>(w)); }}\n'
    "Tensor f(const Tensor& x) {{ check(x, x.sym_size(0), 2); return x.sum(); }}"
)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("n % k == 0", "c10::SymInt(n % k).sym_eq(0)"),
        ("at::symint::numel<T>(w) >= n", "c10::SymInt(at::symint::numel<T>(w)).sym_ge(n)"),
        ("w.dim() == 1 || 2 * n > k", "w.dim() == 1 ? c10::SymBool(true) : c10::SymInt(2 * n).sym_gt(k)"),
    ],
)
def test_a_number_of_a_template_is_a_symint_where_it_may_be(tmp_path: Path, condition: str, expected: str) -> None:
    before = TEMPLATE.format(condition, "numel")
    after = TEMPLATE.format(expected, "numel").replace("TORCH_CHECK", "TORCH_SYM_CHECK")
    assert converted(tmp_path, before) == after
    assert converted(tmp_path, after) == after


@pytest.mark.parametrize("condition", ["n.lower() == 0", "n == w", "k > 2", "w.dim() == 1 || n == 3 || n == 4"])
def test_other_values_of_a_template_stay(tmp_path: Path, condition: str) -> None:
    source = TEMPLATE.format(condition, "numel")
    assert converted(tmp_path, source) == source


def test_a_type_that_is_not_asked_of_tensors_may_be_any(tmp_path: Path) -> None:
    source = TEMPLATE.format("n % k == 0", "numel").replace("symint::numel<T>", "symint::numel<int64_t>")
    assert converted(tmp_path, source) == source
