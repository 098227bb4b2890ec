"""Values that go through helpers and structs: first what must stay as it is, then what comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.edits import apply_edits
from codemod.model.findings import Level
from tests.transforms.cpp.snippets import converted, findings

PLAN = "struct Plan { DimVector shape; DimVector dims; };\n"
FILL = "static Plan plan(const Tensor& x) { Plan p; p.shape.push_back(x.size(0)); return p; }\n"
USE = "Tensor f(const Tensor& x) { return x.expand(plan(x).shape); }"
KEPT = {
    "the result has a deduced type, which callers have integers for": (
        "static auto rows(const Tensor& x) { return x.size(0); }\n"
        "Tensor f(const Tensor& x) { int64_t n = rows(x); return x.narrow(0, 0, n); }"
    ),
    "a constructor gives the member its value": (
        "struct Plan { Plan(DimVector s) : shape(s) {} DimVector shape; };\n"
        "static Plan plan(const Tensor& x) { Plan p({}); p.shape.push_back(x.size(0)); return p; }\n" + USE
    ),
    "a method returns a reference to the member": (
        "struct Plan { DimVector shape; int64_t& first() { return shape[0]; } };\n" + FILL + USE
    ),
    "a constructor counts with the member": (
        "struct Plan { Plan(const Tensor& x) { n = x.size(0); for (int64_t i = 0; i < n; i++) {} }"
        " Tensor cut(const Tensor& x) { return x.narrow(0, 0, n); } int64_t n; };\n"
        "Tensor f(const Tensor& x) { return Plan(x).cut(x); }"
    ),
    "a template may use the member": (
        "struct Plan { DimVector shape; template <typename T> T as() { return static_cast<T>(shape[0]); } };\n"
        + FILL
        + USE
    ),
    "the struct is bound to names": (
        PLAN + FILL + "Tensor g(const Tensor& x) { const auto& [s, d] = plan(x); return x.expand(s).sum(d); }\n" + USE
    ),
    "a template takes the struct": (
        PLAN + FILL + "template <typename P> int64_t first(const P& p) { int64_t n = p.shape[0]; return n; }\n" + USE
    ),
    "the struct is copied byte by byte": PLAN + "static std::atomic<Plan> last;\n" + FILL + USE,
    "the struct has to be plain": PLAN + "static_assert(std::is_trivially_copyable_v<Plan>);\n" + FILL + USE,
    "the struct is built of all its members": (
        PLAN + FILL + "Tensor g(const Tensor& x, DimVector v) { Plan p{v, v}; return x.expand(p.shape); }\n" + USE
    ),
    "the struct is returned as a list of its members": (
        PLAN + FILL + "static Plan whole(DimVector v) { return {v, v}; }\n"
        "Tensor g(const Tensor& x, DimVector v) { return x.expand(whole(v).shape); }\n" + USE
    ),
    "a helper is given the struct as a list of its members": (
        PLAN + FILL + "static Tensor take(const Tensor& x, Plan p) { return x.expand(p.shape); }\n"
        "Tensor g(const Tensor& x, DimVector v) { return take(x, {v, v}); }\n" + USE
    ),
    "another function needs the member as integers": (
        PLAN + FILL + "int64_t g(const Tensor& x) { return at::takes_int(plan(x).shape[0]); }\n" + USE
    ),
    "the struct may be copied byte by byte": (
        PLAN + FILL + USE + "\nvoid clear(Plan* p) { memset(p, 0, sizeof(*p)); }"
    ),
    "the class of a receiver is not known": (
        PLAN + FILL + "Tensor g(const Tensor& x) { return x.expand(elsewhere(x).shape); }\n" + USE
    ),
    "two structs have the name": (PLAN + "namespace other { " + PLAN + "}\n" + FILL + USE),
    "a base may hold the member": ("struct Base {};\nstruct Plan : Base { DimVector shape; };\n" + FILL + USE),
    "the member is the template's": (
        "template <typename T> struct Plan { DimVector shape; };\n"
        "static Plan<int> plan(const Tensor& x) { Plan<int> p; p.shape.push_back(x.size(0)); return p; }\n" + USE
    ),
    "a comment stands between the members": ("struct Plan { DimVector shape /* sizes */, dims; };\n" + FILL + USE),
    "a reference is bound to what is no local": (
        "static void put(const Tensor& x, int64_t& n) { n = x.size(0); }\n"
        "struct Box { Tensor g(const Tensor& x) { put(x, n_); return x; } int64_t n_; };\n"
        "Tensor f(const Tensor& x) { int64_t n = 0; put(x, n); return x.narrow(0, 0, n); }"
    ),
    "a reference is bound to an integer that counts": (
        "static void put(const Tensor& x, int64_t& n) { n = x.size(0); }\n"
        "Tensor f(const Tensor& x) { int64_t n = 0; put(x, n); for (int64_t i = 0; i < n; i++) {} return x; }"
    ),
    "a method has no twin": (
        "struct Box { static Tensor keep(const Tensor& x, IntArrayRef s) { return x.expand(s); } };\n"
        "Tensor g(const Tensor& x, IntArrayRef s) { return Box::keep(x, s); }\n"
        "Tensor f(const Tensor& x) { return Box::keep(x, x.sizes()); }"
    ),
    "a template has no twin": (
        "template <typename T> Tensor keep(const Tensor& x, IntArrayRef s, T t) { return x.expand(s); }\n"
        "Tensor g(const Tensor& x, IntArrayRef s) { return keep(x, s, 1); }\n"
        "Tensor f(const Tensor& x) { return keep(x, x.sizes(), 1); }"
    ),
    "what a pack is given goes by a signature": (
        "template <class F, class... A> Tensor go(const char* s, A... a) { return op(s).typed<F>().call(a...); }\n"
        'Tensor f(const Tensor& x) { return go<Tensor(const Tensor&, int64_t)>("my::cut", x, x.size(0)); }'
    ),
    "the twin would be a second body of many lines": (
        "static Tensor keep(const Tensor& x, IntArrayRef s) {" + "\n" * 40 + "return x.expand(s); }\n"
        "Tensor g(const Tensor& x, IntArrayRef s) { return keep(x, s); }\n"
        "Tensor f(const Tensor& x) { return keep(x, x.sizes()); }"
    ),
    "the body of the twin would count a loop": (
        "static Tensor keep(const Tensor& x, IntArrayRef s) { for (int i = 0; i < s[0]; i++) {} return x.expand(s); }\n"
        "Tensor g(const Tensor& x, IntArrayRef s) { return keep(x, s); }\n"
        "Tensor f(const Tensor& x) { return keep(x, x.sizes()); }"
    ),
    "a part of the tuple counts a loop": (
        "static std::tuple<Tensor, int64_t> wide(const Tensor& x) { return {x, x.size(0)}; }\n"
        "Tensor f(const Tensor& x) { auto r = wide(x); for (int i = 0; i < std::get<1>(r); i++) {} return x; }"
    ),
    "the tuple goes to a function that is not known": (
        "static std::tuple<Tensor, int64_t> wide(const Tensor& x) { return std::make_tuple(x, x.size(0)); }\n"
        "Tensor f(const Tensor& x) { return unpack(wide(x)); }"
    ),
    "the tuple is held as it was": (
        "static std::tuple<Tensor, int64_t> wide(const Tensor& x) { return std::make_tuple(x, x.size(0)); }\n"
        "Tensor f(const Tensor& x) { std::tuple<Tensor, int64_t> r = wide(x); return x.narrow(0, 0, std::get<1>(r)); }"
    ),
    "another way out has integers of a caller": (
        "static std::tuple<Tensor, IntArrayRef> shape(const Tensor& x, IntArrayRef s) {"
        " if (x.dim() == 0) { return std::make_tuple(x, s); } return std::make_tuple(x, x.sizes()); }\n"
        "Tensor g(const Tensor& x, IntArrayRef s) { auto [y, t] = shape(x, s); return y.expand(t); }"
    ),
    "every caller counts with a part of the tuple": (
        "static std::tuple<Tensor, int64_t> wide(const Tensor& x) { return std::make_tuple(x, x.size(0)); }\n"
        "Tensor g(const Tensor& x) { auto [y, n] = wide(x); for (int64_t i = 0; i < n; i++) {} return y; }\n"
        "Tensor f(const Tensor& x) { int64_t n = std::get<1>(wide(x)); return x.sum(at::takes_int(n)); }"
    ),
    "the helper counts with what it returns a part of": (
        "static std::tuple<Tensor, int64_t> wide(const Tensor& x)"
        " { auto n = x.size(0); for (int64_t i = 0; i < n; i++) {} return std::make_tuple(x, n); }\n"
        "Tensor f(const Tensor& x) { auto [y, n] = wide(x); return y.narrow(0, 0, n); }"
    ),
    "nobody could call the twin": (
        "static int64_t width(const Tensor& x) { return x.size(0); }\n"
        "Tensor f(const Tensor& x) { for (int64_t i = 0; i < width(x); i++) {} return x; }"
    ),
}


@pytest.mark.parametrize("source", KEPT.values(), ids=KEPT)
def test_helpers_and_structs_stay(tmp_path: Path, source: str) -> None:
    assert converted(tmp_path, source) == source


CONVERTED = {
    "a struct of sizes": (
        PLAN + FILL + USE,
        (PLAN + FILL + USE)
        .replace("DimVector shape", "c10::SymDimVector shape")
        .replace("x.size(0)", "x.sym_size(0)")
        .replace("expand(", "expand_symint("),
    ),
    "one size is a sequence": (
        (
            "static Tensor keep(const Tensor& x, IntArrayRef s) { return x.expand(s); }\n"
            "Tensor f(const Tensor& x) { return keep(x, x.size(0)); }"
        ),
        (
            "static Tensor keep(const Tensor& x, c10::SymIntArrayRef s) { return x.expand_symint(s); }\n"
            "Tensor f(const Tensor& x) { return keep(x, x.sym_size(0)); }"
        ),
    ),
    "a reference takes its variable along": (
        (
            "static void put(const Tensor& x, int64_t& n) { n = x.size(0); }\n"
            "Tensor f(const Tensor& x) { int64_t n = 0; put(x, n); return x.narrow(0, 0, n); }"
        ),
        (
            "static void put(const Tensor& x, c10::SymInt& n) { n = x.sym_size(0); }\n"
            "Tensor f(const Tensor& x) { c10::SymInt n = 0; put(x, n); return x.narrow_symint(0, 0, n); }"
        ),
    ),
    "a parameter follows what it is handed to": (
        (
            "static Tensor keep(const Tensor& x, IntArrayRef s) { return x.expand(s); }\n"
            "static Tensor pass(const Tensor& x, IntArrayRef s) { return keep(x, s); }\n"
            "Tensor g(const Tensor& x) { return pass(x, x.sizes()); }\n"
            "Tensor f(const Tensor& x) { return keep(x, x.sizes()); }"
        ),
        (
            "static Tensor keep(const Tensor& x, c10::SymIntArrayRef s) { return x.expand_symint(s); }\n"
            "static Tensor pass(const Tensor& x, c10::SymIntArrayRef s) { return keep(x, s); }\n"
            "Tensor g(const Tensor& x) { return pass(x, x.sym_sizes()); }\n"
            "Tensor f(const Tensor& x) { return keep(x, x.sym_sizes()); }"
        ),
    ),
    "parts of a tuple, each by itself": (
        (
            "static std::tuple<DimVector, DimVector, int64_t> shape(const Tensor& x) {"
            " DimVector dims{0}; DimVector sizes;"
            " sizes.push_back(x.size(0)); return std::make_tuple(sizes, dims, x.numel()); }\n"
            "Tensor f(const Tensor& x) { auto [s, d, n] = shape(x); return x.sum(d).view(s).narrow(0, 0, n); }"
        ),
        (
            "static std::tuple<c10::SymDimVector, DimVector, c10::SymInt> shape(const Tensor& x) {"
            " DimVector dims{0}; c10::SymDimVector sizes;"
            " sizes.push_back(x.sym_size(0)); return std::make_tuple(sizes, dims, x.sym_numel()); }\n"
            "Tensor f(const Tensor& x) { auto [s, d, n] = shape(x);"
            " return x.sum(d).view_symint(s).narrow_symint(0, 0, n); }"
        ),
    ),
    "results behind arrows": (
        (
            "static auto rows(const Tensor& x) -> int64_t { return x.size(0); }\n"
            "static auto both(const Tensor& x) -> std::tuple<int64_t, Tensor> { return {x.size(0), x}; }\n"
            "Tensor f(const Tensor& x) { auto [n, y] = both(x); return y.narrow(0, rows(x), n); }"
        ),
        (
            "static auto rows(const Tensor& x) -> c10::SymInt { return x.sym_size(0); }\n"
            "static auto both(const Tensor& x) -> std::tuple<c10::SymInt, Tensor> { return {x.sym_size(0), x}; }\n"
            "Tensor f(const Tensor& x) { auto [n, y] = both(x); return y.narrow_symint(0, rows(x), n); }"
        ),
    ),
    "a pair in braces, tied": (
        (
            "static std::pair<Tensor, int64_t> wide(const Tensor& x) { return {x, x.size(0)}; }\n"
            "Tensor f(const Tensor& x) { Tensor y; int64_t n; std::tie(y, n) = wide(x); return y.narrow(0, 0, n); }"
        ),
        (
            "static std::pair<Tensor, c10::SymInt> wide(const Tensor& x) { return {x, x.sym_size(0)}; }\n"
            "Tensor f(const Tensor& x) { Tensor y; c10::SymInt n; std::tie(y, n) = wide(x);"
            " return y.narrow_symint(0, 0, n); }"
        ),
    ),
    "a tuple that others count with a part of": (
        (
            "static std::tuple<Tensor, DimVector> wide(const Tensor& x) { return std::make_tuple(x, x.sizes()); }\n"
            "Tensor g(const Tensor& x) { auto [y, s] = wide(x); for (int64_t i = 0; i < s[0]; i++) {} return y; }\n"
            "Tensor f(const Tensor& x) { auto [y, s] = wide(x); return y.expand(s); }"
        ),
        (
            "static std::tuple<Tensor, DimVector> wide(const Tensor& x) { return std::make_tuple(x, x.sizes()); }\n\n"
            "static std::tuple<Tensor, c10::SymDimVector> wide_symint(const Tensor& x)"
            " { return std::make_tuple(x, x.sym_sizes()); }\n"
            "Tensor g(const Tensor& x) { auto [y, s] = wide(x); for (int64_t i = 0; i < s[0]; i++) {} return y; }\n"
            "Tensor f(const Tensor& x) { auto [y, s] = wide_symint(x); return y.expand_symint(s); }"
        ),
    ),
    "a helper that returns what its twin will": (
        (
            "static int64_t width(const Tensor& x) { return x.size(0); }\n"
            "static std::tuple<Tensor, int64_t> wide(const Tensor& x) { return std::make_tuple(x, width(x)); }\n"
            "Tensor g(const Tensor& x) { for (int64_t i = 0; i < width(x); i++) {} return x; }\n"
            "Tensor f(const Tensor& x) { auto [y, n] = wide(x); return y.narrow(0, 0, n); }"
        ),
        (
            "static int64_t width(const Tensor& x) { return x.size(0); }\n\n"
            "static c10::SymInt width_symint(const Tensor& x) { return x.sym_size(0); }\n"
            "static std::tuple<Tensor, c10::SymInt> wide(const Tensor& x)"
            " { return std::make_tuple(x, width_symint(x)); }\n"
            "Tensor g(const Tensor& x) { for (int64_t i = 0; i < width(x); i++) {} return x; }\n"
            "Tensor f(const Tensor& x) { auto [y, n] = wide(x); return y.narrow_symint(0, 0, n); }"
        ),
    ),
    "a member is filled by a copy and read behind another": (
        PLAN + "static Plan plan(const Tensor& x) { Plan p; auto s = x.sizes(); p.shape.resize(s.size()); "
        "std::copy(s.begin(), s.end(), p.shape.begin()); p.dims.push_back(0); return p; }\n"
        "Tensor f(const Tensor& x) { auto p = plan(x); p.shape[0] = 2; return x.sum(p.dims).expand(p.shape); }",
        (
            "struct Plan { c10::SymDimVector shape; DimVector dims; };\n"
            "static Plan plan(const Tensor& x) { Plan p; auto s = x.sym_sizes(); p.shape.resize(s.size()); "
            "std::copy(s.begin(), s.end(), p.shape.begin()); p.dims.push_back(0); return p; }\n"
            "Tensor f(const Tensor& x) { auto p = plan(x); p.shape[0] = 2; "
            "return x.sum(p.dims).expand_symint(p.shape); }"
        ),
    ),
}

CLASS = """
struct Plan {{
  explicit Plan(const Tensor& x) {{
    part = {0}(1);
    part[0] = x.{1}(0);
    whole = part[0] * 2;
  }}
  Tensor cut(const Tensor& x) const {{ return x.{2}(0, 0, whole); }}
  Tensor fade(const Tensor& x) const {{ int64_t whole = 3; return x.narrow(0, 0, whole); }}
 private:
  {0} part;
  {3} whole;
}};
Tensor f(const Tensor& x) {{ return Plan(x).cut(x); }}
Tensor g(const Tensor& x) {{ return Plan(x).fade(x); }}
"""


def test_a_class_keeps_sizes_for_its_methods(tmp_path: Path) -> None:
    """A member is filled by another, a method has the name of an operator, and a local variable hides a member."""
    before = CLASS.format("DimVector", "size", "narrow", "int64_t")
    for method in ("cut", "narrow"):
        source = before.replace("cut", method)
        after = CLASS.format("c10::SymDimVector", "sym_size", "narrow_symint", "c10::SymInt").replace("cut", method)
        assert converted(tmp_path, source) == after


def test_a_name_alone_means_what_stands_around_the_caller_before_what_stands_elsewhere(tmp_path: Path) -> None:
    source = """\
namespace other { template <class... Ts> Tensor cut(std::tuple<Ts...> parts) { return std::get<0>(parts); } }
namespace mine {
static Tensor cut(const Tensor& x, int64_t rows) { return x.narrow(0, 0, rows); }
Tensor f(const Tensor& x) { return cut(x, x.size(0)); }
}"""
    expected = source.replace("int64_t", "c10::SymInt").replace("size", "sym_size").replace("narrow", "narrow_symint")
    assert converted(tmp_path, source) == expected


def test_a_member_is_filled_by_one_whose_name_begins_with_its_own(tmp_path: Path) -> None:
    before = CLASS.format("DimVector", "size", "narrow", "int64_t")
    after = CLASS.format("c10::SymDimVector", "sym_size", "narrow_symint", "c10::SymInt")
    assert converted(tmp_path, before.replace("part", "whole_part")) == after.replace("part", "whole_part")


@pytest.mark.parametrize(("source", "expected"), CONVERTED.values(), ids=CONVERTED)
def test_helpers_and_structs_follow(tmp_path: Path, source: str, expected: str) -> None:
    assert converted(tmp_path, source) == expected
    assert converted(tmp_path, expected) == expected


def test_what_takes_sizes_of_both_groups_is_in_each(tmp_path: Path) -> None:
    """A shard of the signatures alone has to compile, and so has one of the body alone."""
    source = """
static Tensor fill(const Tensor& v, int64_t h) {
  auto n = v.size(0);
  auto w = v.view({n, -1});
  return w.expand({n, h});
}
Tensor f(const Tensor& x) { return fill(x, x.size(1)); }
"""
    found = findings(tmp_path, source)
    alone = {
        group: apply_edits(source.encode(), {e for f in found if f.group == group for e in f.edits}).decode()
        for group in {finding.group for finding in found}
    }
    (signatures,) = (text for group, text in alone.items() if group.startswith("helpers of "))
    assert "c10::SymInt h" in signatures
    assert "auto n = v.size(0);" in signatures
    assert "w.expand_symint({n, h})" in signatures
    assert "v.view({n, -1})" in signatures
    (body,) = (text for group, text in alone.items() if group.startswith("source.cpp:fill"))
    assert "int64_t h" in body
    assert "w.expand_symint({n, h})" in body
    assert "v.view_symint({n, -1})" in body


@pytest.mark.parametrize(
    ("overloads", "called", "follows"),
    [
        ("Tensor by(const Tensor& x, int64_t n); Tensor by(const Tensor& x, const Scalar& n);", "by(x, n)", False),
        ("Tensor by(const Tensor& x, int64_t n); Tensor by(const Tensor& x, c10::SymFloat n);", "by(x, n)", False),
        ("Tensor by(const Tensor& x, int64_t n); Tensor by(const Tensor& x, optional<SymInt> n);", "by(x, n)", False),
        ("Tensor by(const Tensor& x, int n); Tensor by(const Tensor& x, const Scalar& n);", "by(x, n)", False),
        ("struct By { Tensor by(int64_t n); Tensor by(const Scalar& n); };", "b.by(n)", False),
        ("Tensor by(const Tensor& x, const Scalar& n);", "by(x, n)", True),
        ("Tensor by(const Tensor& x, int64_t n); Tensor by(const Tensor& x, c10::SymInt n);", "by(x, n)", True),
        ("Tensor by(TensorList x, int64_t n); Tensor by(const Tensor& x, const Scalar& n);", "by(x, n)", True),
        ("Tensor by(IntArrayRef x, int64_t n); Tensor by(const Tensor& x, const Scalar& n);", "by(x, n)", True),
        ("struct By { Tensor by(int64_t n); Tensor by(c10::SymInt n, bool b = true); };", "b.by(n)", True),
    ],
)
def test_a_call_means_the_overload_that_it_meant(tmp_path: Path, overloads: str, called: str, follows: bool) -> None:
    source = f"{overloads}\nTensor f(const Tensor& x, By b) {{ auto n = x.size(0); return {called}; }}"
    assert converted(tmp_path, source, Level.SAFE) == (source.replace("x.size", "x.sym_size") if follows else source)
