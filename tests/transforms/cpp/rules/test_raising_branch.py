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


def leaving(
    condition: str,
    rest: str = "return {x.sum(), y};",
    head: str = "std::tuple<Tensor, Tensor> f(const Tensor& x, Tensor y)",
) -> str:
    return f"{head} {{ const auto n = y.sym_size(0); if ({condition}) {{ return {{x, y}}; }} {rest} }}"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x.sym_numel() == 0", f"!x.sym_numel().sym_ne(0){EXPECTED}"),
        ("n < 1", f"!n.sym_ge(1){EXPECTED}"),
        ("!x.numel()", f"!x.sym_numel().sym_ne(0){EXPECTED}"),
        ("!(x.size(0) * n)", f"!((x.sym_size(0) * n).sym_ne(0){EXPECTED})"),
        (
            "x.dim() == 0 || !x.numel() || n == 0",
            f"x.dim() == 0 || !x.sym_numel().sym_ne(0){EXPECTED} || !n.sym_ne(0){EXPECTED}",
        ),
        ("x.dim() && !y.numel()", f"x.dim() && !y.sym_numel().sym_ne(0){EXPECTED}"),
    ],
)
@pytest.mark.parametrize(
    ("rest", "head"),
    [
        ("return {x.sum(), y};", "std::tuple<Tensor, Tensor> f(const Tensor& x, Tensor y)"),
        ("y.add_(x); return {x.mean(), y};", "std::tuple<Tensor, Tensor> f(const Tensor& x, Tensor& y)"),
        ("return {x / n, 3};", "std::tuple<Tensor, int64_t> f(const Tensor& x, Tensor y)"),
    ],
)
def test_a_tensor_behind_a_shortcut_is_expected_to_have_elements(
    tmp_path: Path, condition: str, expected: str, rest: str, head: str
) -> None:
    after = leaving(expected, rest, head)
    assert converted(tmp_path, leaving(condition, rest, head)) == after
    assert converted(tmp_path, after) == after


@pytest.mark.parametrize(
    "source",
    [
        leaving("n == 0 && x.dim()"),
        leaving("n == 1"),
        leaving("n == 0").replace("return {x, y}; }", "y = x; }"),
        leaving("n == 0", "return f(x.sum(), y);"),
        leaving("n == 0", "return {true, 1};", "std::tuple<bool, int64_t> f(const Tensor& x, Tensor y)"),
        leaving("n == 0", "return x.mean();", "Tensor f(const Tensor& x, Tensor y)"),
        leaving("n == 0").replace("if (", "for (auto& z : xs) { if (").replace("{x, y}; }", "{x, y}; } }"),
        "void f(const Tensor& x, Tensor& y) { if (x.sym_numel() == 0) { return; } y.copy_(x.mean()); }",
    ],
)
def test_other_shortcuts_are_asked_for(tmp_path: Path, source: str) -> None:
    assert converted(tmp_path, source) == source


def test_a_number_before_a_condition_of_c_is_compared_alone(tmp_path: Path) -> None:
    source = leaving("!x.numel() && x.dim()")
    after = source.replace("!x.numel()", "x.sym_numel() == 0")
    assert converted(tmp_path, source) == after
    assert converted(tmp_path, after) == after


def agreeing(condition: str, taken: str = "return false;", rest: str = "return true;", returns: str = "bool") -> str:
    return (
        f"{returns} f(const Tensor& x, c10::SymInt m, int64_t k) {{ const auto n = x.sym_size(0); "
        f"for (const auto i : c10::irange(k)) {{ if ({condition}) {{ {taken} }} }} {rest} }}"
    )


AGREED = f"!TORCH_GUARD_OR_FALSE(n.sym_eq(1)) && !n.sym_eq(m){EXPECTED}"


@pytest.mark.parametrize("condition", ["n != m && n != 1", "n != 1 && n != m"])
def test_sizes_are_expected_to_be_broadcast(tmp_path: Path, condition: str) -> None:
    assert converted(tmp_path, agreeing(condition)) == agreeing(AGREED)
    assert converted(tmp_path, agreeing(AGREED)) == agreeing(AGREED)


@pytest.mark.parametrize(
    "source",
    [
        agreeing("n != m"),
        agreeing("n != m || n != 1"),
        agreeing("n != m && m != 1"),
        agreeing("n != m && n != 2"),
        agreeing("n != m && n == 1"),
        agreeing("n != m && n != 1 && k > 2"),
        agreeing("n != m + k && n != 1"),
        agreeing("k != n && k != 1"),
        agreeing("x.sym_size(0) != m && x.sym_size(0) != 1"),
        agreeing("n != m && n != 1", "return true;", "return false;"),
        agreeing("n != m && n != 1", "return false;", "return k > 2;"),
        agreeing("n != m && n != 1", "k = 2; return false;"),
        agreeing("n != m && n != 1", "break;"),
        agreeing("n != m && n != 1", "return false;", "return true;", "int64_t"),
    ],
)
def test_other_answers_are_asked_for(tmp_path: Path, source: str) -> None:
    assert converted(tmp_path, source) == source
