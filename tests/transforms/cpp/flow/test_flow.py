"""Where sizes flow: first what must not change, then why, then what comes out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemod.model.findings import Level
from tests.conftest import drawn
from tests.transforms.cpp.snippets import HEADER, SCHEMAS, MemoryProject, converted, findings, refusals
from transforms.cpp.analyse import analyse_tree

NOT_TENSORS = [
    "Tensor f(const Tensor& x, Storage s) { int64_t n = s.nbytes() / x.itemsize(); return x.expand({n}); }",
    "Tensor f(const Tensor& x, Pool p) { return x.expand({p.storage().nbytes()}); }",
    "int64_t f(std::vector<int64_t> v) { return v.size(); }",
    "size_t f(IntArrayRef sizes) { return sizes.size() + sizes.slice(1).size(); }",
    "int64_t f(TensorIteratorBase& iter) { return iter.numel(); }",
    "int64_t f(TensorAccessor<float, 2> a) { return a.size(0) * a.stride(1); }",
    "size_t f(TensorList tensors) { return tensors.size(); }",
    "size_t f(const std::string& name) { return name.size(); }",
    "size_t f(c10::optional<std::vector<int64_t>> v) { return v->size(); }",
    "int64_t f(const TensorGeometry& g) { return g.numel() + g.sizes()[0]; }",
    "int64_t f(const TensorGeometryArg& g) { return g->size(0); }",
    "template <typename T> auto f(const T& x) { return x.sizes(); }",
]
STOPPED = [
    ("loop-bound", "Tensor f(const Tensor& x) { for (int64_t i = 0; i < x.size(0); i++) {} return x; }"),
    ("loop-bound", "Tensor f(const Tensor& x) { auto n = x.numel(); for (auto i : c10::irange(n)) {} return x; }"),
    ("subscript", "Tensor f(const Tensor& x, std::vector<int64_t> v) { auto n = v[x.size(0)]; return x.sum(n); }"),
    ("pointer-arithmetic", "float* f(const Tensor& x, float* p) { return p + x.stride(0); }"),
    ("callee-takes-int", "Tensor f(const Tensor& x) { return x.unfold(0, x.size(0), 1); }"),
    ("callee-takes-int", "Tensor f(const Tensor& x) { return x.reshape({at::takes_int(x.size(0))}); }"),
    ("callee-unknown", "Tensor f(const Tensor& x) { return elsewhere(x, x.size(0)); }"),
    ("callee-takes-int", "Tensor f(const Tensor& x) { auto n = std::abs(x.size(0)); return x.view(n); }"),
    ("callee-unknown", "auto f(const Tensor& x, TensorList t) { return at::halves(x, x.size(0), t); }"),
    (
        "callee-unknown",
        (
            "namespace m { int64_t gcd(int64_t a, int64_t b) { return a; } }\n"
            "Tensor f(const Tensor& x) { auto n = std::gcd(x.size(0), x.size(1)); return x.view(n); }"
        ),
    ),
    ("rounded", "Tensor f(const Tensor& x) { auto n = x.size(0); n *= 0.5; return x.view(n); }"),
    ("stored", "Tensor f(const Tensor& x) { auto n = x.size(0); n = n + 0.5; return x.view(n); }"),
    ("size_t", "Tensor f(const Tensor& x) { size_t n = x.numel(); return x; }"),
    ("cast", "Tensor f(const Tensor& x) { return x.sum(static_cast<int>(x.size(0))); }"),
    ("container-size", "Tensor f(const Tensor& x) { std::vector<int64_t> v(x.size(0)); return x.reshape(v); }"),
    ("container-size", "Tensor f(const Tensor& x) { auto n = x.numel(); std::vector<int> v(n); return x.view(n); }"),
    ("container-size", "Tensor f(const Tensor& x) { auto n = x.size(0); DimVector v(n * n); return x.view(n); }"),
    ("container-size", "Tensor f(const Tensor& x) { auto n = x.size(0); int64_t v[n]; return x.view(n); }"),
    ("callee-unknown", "Tensor f(const Tensor& x) { auto n = x.size(0); Grid g(blocks(n * n, 2)); return x.view(n); }"),
    ("stored", "Tensor f(const Tensor& x) { auto n = x.size(0); Grid g(n, n); return x.view(n); }"),
    ("container-size", "Tensor f(const Tensor& x, int64_t* p) { IntArrayRef s(p, x.size(0)); return x.view(s); }"),
    (
        "mixed",
        (
            "Tensor f(const Tensor& x) { const auto end = x.sizes().end() - 1; "
            "std::vector<int64_t> p(x.sizes().begin(), end); fill(p); std::vector<int64_t> "
            "q(x.sizes().begin(), end); return x.view(q); }"
        ),
    ),
    ("kernel-launch", "void f(const Tensor& x) { auto n = x.size(0); run<<<n, 2>>>(x); x.view(n); }"),
    ("kernel-launch", "void f(const Tensor& x) { auto n = x.size(0); a::run<T, 2><<<g(1), 2, s>>>(x, n); x.view(n); }"),
    ("kernel-launch", "void f(const Tensor& x) { auto n = x.size(0); run<<<dim3(1, n), 2>>>(x); x.view(n); }"),
    ("callee-unknown", "Tensor f(const Tensor& x) { auto n = x.size(0); return make(n)(x.view(n)); }"),
    ("callee-unknown", "Tensor f(const Tensor& x) { auto n = x.size(0); return make(x)(x.view(n), n); }"),
    (
        "parameter",
        "Tensor f(const Tensor& x, IntArrayRef s) { DimVector v(s); v.push_back(x.size(0)); return x.view(v); }",
    ),
    (
        "parameter",
        "Tensor f(const Tensor& x, DimVector s) { std::vector<int64_t> v{s}; v[0] = x.size(0); return x.view(v); }",
    ),
    ("switch", "Tensor f(const Tensor& x) { switch (x.size(0)) { default: return x; } }"),
    ("bit-operation", "Tensor f(const Tensor& x) { return x.reshape({x.size(0) >> 1}); }"),
    ("increment", "Tensor f(const Tensor& x) { auto n = x.size(0); return x.reshape({n++}); }"),
    ("address", "Tensor f(const Tensor& x) { auto n = x.size(0); fill(&n); return x; }"),
    ("return-type", "size_t f(const Tensor& x) { return x.numel(); }"),
    ("member", "void f(const Tensor& x, Params& p) { p.count = x.numel(); }"),
    ("negation", "Tensor f(const Tensor& x) { double s = 1. / x.numel(); return x.mul(-s); }"),
    (
        "mixed",
        (
            "static IntArrayRef given(bool b);\n"
            "Tensor f(const Tensor& x, bool b) { IntArrayRef s = b ? x.sizes() : given(b); return x.view(s); }"
        ),
    ),
]
CONVERTED = [
    (
        "Tensor f(const Tensor& x) { int64_t n = x.storage().nbytes() / x.itemsize(); return at::zeros({n}); }",
        (
            "Tensor f(const Tensor& x) { c10::SymInt n = x.storage().sym_nbytes() / x.itemsize(); "
            "return at::zeros_symint({n}); }"
        ),
    ),
    (
        "Tensor f(const Tensor& x) { const int64_t n = x.size(0), m = 3; return x.view({n * m, -1}); }",
        "Tensor f(const Tensor& x) { const c10::SymInt n = x.sym_size(0), m = 3; return x.view_symint({n * m, -1}); }",
    ),
    (
        "Tensor f(c10::optional<Tensor> x) { return x->view({x->numel()}); }",
        "Tensor f(c10::optional<Tensor> x) { return x->view_symint({x->sym_numel()}); }",
    ),
    (
        "Tensor f(TensorList xs) { for (const auto& x : xs) { if (x.numel() == 0) return x; } return xs[0]; }",
        "Tensor f(TensorList xs) { for (const auto& x : xs) { if (x.sym_numel() == 0) return x; } return xs[0]; }",
    ),
    (
        "Tensor f(const Tensor& x) { auto [a, b] = std::make_tuple(x, x.size(0)); return a.narrow(0, 0, b); }",
        (
            "Tensor f(const Tensor& x) { auto [a, b] = std::make_tuple(x, x.sym_size(0)); return "
            "a.narrow_symint(0, 0, b); }"
        ),
    ),
    (
        "Tensor f(const Tensor& x) { DimVector s; s.push_back(x.size(0)); return at::zeros(s, x.options()); }",
        (
            "Tensor f(const Tensor& x) { c10::SymDimVector s; s.push_back(x.sym_size(0)); return "
            "at::zeros_symint(s, x.options()); }"
        ),
    ),
    (
        "Tensor f(const Tensor& x) { auto s = SmallBuffer<int64_t, 5>(x.dim()); s[0] = x.size(0); return x.view(s); }",
        (
            "Tensor f(const Tensor& x) "
            "{ auto s = c10::SmallVector<c10::SymInt, 5>(x.dim()); s[0] = x.sym_size(0); return x.view_symint(s); }"
        ),
    ),
    (
        (
            "Tensor f(const Tensor& x) { auto g = [](const Tensor& t, int64_t n) { return t.narrow(0, 0, n); }; "
            "return g(x, x.size(0)); }"
        ),
        (
            "Tensor f(const Tensor& x) { "
            "auto g = [](const Tensor& t, c10::SymInt n) { return t.narrow_symint(0, 0, n); }; return "
            "g(x, x.sym_size(0)); }"
        ),
    ),
    (
        "Tensor f(const Tensor& x, const Tensor& y) { return x.expand(at::infer_size(x.sizes(), y.sizes())); }",
        (
            "Tensor f(const Tensor& x, const Tensor& y) "
            "{ return x.expand_symint(at::infer_size_symint(x.sym_sizes(), y.sym_sizes())); }"
        ),
    ),
    (
        "Tensor f(const Tensor& x, Tensor& v, Tensor& i) { at::topk_out(v, i, x, x.size(0)); return v; }",
        "Tensor f(const Tensor& x, Tensor& v, Tensor& i) { at::topk_symint_out(v, i, x, x.sym_size(0)); return v; }",
    ),
    (
        'Tensor f(const Tensor& x) { TORCH_CHECK(x.dim() || x.size(0) > 1, "got ", x.sizes()); return x; }',
        'Tensor f(const Tensor& x) { TORCH_CHECK(x.dim() || x.sym_size(0) > 1, "got ", x.sym_sizes()); return x; }',
    ),
    (
        "Tensor f(const Tensor& x) { IntArrayRef s; if (x.dim() > 1) { s = x.sizes(); } return x.view(s); }",
        (
            "Tensor f(const Tensor& x) { c10::SymIntArrayRef s; if (x.dim() > 1) { s = x.sym_sizes(); "
            "} return x.view_symint(s); }"
        ),
    ),
    (
        "Tensor f(const Tensor& x) { auto n = x.size(0); const int64_t m(n * n); return x.view({m}); }",
        "Tensor f(const Tensor& x) { auto n = x.sym_size(0); const c10::SymInt m(n * n); return x.view_symint({m}); }",
    ),
    (
        "Tensor f(const Tensor& x) { auto s(x.sizes()); IntArrayRef t(s); return x.view(t); }",
        "Tensor f(const Tensor& x) { auto s(x.sym_sizes()); c10::SymIntArrayRef t(s); return x.view_symint(t); }",
    ),
    (
        "Tensor f(const Tensor& x) { DimVector u; DimVector v(u); v.push_back(x.size(0)); return x.view(v); }",
        (
            "Tensor f(const Tensor& x) { c10::SymDimVector u; c10::SymDimVector v(u); v.push_back(x.sym_size(0)); "
            "return x.view_symint(v); }"
        ),
    ),
    (
        "Tensor f(const Tensor& x) { auto n = x.size(0); bool b(n), c{n}; return x.view({n}); }",
        "Tensor f(const Tensor& x) { auto n = x.sym_size(0); bool b(n != 0), c{n != 0}; return x.view_symint({n}); }",
    ),
    (
        "Tensor f(const Tensor& x) { Tensor g(Tensor, IntArrayRef); return g(x, x.sizes().slice(1)); }",
        "Tensor f(const Tensor& x) { Tensor g(Tensor, IntArrayRef); return g(x, x.sizes().slice(1)); }",
    ),
    (
        "Tensor f(const Tensor& x) { auto n = x.size(0); return x.expand_symint({c10::SymInt(n), 3}); }",
        "Tensor f(const Tensor& x) { auto n = x.sym_size(0); return x.expand_symint({c10::SymInt(n), 3}); }",
    ),
    (
        "auto f(const Tensor& x) { std::array<bool, 2> mask = {true, false}; return at::halves(x, x.size(0), mask); }",
        (
            "auto f(const Tensor& x) { std::array<bool, 2> mask = {true, false}; "
            "return at::halves_symint(x, x.sym_size(0), mask); }"
        ),
    ),
    (
        "Tensor f(const Tensor& x, int k) { int64_t n = std::abs(k) + x.size(0); return x.view(n); }",
        "Tensor f(const Tensor& x, int k) { c10::SymInt n = std::abs(k) + x.sym_size(0); return x.view_symint(n); }",
    ),
    (
        "Tensor f(const Tensor& x) { return at::arange(x.size(0), x.options()); }",
        "Tensor f(const Tensor& x) { return at::arange(x.sym_size(0), x.options()); }",
    ),
]


def test_a_variable_that_looks_like_a_function_goes_on_through_helpers(tmp_path: Path) -> None:
    before = """\
static int64_t twice(int64_t n) { return n * 2; }
Tensor f(const Tensor& x) { const int64_t m(twice(x.size(0))), k(twice(m)); return x.view({k}); }"""
    after = """\
static c10::SymInt twice(c10::SymInt n) { return n * 2; }
Tensor f(const Tensor& x) { const c10::SymInt m(twice(x.sym_size(0))), k(twice(m)); return x.view_symint({k}); }"""
    assert converted(tmp_path, before) == after


@pytest.mark.parametrize("source", NOT_TENSORS)
def test_what_is_no_tensor_stays(tmp_path: Path, source: str) -> None:
    assert converted(tmp_path, source) == source


@pytest.mark.parametrize(("code", "source"), STOPPED, ids=[code for code, _ in STOPPED])
def test_a_value_that_meets_a_sink_stays_concrete_and_the_sink_is_named(tmp_path: Path, code: str, source: str) -> None:
    assert converted(tmp_path, source) == source
    assert code in refusals(tmp_path, source)


COMPARED = """\
Tensor f(const Tensor& x, const Tensor& y, std::vector<int64_t> v) {
  TORCH_CHECK_EQ(x.sizes(), y.sizes());
  TORCH_CHECK_GE(x.size(0), 1);
  TORCH_CHECK_EQ(x.dim(), v.size());
  return x.view({x.numel()});
}"""


def test_a_check_of_two_values_takes_sizes(tmp_path: Path) -> None:
    after = COMPARED.replace(".sizes()", ".sym_sizes()").replace("x.size(0)", "x.sym_size(0)")
    after = after.replace("x.view({x.numel()})", "x.view_symint({x.sym_numel()})")
    assert converted(tmp_path, COMPARED, Level.SAFE) == after
    kept = "Tensor f(const Tensor& x, size_t n) { TORCH_CHECK_LT(x.size(0) - 2, n); return x.view({x.size(0)}); }"
    assert "size_t" in refusals(tmp_path, kept)
    other = "Tensor f(const Tensor& x) { MY_CHECK_EQ(x.size(0), 2); return x; }"
    assert refusals(tmp_path, other) == ["callee-unknown"]


@pytest.mark.parametrize("storage", ["static", "thread_local", "static const"])
def test_a_tensor_that_is_kept_from_call_to_call_holds_no_symbol(tmp_path: Path, storage: str) -> None:
    kept = (
        f"Tensor f(const Tensor& x) {{\n  {storage} Tensor kept = at::zeros({{8}}, x.options());\n"
        "  return kept.size(0) == 8 ? kept.view(kept.sizes()) : x;\n}"
    )
    assert findings(tmp_path, kept) == []
    beside = (
        f"Tensor f(const Tensor& x) {{ {storage} Tensor kept = made(); return x.view({{x.size(0), kept.size(0)}}); }}"
    )
    assert converted(tmp_path, beside) == beside.replace("x.view", "x.view_symint").replace("x.size", "x.sym_size")


@pytest.mark.parametrize(("before", "after"), CONVERTED)
def test_the_whole_chain_follows_at_the_safe_level(tmp_path: Path, before: str, after: str) -> None:
    assert converted(tmp_path, before, Level.SAFE) == after
    assert converted(tmp_path, after) == after


def test_a_function_with_a_sink_is_left_whole_at_the_safe_level(tmp_path: Path) -> None:
    source = (
        "Tensor f(const Tensor& x) { if (x.numel() == 0) { return x; } auto n = x.size(0); "
        "for (auto i : c10::irange(n)) {} return x; }"
    )
    assert converted(tmp_path, source, Level.SAFE) == source
    after = converted(tmp_path, source, Level.REVIEW)
    assert "x.sym_numel().sym_eq(0)" in after
    assert "auto n = x.sym_size(0).guard_int(__FILE__, __LINE__);" in after


def test_a_receiver_of_unknown_type_is_listed_and_left(tmp_path: Path) -> None:
    source = "Tensor f(const Tensor& x) { auto y = mystery(x); return x.reshape({y.numel()}); }"
    assert converted(tmp_path, source) == source
    assert refusals(tmp_path, source) == ["unknown-receiver"]


def test_a_helper_changes_with_its_declaration_and_every_caller(tmp_path: Path) -> None:
    source = (
        "static Tensor keep(const Tensor& x, IntArrayRef s);\n"
        "static Tensor keep(const Tensor& x, IntArrayRef s) { return x.view(s); }\n"
        "Tensor f(const Tensor& x) { return keep(x, x.sizes()); }"
    )
    after = converted(tmp_path, source)
    assert after.count("c10::SymIntArrayRef s") == 2
    assert "x.view_symint(s)" in after
    assert "x.sym_sizes()" in after
    assert converted(tmp_path, source, Level.SAFE) == source


def test_a_helper_gains_a_twin_where_another_caller_has_only_a_concrete_sequence(tmp_path: Path) -> None:
    source = (
        "static Tensor keep(const Tensor& x, IntArrayRef s) { return x.view(s); }\n"
        "Tensor f(const Tensor& x) { return keep(x, x.sizes()); }\n"
        "static Tensor g(const Tensor& x, IntArrayRef s) { return keep(x, s); }"
    )
    assert converted(tmp_path, source) == (
        "static Tensor keep(const Tensor& x, IntArrayRef s) { return x.view(s); }\n\n"
        "static Tensor keep_symint(const Tensor& x, c10::SymIntArrayRef s) { return x.view_symint(s); }\n"
        "Tensor f(const Tensor& x) { return keep_symint(x, x.sym_sizes()); }\n"
        "static Tensor g(const Tensor& x, IntArrayRef s) { return keep(x, s); }"
    )
    assert converted(tmp_path, source, Level.SAFE) == source


def test_edits_of_one_function_share_a_group(tmp_path: Path) -> None:
    source = "Tensor f(const Tensor& x) { int64_t n = x.size(0); return x.view({n}); }"
    found = [finding for finding in findings(tmp_path, source) if finding.edits]
    assert {finding.rule for finding in found} == {"sym-accessor", "local-type", "symint-overload"}
    assert len({finding.group for finding in found}) == 1


def test_branches_that_only_concrete_tensors_enter_are_left(tmp_path: Path) -> None:
    source = "Tensor f(const Tensor& x) { if (x.is_quantized()) { return x.view({x.size(0)}); } return x; }"
    assert converted(tmp_path, source) == source


EXPRESSIONS = st.recursive(
    st.sampled_from(["x.size(0)", "x.numel()", "k", "2", "n"]),
    lambda inner: st.tuples(inner, st.sampled_from(["+", "*", "-", "/"]), inner).map(
        lambda p: f"({p[0]} {p[1]} {p[2]})"
    ),
    max_leaves=6,
)


@settings(max_examples=drawn(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(EXPRESSIONS, st.sampled_from(["{e}", "std::max({e}, n)", "b ? {e} : n", "({e})"]))
def test_any_arithmetic_on_sizes_converts_once_and_for_all(tmp_path: Path, expression: str, shape: str) -> None:
    value = shape.replace("{e}", expression)
    source = (
        f"Tensor f(const Tensor& x, int64_t k, bool b) {{ int64_t n = x.size(1); n -= {value}; return x.view({{n}}); }}"
    )
    after = converted(tmp_path, source)
    assert "x.size(" not in after
    assert "x.numel()" not in after
    assert "x.view_symint({n})" in after
    assert "c10::SymInt n" in after
    assert converted(tmp_path, after) == after


@pytest.mark.parametrize(
    ("schema", "changed"),
    [
        ("resized(Tensor x, int n) -> Tensor", False),
        ("resized(Tensor x, int? n=None) -> Tensor", False),
        ("resized(Tensor x, SymInt n) -> Tensor", True),
        ("other(Tensor x, int n) -> Tensor", True),
    ],
)
def test_a_function_of_an_operators_name_takes_what_the_schema_says(tmp_path: Path, schema: str, changed: bool) -> None:
    source = f"""\
Tensor resized(const Tensor& x, int64_t n) {{ return x.view({{n}}); }}
static Tensor composite(const Tensor& x) {{ return resized(x, x.size(0)); }}
TORCH_LIBRARY(shapes, m) {{ m.def("{schema}"); m.def("composite", &composite); }}
"""
    project = MemoryProject(tmp_path, {"source.cpp": source, "c10.h": HEADER}, tmp_path / "schemas.yaml")
    (tmp_path / "schemas.yaml").write_text(SCHEMAS)
    signatures = [finding for finding in analyse_tree(project) if finding.rule == "helper-signature"]
    assert bool(signatures) is changed
