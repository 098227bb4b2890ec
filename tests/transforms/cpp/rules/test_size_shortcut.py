"""Shortcuts for empty tensors: which are decided for unknown sizes, and which path is wrong for an empty tensor."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.findings import Level
from tests.transforms.cpp.snippets import converted, findings

EMPTY = "if (x.sym_numel() == 0) { return x.clone(); }"


def function(
    branch: str, rest: str = "return x.sum();", head: str = "Tensor f(const Tensor& x, Tensor y, int64_t k)"
) -> str:
    return f"{head} {{ const auto n = x.sym_size(0); auto m = x.sym_size(1); m = m - k; {branch} {rest} }}"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x.sym_numel() != 0", "TORCH_GUARD_OR_TRUE(x.sym_numel().sym_ne(0))"),
        ("0 < x.sym_size(-1)", "TORCH_GUARD_OR_TRUE(c10::SymInt(0).sym_lt(x.sym_size(-1)))"),
        ("x.sym_size(0) >= 1", "TORCH_GUARD_OR_TRUE(x.sym_size(0).sym_ge(1))"),
        ("n < 1", "TORCH_GUARD_OR_FALSE(n.sym_lt(1))"),
        ("x.sym_sizes()[0] <= 0", "TORCH_GUARD_OR_FALSE(x.sym_sizes()[0].sym_le(0))"),
        ("!(n == 0)", "!TORCH_GUARD_OR_FALSE(n.sym_eq(0))"),
        ("n * x.sym_size(1) == 0", "TORCH_GUARD_OR_FALSE((n * x.sym_size(1)).sym_eq(0))"),
        (
            "x.dim() == 0 || n == 0 || y.sym_numel() == 0",
            "x.dim() == 0 || TORCH_GUARD_OR_FALSE(n.sym_eq(0)) || TORCH_GUARD_OR_FALSE(y.sym_numel().sym_eq(0))",
        ),
        ("!x.numel() || k", "TORCH_GUARD_OR_FALSE(x.sym_numel().sym_eq(0)) || k"),
        (
            "x.size(0) && y.numel() > 0",
            "TORCH_GUARD_OR_TRUE(x.sym_size(0).sym_ne(0)) && TORCH_GUARD_OR_TRUE(y.sym_numel().sym_gt(0))",
        ),
    ],
)
def test_what_is_asked_of_a_size_that_is_not_known(tmp_path: Path, condition: str, expected: str) -> None:
    branch = "if ({}) {{ y = x.exp() + y; }} else {{ y = x * y; }}"
    before, after = (function(branch.format(text), "return y;") for text in (condition, expected))
    assert converted(tmp_path, before) == after
    assert converted(tmp_path, after) == after


@pytest.mark.parametrize(
    ("maximum", "taken"),
    [("at::max(x, y)", True), ("x.max(y)", True), ("at::max(x)", False), ("x.max()", False), ("at::max(x, 0)", False)],
)
def test_a_maximum_in_pairs_serves_empty_tensors(tmp_path: Path, maximum: str, taken: bool) -> None:
    source = function(EMPTY, f"return {maximum};")
    guarded = source.replace("x.sym_numel() == 0", "TORCH_GUARD_OR_FALSE(x.sym_numel().sym_eq(0))")
    assert converted(tmp_path, source) == (guarded if taken else source)


@pytest.mark.parametrize(
    "condition",
    [
        "x.dim() == 0",
        "k == 0",
        "m == 0",  # changed since: no size
        "n - k == 0",
        "n % 2 == 0",
        "n == 1",
        "n > 1",
        "n == y.sym_size(0)",
        "x.sym_stride(0) == 0",
        "n == 0 || y.sym_numel() != 0",
        "n == 0 && x.sym_size(1) == k",
        "n == 0 /* none */ || x.sym_size(0) > 25",
    ],
)
def test_other_conditions_stay(tmp_path: Path, condition: str) -> None:
    source = function(f"if ({condition}) {{ y = x.exp(); }} else {{ y = x.clone(); }}", "return y;")
    assert converted(tmp_path, source) == source


@pytest.mark.parametrize(
    "rest",
    [
        "return x / n;",
        "return x.div(n);",
        "auto total = x.sym_size(1) * 2; return x / total;",
        "auto [total, same] = x.unknown(); return x / total;",
        "m /= n; return x.sum();",
        "return x.mean();",
        "return x.amax(0) + y;",
        "const auto last = x.sum().item(); return x;",
        "return y.slice(0, 0, -x.sym_numel());",
        'TORCH_CHECK(false, "no"); return x;',
        "return f(x.sum(), y, k);",
        "double total = count(x); return x / total;",
        "double total = x.sym_numel(); return x / total;",
        "int64_t total = 3; return x / total;",
        "return x / std::max(k, n);",
        "return x / scale(2.5);",
        "return at::mse_loss(x, y);",
        "return x.prod(0);",
        "return x.logsumexp(0);",
    ],
)
def test_a_path_that_is_wrong_for_an_empty_tensor_is_not_picked(tmp_path: Path, rest: str) -> None:
    source = function(EMPTY, rest)
    assert "GUARD" not in converted(tmp_path, source)


@pytest.mark.parametrize(
    "rest",
    [
        "auto total = x.sum(); return x / total;",
        "return x.exp() / 2;",
        "if (k) { x = x.mean(); } return x;",
        "double half = 0.5; const float other = 2 * half; return x / (1 - other);",
        "constexpr double a = 1.5; double b = std::sqrt(a); return x.div(1. / std::exp(b * a));",
    ],
)
def test_a_path_that_serves_an_empty_tensor_is(tmp_path: Path, rest: str) -> None:
    assert "TORCH_GUARD_OR_FALSE(x.sym_numel().sym_eq(0))" in converted(tmp_path, function(EMPTY, rest))


@pytest.mark.parametrize(
    "source",
    [
        "bool f(const Tensor& x) { if (x.sym_numel() == 0) { return true; } return x.defined(); }",
        "int64_t f(const Tensor& x) { if (x.sym_numel() == 0) { return 0; } return x.dim(); }",
        "Tensor f(const Tensor& x, Tensor& seen) { if (x.sym_numel() == 0) { return x; } seen.add_(x); return x; }",
        "std::tuple<bool, int64_t> f(Tensor x) { if (x.sym_numel() == 0) { return {true, 0}; } return {false, 1}; }",
        "Tensor f(TensorList xs) { for (const auto& x : xs) { if (x.sym_numel() == 0) { return x; } } return xs[0]; }",
        "void f(TensorList xs) { for (const auto& x : xs) { if (x.sym_numel() == 0) { continue; } x.zero_(); } }",
        "Tensor f(Tensor x) { if (x.sym_numel() == 0) { x = x.clone(); } return x.sum(); }",
        "void f(const Tensor& x, Kept* kept) { if (x.sym_numel() == 0) { return; } kept->last = x.sum(); }",
        "Tensor f(Tensor x, Tensor y) { if (x.is_quantized()) { if (x.sym_numel() == 0) { return y; } } return x; }",
    ],
)
def test_branches_that_decide_elsewhere_stay(tmp_path: Path, source: str) -> None:
    assert converted(tmp_path, source) == source


def test_the_accessor_stays_safe(tmp_path: Path) -> None:
    source = "Tensor f(const Tensor& x) { if (x.numel() == 0) { return x; } return x.exp(); }"
    assert converted(tmp_path, source, Level.SAFE) == source.replace("x.numel", "x.sym_numel")
    assert "sym_eq(0))" in converted(tmp_path, source)


def test_a_number_as_a_condition_makes_its_function_one_for_review(tmp_path: Path) -> None:
    source = "Tensor f(const Tensor& x) { if (!x.numel()) { return x; } return x.exp(); }"
    assert converted(tmp_path, source, Level.SAFE) == source
    several = (
        "std::tuple<Tensor, int64_t> f(const Tensor& x) { if (!x.numel()) { return {x, 0}; } return {x.sum(), 1}; }"
    )
    assert converted(tmp_path, several, Level.SAFE) == several
    assert {finding.level for finding in findings(tmp_path, source)} == {Level.REVIEW}


@pytest.mark.parametrize(("kind", "taken"), [("double", True), ("c10::SymFloat", False), ("int64_t", False)])
def test_a_floating_parameter_is_no_size(tmp_path: Path, kind: str, taken: bool) -> None:
    source = function(EMPTY, "return x / p;", f"Tensor f(const Tensor& x, {kind} p, int64_t k)")
    assert ("GUARD" in converted(tmp_path, source)) == taken


COMPUTED = (
    "template <bool inplace>\nusing Result = typename std::conditional_t<inplace, Tensor&, {}>;\n"
    "template <bool inplace, typename T>\nResult<inplace> f(T& x, double p) {{ "
    "if (p == 0 || {}) {{ return x; }} return scaled<inplace>(at::reshape(x, {{-1}}).div_(1 - p)); }}"
)


@pytest.mark.parametrize(("other", "taken"), [("Tensor", True), ("bool", False)])
def test_a_result_that_is_a_tensor_either_way_is_one(tmp_path: Path, other: str, taken: bool) -> None:
    source = COMPUTED.format(other, "x.sym_numel() == 0")
    guarded = COMPUTED.format(other, "TORCH_GUARD_OR_FALSE(x.sym_numel().sym_eq(0))")
    assert converted(tmp_path, source) == (guarded if taken else source)


def test_a_result_of_an_alias_that_is_not_at_hand_decides_elsewhere(tmp_path: Path) -> None:
    source = COMPUTED.format("Tensor", "x.sym_numel() == 0").replace("using Result", "using Other")
    assert converted(tmp_path, source) == source


@pytest.mark.parametrize(
    ("call", "taken"),
    [
        ("f(x, k)", True),
        ("f(x, std::move(m))", True),
        ("f(x, 2.5)", True),
        ("f(x, true)", True),
        ("f(x, y)", False),
        ("f(x, y, k)", False),
        ("f(x)", False),
        ("f(x, unknown(k))", False),
    ],
)
def test_another_overload_is_no_recursion(tmp_path: Path, call: str, taken: bool) -> None:
    source = (
        "Tensor f(const Tensor& x, const Tensor& y, int64_t k, std::optional<c10::SymInt> m) "
        f"{{ if (x.sym_numel() == 0) {{ return x; }} return at::{call}; }}"
    )
    guarded = source.replace("x.sym_numel() == 0", "TORCH_GUARD_OR_FALSE(x.sym_numel().sym_eq(0))")
    assert converted(tmp_path, source) == (guarded if taken else source)


@pytest.mark.parametrize(
    ("branch", "taken"),
    [
        ("if (x.sym_numel() > 0) { y = y + x; }", False),
        ("if (x.sym_numel() > 0) { y.add_(x); }", False),
        ("if (n != 0) { auto z = x.sum(); y = y * z; }", False),
        ("if (x.sym_numel() > 0) { y = y + x; } else { k += 1; }", False),
        ("if (x.sym_numel() > 0) { validate(y); }", False),
        ("if (x.sym_numel() > 0) { y = x.exp(); } else { y = x.clone(); }", True),
        ("if (x.sym_numel() > 0) { validate(x, k); }", True),
        ("if (x.sym_numel() > 0) { auto z = x.sum(); m += x.sym_numel(); }", True),
        ("if (x.sym_numel() > 0) { return x + y; }", False),
        ("if (y.sym_numel() > 0) { return x + y; }", False),
    ],
)
def test_an_empty_tensor_that_stands_for_none_is_not_used(tmp_path: Path, branch: str, taken: bool) -> None:
    assert ("GUARD" in converted(tmp_path, function(branch, "return y;"))) == taken


@pytest.mark.parametrize(
    ("special", "general", "same"),
    [
        ("y", "x.mm(y)", False),
        ("x", "x.mm(y)", False),
        ("at::zeros_symint({1, x.sym_size(1)}, x.options())", "x.clone()", False),
        ("at::zeros_symint({0, x.sym_size(1)}, x.options())", "x.clone()", True),
        ("at::zeros_symint({n}, x.options())", "at::zeros_symint({n + 1}, x.options())", False),
        ("at::zeros_symint({n}, x.options())", "at::zeros_symint({n * 2}, x.options())", True),
        ("at::zeros_symint({n}, x.options())", "at::zeros_symint({n, 1}, x.options())", False),
        ("at::zeros_symint({x.sym_size(1) + 1}, x.options())", "at::zeros_symint({x.sym_size(1)}, x.options())", False),
        ("at::zeros_symint({n}, x.options())", "x.sum()", False),
        ("x.mean(0)", "at::zeros_symint({x.sym_size(1)}, x.options())", False),
        ("at::zeros_symint({n, x.sym_size(1)}, x.options())", "x.exp()", True),
        ("at::zeros_symint({x.sym_size(1)}, x.options())", "x.sum(0)", True),
        ("at::zeros_symint({x.sym_size(1)}, x.options())", "x.sum(0) * 2", True),
        ("at::zeros_symint({x.sym_size(1)}, x.options())", "x.log().sum(0).exp()", False),
        ("at::zeros_symint({x.sym_size(1)}, x.options())", "x.sum(0) + 1", False),
        ("at::ones_symint({x.sym_size(1)}, x.options())", "x.sum(0)", False),
        ("at::ones_symint({n, x.sym_size(1)}, x.options())", "x.exp()", True),
        ("at::zeros_symint({x.sym_size(1)}, x.options())", "x.t().mv(y) + y", False),
        ("at::zeros_symint({x.sym_size(1)}, x.options())", "y.sum(0)", False),
        ("at::zeros_symint({x.sym_size(1)}, x.options())", "unknown(x)", False),
        ("x.sum()", "at::unknown(x, y)", False),
        ("x.sum() * 0", "(x - y).pow(2).sum()", True),
        ("x.sum()", "(1 - x.sum()).sqrt()", False),
        ("unknown(x)", "at::other(x)", False),
        ("at::empty_symint({n, k}, x.options())", "at::unknown(x)", True),
    ],
)
def test_the_path_in_general_returns_what_the_shortcut_returns(
    tmp_path: Path, special: str, general: str, same: bool
) -> None:
    source = function(f"if (x.sym_size(0) == 0) {{ return {special}; }}", f"return {general};")
    assert ("GUARD" in converted(tmp_path, source)) == same


def test_a_place_from_the_end_is_another_dimension(tmp_path: Path) -> None:
    head = "Tensor f(const Tensor& x, const Tensor& y) { c10::SymInt n = x.sym_size(0), m = x.sym_size(-1); "
    source = head + "if (n == 0) { return x.new_zeros_symint({n}); } return x + y; }"
    assert converted(tmp_path, source) == source


def test_a_gradient_that_is_not_defined_is_none(tmp_path: Path) -> None:
    head = "std::tuple<Tensor, Tensor> f(const Tensor& x, const Tensor& y)"
    source = function("if (x.sym_numel() == 0) { return {}; }", "return std::make_tuple(y * x, x);", head)
    assert "x.sym_numel() == 0" not in converted(tmp_path, source)


@pytest.mark.parametrize(
    ("body", "taken"),
    [
        ("return x.sum(0) * 0.5;", True),
        ("return x.sum(0) / 2; /* of x / n */", True),
        ("return x.sum(0) / x.sym_size(0);", False),
        ("return x.mean(0);", False),
        ("for (auto& part : parts) { part.t(); } return x.mean(0);", False),
        ("auto all = x.sum(0); all = all.exp(); return all;", False),
        ("auto all = x.sum(0); all.exp_(); return all;", False),
        ("auto all = at::empty({3}); at::sum_out(all, x, 0); return all;", True),
        ("auto all = at::empty({3}); at::sum_out(all, ones, 0); return all;", False),
        ("return average(x);", False),
        ('TORCH_WARN("{"); return x.sum(0);', True),
        ('TORCH_WARN("{"); return x.sum(0).exp();', False),
        ("return std::visit([&](auto&& p) { return x.norm(p); }, order);", True),
    ],
)
def test_a_function_of_the_file_is_looked_into(tmp_path: Path, body: str, taken: bool) -> None:
    helper = f"static Tensor average(const Tensor& x) {{ {body} }}\n"
    source = helper + function(
        "if (x.sym_size(0) == 0) { return at::zeros_symint({m}, x.options()); }", "return average(x);"
    )
    assert ("GUARD" in converted(tmp_path, source)) == taken


@pytest.mark.parametrize(
    ("check", "taken"),
    [
        ("n == y.sym_size(0)", True),
        ("n == 3", False),
        ("n == k * 2", False),
        ("k == 3", False),
        ("n == k", False),
        ("n == CHANNELS", False),
    ],
)
def test_what_is_1_or_another_is_broadcast_with_a_size(tmp_path: Path, check: str, taken: bool) -> None:
    source = function(
        f'if (n == 1) {{ y = y.exp(); }} else {{ TORCH_CHECK({check}, "rows"); y = x + y; }}', "return y;"
    )
    assert ("GUARD" in converted(tmp_path, source)) == taken
    leaves = function("if (n == 1) { return y.exp(); }", f'TORCH_CHECK({check}, "rows"); return x + y;')
    assert "GUARD" not in converted(tmp_path, leaves)


@pytest.mark.parametrize(
    "statement",
    [
        'TORCH_CHECK(n == y.sym_size(0), "rows"); return x + y;',
        'if (n != y.sym_size(0)) { throw std::runtime_error("rows"); } return x + y;',
        "if (n == 0) { return x.clone(); } return x.exp();",
    ],
)
def test_what_a_catch_takes_stays(tmp_path: Path, statement: str) -> None:
    head = "Tensor f(const Tensor& x, const Tensor& y) { auto n = x.sym_size(0); "
    guarded = f"{head}try {{ {statement} }} catch (const c10::Error&) {{ return x.clone(); }} }}"
    assert converted(tmp_path, guarded) == guarded
    assert converted(tmp_path, f"{head}{statement} }}") != f"{head}{statement} }}"
    after = f"{head}try {{ x.t(); }} catch (const c10::Error&) {{ {statement} }} return x; }}"
    assert converted(tmp_path, after) != after


@pytest.mark.parametrize("between", ["", "static Tensor sum(const Tensor& x, const Tensor& y) { return f(x, y); }\n"])
def test_what_a_catch_of_a_caller_takes_stays(tmp_path: Path, between: str) -> None:
    check = 'static Tensor f(const Tensor& x, const Tensor& y) { TORCH_CHECK(x.sym_size(0) == y.sym_size(0), "rows"); '
    source = f"{check}return x + y; }}\n{between}"
    called = "sum" if between else "f"
    head = "Tensor g(const Tensor& x, const Tensor& y) { "
    caught = f"{head}try {{ return {called}(x, y); }} catch (...) {{ return x.clone(); }} }}"
    assert converted(tmp_path, source + caught) == source + caught
    plain = f"{source}{head}return {called}(x, y); }}"
    assert converted(tmp_path, plain) != plain


def test_a_function_that_a_function_of_the_file_calls_is_looked_into(tmp_path: Path) -> None:
    inner = "namespace { Tensor average(const Tensor& x, int64_t n) { return x.sum(0) / n; } }\n"
    outer = "static Tensor centered(const Tensor& x) { return x - average(x, x.sym_size(0)); }\n"
    called = function("if (n == 0) { return x; }", "return unknown(native::centered(x));")
    assert "GUARD" not in converted(tmp_path, inner + outer + called)
    assert "GUARD" in converted(tmp_path, outer + called)


def test_a_sum_by_way_of_a_function_of_the_file_is_no_tensor_without_elements(tmp_path: Path) -> None:
    for body, taken in (("x.sum(0)", False), ("x.exp()", True)):
        helper = f"static Tensor made(const Tensor& x) {{ return {body}; }}\n"
        source = helper + function("if (n == 0) { return x; }", "return made(x);")
        assert ("GUARD" in converted(tmp_path, source)) == taken


def test_an_output_that_the_shortcut_fills_is_what_the_path_in_general_writes(tmp_path: Path) -> None:
    head = "Tensor& f(const Tensor& x, Tensor& out)"
    source = function("if (n == 0) { out.fill_(0); return out; }", "out = at::{}_out(out, x, 0); return out;", head)
    for name, taken in (("sum", True), ("unknown", False)):
        assert ("GUARD" in converted(tmp_path, source.replace("{}", name))) == taken
    assert "GUARD" not in converted(tmp_path, source.replace("{}", "sum").replace("fill_(0)", "fill_(1)"))


@pytest.mark.parametrize(
    ("given", "general", "taken"),
    [
        ("at::empty_like(x)", "x.gt(0)", False),
        ("x.clone()", "x.to(at::kDouble)", False),
        ("at::zeros_like(x, at::kLong)", "at::zeros_like(x)", False),
        ("at::zeros_like(x, x.options().dtype(at::kLong))", "x.view_as(x)", False),
        ("x.to(at::kLong)", "x > 0", False),
        ("x.gt(0)", "at::empty_like(x).to(torch::kBool)", True),
        ("x.to(at::kInt)", "x.clone().to(at::ScalarType::Int)", True),
        ("at::empty_like(x)", "x.to(y.options())", True),
        ("at::empty_like(x)", "x.exp() * 2", True),
    ],
)
def test_what_has_another_dtype_for_an_empty_tensor_stays(
    tmp_path: Path, given: str, general: str, taken: bool
) -> None:
    source = function(f"if (x.sym_numel() == 0) {{ return {given}; }}", f"return {general};")
    guarded = source.replace("x.sym_numel() == 0", "TORCH_GUARD_OR_FALSE(x.sym_numel().sym_eq(0))")
    assert converted(tmp_path, source) == (guarded if taken else source)


def test_a_tensor_that_a_branch_converts_has_its_dtype_where_it_is_empty(tmp_path: Path) -> None:
    source = function("if (x.sym_numel() != 0) { y = x.to(at::kDouble); }", "return y * 2;")
    assert converted(tmp_path, source) == source
