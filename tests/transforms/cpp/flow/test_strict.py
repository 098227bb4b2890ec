"""Values that meet what is made for integers alone: they stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms.cpp.snippets import converted, refusals

STOPPED = [
    ("bit-operation", "", "if (not x.size(0)) { return x; } return at::zeros({x.size(1)});"),
    ("bit-operation", "", "return at::zeros({+x.size(0)});"),
    ("cast", "", "if (const auto n = x.size(0)) { return at::zeros({n}); } return x;"),
    ("cast", "", "int64_t m = x.size(0); if (int64_t n = m) { return at::zeros({n}); } return x;"),
    ("mixed", "", "std::map<int, int64_t> m; auto& n = m[1]; n = x.size(0); return at::zeros({n});"),
    (
        "mixed",
        "",
        (
            "auto inc = [](int64_t& n) { n += 1; }; auto n = x.size(0); inc(n); std::vector<int64_t> v(1); inc(v[0]); "
            "return at::zeros({n, v[0]});"
        ),
    ),
    (
        "return-type",
        "",
        (
            "auto both = [&](int d) -> std::tuple<int64_t, int64_t> { return {x.size(d), 2}; }; "
            "auto [a, b] = both(0); return at::zeros({a, b});"
        ),
    ),
    (
        "callee-unknown",
        "",
        (
            "std::vector<Tensor> t = {x, x}; "
            "std::sort(t.begin(), t.end(), [](const Tensor& a, const Tensor& b) { return a.numel() - b.numel(); }); "
            "return t[0];"
        ),
    ),
    ("mixed", "", "int64_t p = 1; for (auto d : {x.size(0), x.dim()}) { p *= d; } return at::zeros({p});"),
    ("mixed", "", "auto s = {x.size(0), x.dim()}; return at::zeros(s);"),
    ("macro", "#define ROWS(t) (t).size(0)\n", "return at::zeros({ROWS(x), x.size(1)});"),
    (
        "macro",
        "#define ROWS(t) (t).size(0)\n#define TWICE(t) 2 * ROWS(t)\n",
        "return at::zeros({TWICE(x), x.size(1)});",
    ),
    ("stored", "", "at::Scalar s = x.size(0); return at::zeros({s.toLong()});"),
    ("stored", "", "auto s = at::Scalar(x.size(0)); return x.mul(s.to<double>());"),
    ("stored", "", "return x.mul(at::Scalar(x.size(0)).to<double>());"),
    ("stored", "", "static const int64_t n = x.size(0); return at::zeros({n});"),
    ("stored", "", "thread_local auto n = x.size(0); return at::zeros({n});"),
    ("stored", "", "int64_t a[2] = {x.size(0), x.size(1)}; return at::zeros({a[0] * a[1]});"),
    ("stored", "", "int64_t a[2]; a[0] = x.size(0); return at::zeros({a[0]});"),
    (
        "callee-unknown",
        "",
        "auto v = x.sizes().vec(); std::sort(v.begin(), v.end(), std::greater<int64_t>()); return at::zeros(v);",
    ),
    (
        "callee-unknown",
        "",
        (
            "auto v = x.sizes().vec(); std::sort(v.begin(), v.end(), [](int64_t a, int64_t b) { return a > b; }); "
            "return at::zeros(v);"
        ),
    ),
    (
        "callee-takes-int",
        "",
        (
            "auto s = x.sizes(); auto n = std::accumulate(s.begin(), s.end(), 1.0, std::multiplies<double>()); "
            "return x.mul(n);"
        ),
    ),
    (
        "callee-takes-int",
        "",
        "auto s = x.sizes(); return at::zeros({std::accumulate(s.begin(), s.end(), size_t(0))});",
    ),
    (
        "callee-unknown",
        "",
        "auto s = x.sizes(); return at::zeros({std::accumulate(s.begin(), s.end(), 1, std::multiplies<double>())});",
    ),
    (
        "callee-unknown",
        "",
        "std::function<int64_t(Tensor)> f = [](Tensor t) { return t.size(0); }; return at::zeros({f(x)});",
    ),
    (
        "callee-unknown",
        "",
        (
            "auto f = [](const Tensor& t) { return t.size(0); }; std::function<int64_t(const Tensor&)> g = f; "
            "return at::zeros({f(x)});"
        ),
    ),
    (
        "callee-unknown",
        "",
        "auto f = [](int64_t n) { return 2 * n; }; each(f); return at::zeros({f(x.size(0))});",
    ),
]
CONVERTED = [
    (
        "",
        "int64_t m = 2; int64_t& n = m; n = x.size(0); return at::zeros({m});",
        "c10::SymInt m = 2; c10::SymInt& n = m; n = x.sym_size(0); return at::zeros_symint({m});",
    ),
    (
        "",
        "std::vector<int64_t> v = {2}; auto& n = v.back(); n = x.size(0); return at::zeros(v);",
        "std::vector<c10::SymInt> v = {2}; auto& n = v.back(); n = x.sym_size(0); return at::zeros_symint(v);",
    ),
    (
        "",
        "std::vector<int64_t> v = {2}; for (int64_t& n : v) { n += x.size(0); } return at::zeros(v);",
        "std::vector<c10::SymInt> v = {2}; for (c10::SymInt& n : v) { n += x.sym_size(0); }",
    ),
    (
        "",
        "std::vector<int64_t> v = {2}; auto& n = v; n.push_back(x.size(0)); return at::zeros(v);",
        "std::vector<c10::SymInt> v = {2}; auto& n = v; n.push_back(x.sym_size(0)); return at::zeros_symint(v);",
    ),
    ("", "if (bool n = x.numel()) { return x; } return at::zeros({x.size(0)});", "if (bool n = x.sym_numel() != 0)"),
    (
        "",
        "auto of = [](IntArrayRef s) { return at::zeros(s); }; DimVector v = {1}; return of(x.sizes()) + of(v);",
        "c10::SymDimVector v = {1}; return of(x.sym_sizes()) + of(v);",
    ),
    (
        "",
        "auto inc = [](int64_t& n) { n += 1; }; auto n = x.size(0); inc(n); int64_t m = 3; inc(m); return x.view(m);",
        "inc(n); c10::SymInt m = 3; inc(m); return x.view_symint(m);",
    ),
    (
        "",
        (
            "std::vector<int64_t> v = {1}; auto of = [&](bool b) -> std::vector<int64_t> "
            "{ if (b) { return v; } return x.sizes().vec(); }; return at::zeros(of(true));"
        ),
        "std::vector<c10::SymInt> v = {1}; auto of = [&](bool b) -> std::vector<c10::SymInt> { if (b)",
    ),
    (
        "",
        "auto rows = [&](int d) -> std::optional<int64_t> { return x.size(d); }; return at::zeros({rows(0).value()});",
        "-> std::optional<c10::SymInt> { return x.sym_size(d); }; return at::zeros_symint({rows(0).value()});",
    ),
    (
        "",
        "auto rows = [&](int d) -> auto { return x.size(d); }; return at::zeros({rows(0)});",
        "-> auto { return x.sym_size(d); }; return at::zeros_symint({rows(0)});",
    ),
    (
        "",
        (
            "std::vector<Tensor> t = {x}; "
            "bool b = std::any_of(t.begin(), t.end(), [](const Tensor& a) { return a.numel(); }); return x;"
        ),
        "{ return a.sym_numel() != 0; }",
    ),
    (
        "",
        "auto n = x.size(0); int64_t m = 3; std::swap(m, n); return at::zeros({m});",
        "auto n = x.sym_size(0); c10::SymInt m = 3; std::swap(m, n); return at::zeros_symint({m});",
    ),
    (
        "",
        "auto s = x.sizes().vec(); std::vector<int64_t> t = {1}; std::swap(s[0], t[0]); return at::zeros(t);",
        "std::vector<c10::SymInt> t = {1}; std::swap(s[0], t[0]); return at::zeros_symint(t);",
    ),
    (
        "",
        "auto s = x.sizes().vec(); std::vector<int64_t> t = {1}; t.swap(s); return at::zeros(t);",
        "std::vector<c10::SymInt> t = {1}; t.swap(s); return at::zeros_symint(t);",
    ),
    (
        "",
        "int64_t p = 1; for (int64_t d : {x.size(0), x.size(1)}) { p *= d; } return at::zeros({p});",
        "for (c10::SymInt d : {x.sym_size(0), x.sym_size(1)}) { p *= d; }",
    ),
    (
        "",
        "const int64_t rows[] = {0}; return at::as_strided(x, x.sizes(), rows);",
        "const c10::SymInt rows[] = {0}; return at::as_strided_symint(x, x.sym_sizes(), rows);",
    ),
    ("#define ROWS(t) (t).size(0)\n", "auto n = x.size(1); return at::zeros({n});", "x.sym_size(1)"),
    ("", "at::Scalar s = x.size(0); return x.mul(s);", "s = x.sym_size(0)"),
    ("", "bool b = !!x.numel(); return x;", "b = !(x.sym_numel() == 0);"),
    ("", "return x.sum(1, x.dim() == !x.numel());", "x.dim() == (x.sym_numel() == 0)"),
    ("", "return !x.numel() && x.dim() ? x : x.sum();", "return x.sym_numel() == 0 && x.dim() ?"),
    (
        "",
        "std::array<int64_t, 2> p = {x.size(0), 2}; auto [a, b] = p; return at::zeros({a * b});",
        "auto [a, b] = p; return at::zeros_symint({a * b});",
    ),
    (
        "",
        "auto v = x.sizes().vec(); std::sort(v.begin(), v.end(), std::greater<>()); return at::zeros(v);",
        "x.sym_sizes().vec()",
    ),
    (
        "",
        (
            "auto s = x.sizes(), t = x.strides(); "
            "return at::zeros({std::inner_product(s.begin(), s.end(), t.begin(), int64_t(0))});"
        ),
        "t.begin(), c10::SymInt(0))",
    ),
    (
        "",
        "auto f = [](const Tensor& t) { return t.size(0); }; return at::zeros({f(x)});",
        "return t.sym_size(0); }; return at::zeros_symint({f(x)});",
    ),
]


@pytest.mark.parametrize(("refusal", "before", "body"), STOPPED)
def test_what_takes_integers_alone_stops_them(tmp_path: Path, refusal: str, before: str, body: str) -> None:
    source = f"{before}Tensor f(const Tensor& x) {{ {body} }}"
    assert converted(tmp_path, source) == source
    assert refusal in refusals(tmp_path, source)


@pytest.mark.parametrize(("before", "body", "wanted"), CONVERTED)
def test_what_takes_any_lets_them_by(tmp_path: Path, before: str, body: str, wanted: str) -> None:
    assert wanted in converted(tmp_path, f"{before}Tensor f(const Tensor& x) {{ {body} }}")


TEMPLATE = "template <typename T> T half(T a, T b) { return (a + b - 1) / b; }\n"
BOTH = "half(x.size(0), x.size(1))"
SPECIAL = "template <> inline int64_t half<int64_t>(int64_t a, int64_t b) { return 2; }\n"
CUT = "template <typename T> int64_t cut(const Tensor& x, T n) { x.narrow(0, 0, n); return n; }\n"


@pytest.mark.parametrize(
    ("template", "call"),
    [
        (TEMPLATE, "half(x.size(0), k)"),
        (TEMPLATE, "half(x.size(0), 2)"),
        (TEMPLATE, "half<int64_t>(x.size(0), x.size(1))"),
        (TEMPLATE + SPECIAL, BOTH),
        (TEMPLATE.replace("return", "return sizeof(T) *"), BOTH),
        (TEMPLATE.replace("T half", "int half"), BOTH),
        (TEMPLATE.replace("(a + b - 1)", "static_cast<int>(a)"), BOTH),
        (TEMPLATE.replace("(a + b - 1)", "(int)(a)"), BOTH),
        (TEMPLATE.replace("(a + b - 1)", "a >> 1"), BOTH),
        (TEMPLATE.replace("(a + b - 1)", "Traits<T>::twice(a)"), BOTH),
        (
            TEMPLATE.replace("return", "if constexpr (std::is_integral_v<T>) { return a; } return"),
            BOTH,
        ),
        (
            TEMPLATE.replace("T> T", "T, typename = std::enable_if_t<std::is_integral_v<T>>> T"),
            BOTH,
        ),
        (CUT, "cut(x, x.size(0))"),
    ],
)
def test_a_template_that_may_do_otherwise_keeps_integers(tmp_path: Path, template: str, call: str) -> None:
    source = f"{template}Tensor f(const Tensor& x, int64_t k) {{ return at::zeros({{{call}}}); }}"
    assert converted(tmp_path, source) == source
    assert "callee-takes-int" in refusals(tmp_path, source)


@pytest.mark.parametrize(
    "template",
    [TEMPLATE, TEMPLATE.replace("T a, T b", "const T& a, const T& b").replace("return", "const T c = a; return")],
)
def test_a_template_of_sums_and_products_takes_sizes(tmp_path: Path, template: str) -> None:
    source = f"{template}Tensor f(const Tensor& x) {{ return at::zeros({{half(x.size(0), x.size(1))}}); }}"
    assert "zeros_symint({half(x.sym_size(0), x.sym_size(1))})" in converted(tmp_path, source)
