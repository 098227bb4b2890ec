"""Choices by sizes that need no answer: extrema, sizes a number apart, orders of one product."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms.cpp.snippets import converted


def function(body: str) -> str:
    return (
        "Tensor f(const Tensor& x, const Tensor& a, const Tensor& b, const Tensor& c, int64_t k) { "
        f"const auto n = x.sym_size(0); const auto m = x.sym_size(1); {body} }}"
    )


def sized(value: str) -> str:
    return function(f"return x.narrow_symint(0, 0, {value});")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("std::min(n, m)", "n.min(m)"),
        ("std::max(n - k, m + k)", "(n - k).max(m + k)"),
        ("std::max(std::min(n, m), x.sym_size(2))", "n.min(m).max(x.sym_size(2))"),
        ("std::max<c10::SymInt>(k, n)", "c10::SymInt(k).max(n)"),
        ("std::max(k, x.size(0))", "c10::SymInt(k).max(x.sym_size(0))"),
        ("n > k ? m + 1 : m", "n.sym_gt(k).toSymInt() + m"),
        ("k < n ? m : (m - 2)", "c10::SymInt(k).sym_ge(n).toSymInt() * -2 + m"),
        ("(n % 2 == 1 ? m + 1 : m) * 2", "((n % 2).sym_eq(1).toSymInt() + m) * 2"),
        ("x.size(0) > k ? m + 1 : m", "x.sym_size(0).sym_gt(k).toSymInt() + m"),
    ],
)
def test_a_size_is_computed_without_an_answer(tmp_path: Path, value: str, expected: str) -> None:
    assert converted(tmp_path, sized(value)) == sized(expected)
    assert converted(tmp_path, sized(expected)) == sized(expected)


@pytest.mark.parametrize(
    "value",
    [
        "std::max({n, m})",
        "std::max(n, m, [](const auto& p, const auto& q) { return p < q; })",
        "k > 2 ? m + 1 : m",
        "n > k ? m * 2 : m",
        "n > k ? m + k : m",
        "n > k ? m + 1 : n",
        "n > k && m > k ? m + 1 : m",
        "n > k ? x.sym_size(1) + 1 : x.sym_size(1)",
        "takes_int(n > k ? k + 1 : k)",
    ],
)
def test_other_sizes_stay(tmp_path: Path, value: str) -> None:
    assert converted(tmp_path, sized(value)) == sized(value)


LEFT, RIGHT = "at::mm(at::mm(a, b), c)", "at::mm(a, at::mm(b, c))"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (f"{{ return {LEFT}; }}", f"return {RIGHT};"),
        (f"{{ return {RIGHT}.reshape({{-1}}); }}", f"else {{ return {LEFT}.reshape({{-1}}); }}"),
        ("{ return at::mm_out(y, a, at::mm(b, c)); }", "return at::mm_out(y, at::mm(a, b), c);"),
        ("{ y = at::bmm(a, at::bmm(b, c)); }", "else { y = at::bmm(at::bmm(a, b), c); } return y;"),
    ],
)
def test_the_order_of_a_product_is_picked(tmp_path: Path, first: str, second: str) -> None:
    before, after = (
        function(f"Tensor y = x; if ({condition}) {first} {second}")
        for condition in ("n * k > m", "TORCH_GUARD_OR_FALSE((n * k).sym_gt(m))")
    )
    assert converted(tmp_path, before) == after
    assert converted(tmp_path, after) == after


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (f"return {LEFT};", "return at::mm(at::mm(a, c), b);"),
        ("return at::matmul(at::matmul(a, b), c);", "return at::matmul(a, at::matmul(b, c));"),  # b may be a vector
        ("return at::mm(at::bmm(a, b), c);", "return at::mm(a, at::bmm(b, c));"),
        (f"return {LEFT};", f"return {RIGHT} + 1;"),
        (f"k = 1; return {LEFT};", f"return {RIGHT};"),
        ("return at::mm_out(x, at::mm(a, b), c);", "return at::mm_out(a, a, at::mm(b, c));"),
    ],
)
def test_other_products_are_asked_for(tmp_path: Path, first: str, second: str) -> None:
    source = function(f"if (n * k > m) {{ {first} }} {second}")
    assert converted(tmp_path, source) == source


PICKED = "{{ return quick(a, b, k); }} {} at::steady(a, b, k);"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("n > 25", "TORCH_GUARD_OR_FALSE(n.sym_gt(25))"),
        (
            "k == 2 && (k > 3 || n >= 25 || m < 4)",
            "k == 2 && (k > 3 || TORCH_GUARD_OR_FALSE(n.sym_ge(25)) || TORCH_GUARD_OR_FALSE(m.sym_lt(4)))",
        ),
    ],
)
def test_a_size_picks_an_implementation(tmp_path: Path, condition: str, expected: str) -> None:
    before, after = (function(f"if ({text}) {PICKED.format('return')}") for text in (condition, expected))
    assert converted(tmp_path, before) == after
    assert converted(tmp_path, after) == after


@pytest.mark.parametrize(
    ("condition", "rest"),
    [
        ("n > 1", "return"),
        ("n >= 2", "return"),
        ("n < 2", "return"),
        ("n == 25", "return"),
        ("n > m", "return"),
        ("n - k > 25", "return"),
        ("!(n > 25)", "return"),
        ("n > 25", "return x +"),
        ("n > 25", "return x.sum(),"),
    ],
)
def test_other_conditions_pick_more_than_that(tmp_path: Path, condition: str, rest: str) -> None:
    source = function(f"if ({condition}) {PICKED.format(rest)}")
    assert converted(tmp_path, source) == source


def broadcast(first: str, second: str, rest: str) -> str:
    return (
        "Tensor f(const Tensor& x, const Tensor& y) { auto a = x; auto b = y; "
        "const auto n = x.sym_size(0); const auto m = y.sym_size(0); "
        f"if ({first}) {{ a = a.sum(0, true); }} else if ({second}) {{ b = b.sum(0, true); }} else {{ {rest} }} "
        "return a.mul(b); }"
    )


def test_sizes_that_are_broadcast_are_taken_to_agree(tmp_path: Path) -> None:
    before = broadcast("m == 1", "n == 1", 'TORCH_CHECK(n == m, "sizes");')
    first, second = (f"TORCH_GUARD_OR_FALSE({size}.sym_eq(1))" for size in ("m", "n"))
    after = broadcast(first, second, 'TORCH_SYM_CHECK(n.sym_eq(m), "sizes");')
    assert converted(tmp_path, before) == after
    assert converted(tmp_path, after) == after


@pytest.mark.parametrize(
    "rest",
    ["b = b.mul(2);", 'TORCH_CHECK(x.dim() == 2, "rank");', "TORCH_CHECK(y.dim() == x.dim()); b = b.mul(n);"],
)
def test_a_size_of_1_is_asked_for_where_nothing_checks_the_other_path(tmp_path: Path, rest: str) -> None:
    source = broadcast("m == 1", "n == 1", rest)
    assert converted(tmp_path, source) == source


def given(branch: str, head: str = "Tensor f(const Tensor& x, c10::SymIntArrayRef k, bool b)") -> str:
    return f"{head} {{ const auto n = x.sym_size(0); {branch} }}"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("k[0] == 1", "TORCH_GUARD_OR_FALSE(k[0].sym_eq(1))"),
        ("b && n == 32", "b && TORCH_GUARD_OR_FALSE(n.sym_eq(32))"),
        ("n == 1 && k[1] == 2", "TORCH_GUARD_OR_FALSE(n.sym_eq(1)) && TORCH_GUARD_OR_FALSE(k[1].sym_eq(2))"),
    ],
)
@pytest.mark.parametrize("rest", ["return general(x, k, b);", "else { return at::native::general(x, k, b); }"])
def test_a_special_number_is_not_asked_for_where_all_is_handed_on(
    tmp_path: Path, condition: str, expected: str, rest: str
) -> None:
    before, after = (given(f"if ({text}) {{ return x.sum(); }} {rest}") for text in (condition, expected))
    assert converted(tmp_path, before) == after
    assert converted(tmp_path, after) == after


@pytest.mark.parametrize(
    ("condition", "rest"),
    [
        ("k[0] == 1", "return general(x, k);"),
        ("k[0] == 1", "return general(k, x, b);"),
        ("k[0] == 1", "return general(x, k, b) + 1;"),
        ("k[0] == 1", "auto y = x; return general(x, k, b);"),
        ("k[0] == 1", "return f(x, k, b);"),
        ("k[0] == 0", "return general(x, k, b);"),
        ("k[0] == -1", "return general(x, k, b);"),
        ("k[0] != 1", "return general(x, k, b);"),
        ("k[0] == k[1]", "return general(x, k, b);"),
        ("k[0] == 1 || k[1] == 1", "return general(x, k, b);"),
        ("k[0] == 1 && k[1] > 2", "return general(x, k, b);"),
        ("b", "return general(x, k, b);"),
    ],
)
def test_a_special_number_is_asked_for_where_the_other_path_is_another(
    tmp_path: Path, condition: str, rest: str
) -> None:
    source = given(f"if ({condition}) {{ return x.sum(); }} {rest}")
    assert converted(tmp_path, source) == source


def test_without_parameters_nothing_is_handed_on(tmp_path: Path) -> None:
    source = given("if (n == 1) { return x; } return general();", "Tensor f()").replace(
        "const auto n", "Tensor x; auto n"
    )
    assert converted(tmp_path, source) == source


def expanded(condition: str, rest: str) -> str:
    return (
        "std::tuple<Tensor, Tensor> f(const Tensor& x, const Tensor& y, c10::SymIntArrayRef k, IntArrayRef m) { "
        f"auto a = x.sym_sizes(); auto b = y.sym_sizes(); if ({condition}) {{ return {{x, y}}; }} {rest} "
        "return {x.expand_symint(k), y}; }"
    )


def test_equal_shapes_are_not_asked_for_where_others_are_broadcast(tmp_path: Path) -> None:
    before, after = (
        expanded(condition, "auto shape = infer_size_symint(a, b); y.expand_symint(shape);")
        for condition in ("a.equals(b)", "TORCH_GUARD_OR_FALSE(sym_equals(a, b))")
    )
    assert converted(tmp_path, before) == after
    assert converted(tmp_path, after) == after


@pytest.mark.parametrize(
    ("condition", "rest"),
    [
        ("a.equals(b)", "auto shape = infer_size_symint(a, k);"),
        ("a.equals(b)", "auto shape = a;"),
        ("a.equals(k)", "auto shape = infer_size_symint(a, b);"),
        ("a.equals(b, k)", "auto shape = infer_size_symint(a, b);"),
        ("m.equals(m)", "auto shape = infer_size_symint(m, m);"),
        ("x.equals(y)", "auto shape = infer_size_symint(x, y);"),
        ("a.differs(b)", "auto shape = infer_size_symint(a, b);"),
    ],
)
def test_equal_shapes_are_asked_for_where_nothing_broadcasts_them(tmp_path: Path, condition: str, rest: str) -> None:
    source = expanded(condition, rest)
    assert converted(tmp_path, source) == source


def chosen(arms: str) -> str:
    return (
        "Tensor f(const Tensor& x, const Tensor& y) { auto a = x; const auto n = y.sym_size(0); "
        f"if (y.dim() == 0 || n == 1) {{ a = y.expand_symint({{x.sym_size(0)}}); }} {arms} return a; }}"
    )


CHECK = 'TORCH_CHECK(n == x.sym_size(0), "sizes");'


@pytest.mark.parametrize(
    "arms",
    [
        f'else if (y.dim() == 1) {{ {CHECK} }} else {{ TORCH_CHECK(false, "rank"); }}',
        f'else if (y.dim() > 1) {{ TORCH_CHECK(false, "rank"); }} else {{ {CHECK} }}',
        f"else if (y.dim() == 1) {{ {CHECK} }} else {{ {CHECK} a = y; }}",
    ],
)
def test_a_check_may_be_chosen_by_what_is_no_size(tmp_path: Path, arms: str) -> None:
    after = chosen(arms).replace("n == 1", "TORCH_GUARD_OR_FALSE(n.sym_eq(1))")
    after = after.replace(CHECK, 'TORCH_SYM_CHECK(n.sym_eq(x.sym_size(0)), "sizes");')
    assert converted(tmp_path, chosen(arms)) == after
    assert converted(tmp_path, after) == after


@pytest.mark.parametrize(
    "arms",
    [
        f"else if (y.dim() == 1) {{ {CHECK} }}",
        f"else if (y.dim() == 1) {{ {CHECK} }} else {{ a = y; }}",
        f"else if (y.dim() == 1) {{ a = y; }} else {{ {CHECK} }}",
        'else if (y.dim() == 1) { TORCH_CHECK(false, "one"); } else { TORCH_CHECK(false, "more"); }',
    ],
)
def test_a_size_of_1_is_asked_for_where_a_chosen_path_checks_nothing(tmp_path: Path, arms: str) -> None:
    assert "GUARD" not in converted(tmp_path, chosen(arms))


@pytest.mark.parametrize(
    ("quick", "steady", "picks"),
    [
        ("quick", "at::steady", True),
        ("at::quick", "native::steady", True),
        ("at::relu", "at::tanh", False),
        ("at::zeros_like", "steady", False),
        ("quick", "at::full_like", False),
        ("refused", "steady", False),
        ("none", "steady", False),
        ("faster", "steady", True),
    ],
)
def test_what_another_thing_does_is_no_implementation(tmp_path: Path, quick: str, steady: str, picks: bool) -> None:
    own = (
        'static Tensor refused(const Tensor& a, const Tensor& b) { TORCH_CHECK(false, "too large"); }\n'
        "static Tensor none(const Tensor& a, const Tensor& b) { return at::zeros_like(a); }\n"
        "static Tensor faster(const Tensor& a, const Tensor& b) { return at::mm(a, b); }\n"
    )
    source = own + function(f"if (n > 25) {{ return {quick}(a, b); }} return {steady}(a, b);")
    assert ("GUARD" in converted(tmp_path, source)) == picks
