"""What one file says by itself."""

from __future__ import annotations

import pickle

import pytest

from transforms.cpp.reading.extract import extract
from transforms.cpp.reading.facts import FileFacts, Function, Lookup, Param


def facts(source: str) -> FileFacts:
    return extract("a.cpp", source.encode())


def defined(source: str) -> Function:
    (function,) = (f for f in facts(source).functions if f.body >= 0)
    return function


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("", ()),
        ("void", ()),
        ("const Tensor& self, int64_t n", (Param("const Tensor&", "self"), Param("int64_t", "n"))),
        ("const Tensor&", (Param("const Tensor&", ""),)),
        ("const at::Tensor", (Param("const at::Tensor", ""),)),
        ("unsigned n", (Param("unsigned", "n"),)),
        (
            "std::optional<std::tuple<int, Tensor>> x = {}",
            (Param("std::optional<std::tuple<int, Tensor>>", "x", "{}"),),
        ),
        ("std::array<bool, 2>\n  mask", (Param("std::array<bool, 2>", "mask"),)),
        ("int (&sizes)[3], char name[4]", (Param("int (&)[3]", "sizes"), Param("char[4]", "name"))),
        ("void (*f)(int, Tensor)", (Param("void (*)(int, Tensor)", "f"),)),
        ("Args&&... args", (Param("Args&&...", "args"),)),
    ],
)
def test_parameters(parameters: str, expected: tuple[Param, ...]) -> None:
    assert defined(f"Tensor f({parameters}) {{ }}").params == expected


def test_a_method_of_a_nested_class() -> None:
    function = defined(
        "namespace at { namespace native { struct Tensor_Box { static Tensor get(int i) { return t; } }; } }"
    )
    assert (function.qualified, function.parent, function.returns) == (
        "at::native::Tensor_Box::get",
        "Tensor_Box",
        "Tensor",
    )
    assert not function.internal


def test_a_method_defined_outside_its_class() -> None:
    function = defined("namespace at { Tensor Box<int>::get() const { return t; } }")
    assert (function.name, function.qualified, function.parent) == ("get", "at::Box::get", "Box")


@pytest.mark.parametrize(
    "source", ["namespace { Tensor f() {} }", "static Tensor f() {}", "namespace at { namespace { Tensor f() {} } }"]
)
def test_internal(source: str) -> None:
    assert defined(source).internal


def test_offsets_and_lines() -> None:
    source = "// first\n\ntemplate <class T>\nTORCH_API Tensor f(Tensor x)\n{\n  return x;\n}\n"
    function = defined(source)
    assert source[function.start :].startswith("Tensor f")
    assert source[function.body] == "{"
    assert source[: function.end].endswith("}")
    assert (function.line, function.template) == (4, True)


def test_declarations() -> None:
    declared = facts(
        "namespace at { TORCH_API Tensor f(int64_t n = 1);\nREGISTER_THING(Tensor, b);\nint64_t g; }"
    ).functions
    assert [(f.name, f.body, f.params) for f in declared] == [("f", -1, (Param("int64_t", "n", "1"),))]


def test_structured_kernels_are_marked() -> None:
    functions = facts("TORCH_META_FUNC2(add, Tensor)(int64_t a) {}\nTORCH_IMPL_FUNC(sub_out)(int64_t a) {}").functions
    assert [(f.name, f.structured) for f in functions] == [("add_Tensor", "META"), ("sub_out", "IMPL")]


@pytest.mark.parametrize(
    ("body", "features"),
    [
        ("return x.size(0);", frozenset()),
        ("AT_DISPATCH_ALL_TYPES(t, n, [&] { x.data_ptr<scalar_t>(); });", frozenset({"dispatch", "data_ptr"})),
        ("at::parallel_for(0, n, 1, f);", frozenset({"parallel"})),
        ("\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) { g(x[i]); }", frozenset({"parallel"})),
        ("auto a = x.accessor<float, 2>();", frozenset({"accessor"})),
        ("auto i = TensorIteratorConfig().build();", frozenset({"iterator"})),
        ("return x.sum().item<int64_t>();", frozenset({"item"})),
        ("// data_ptr in a comment\n return 1;", frozenset()),
        ('TORCH_CHECK(false, "no data_ptr here");', frozenset()),
    ],
)
def test_features(body: str, features: frozenset[str]) -> None:
    assert defined(f"Tensor f(Tensor x) {{ {body} }}").features == features


def test_calls() -> None:
    body = """
      auto y = helper(x, g(1, 2));
      at::native::resize<int>(y, {1, 2});
      y.box().fold(1); y->spread();
      if (y.size(0) > std::max(a, b)) { TORCH_CHECK(y.sizes() == x.sizes()); }
      return helper(x, 3);
    """
    function = defined(f"Tensor f(Tensor x) {{ {body} }}")
    assert [(c.callee, c.arguments, c.member) for c in function.calls] == [
        ("helper", 2, False),
        ("g", 2, False),
        ("at::native::resize", 2, False),
        ("box", 0, True),
        ("fold", 1, True),
        ("spread", 0, True),
    ]
    assert function.calls[0].line == 2
    assert function.candidates == 3


def test_lookups() -> None:
    body = """
      static auto plain = c10::Dispatcher::singleton().findSchemaOrThrow("my::cut", "").typed<Tensor(Tensor)>();
      auto same = c10::Dispatcher::singleton().findSchemaOrThrow("my::cut", "").typed<Tensor(Tensor, int64_t)>();
      auto other = dispatcher.findSchemaOrThrow( "my::cut", "out" )
          .typed<decltype(ns::cut)>();
      auto built = dispatcher.findSchemaOrThrow(name, "");
    """
    function = defined(f"Tensor f(Tensor x) {{ {body} }}")
    assert function.lookups == (Lookup("my::cut"), Lookup("my::cut.out", "ns::cut"))
    assert defined("Tensor f(Tensor x) { return x; }").lookups == ()


def test_members_aliases_and_macros() -> None:
    source = """
    #define TWICE(x) (2 * (x))
    using Pair = std::pair<Tensor, Tensor>;
    typedef std::vector<Tensor> Many;
    struct Box { public: Tensor value_; mutable std::vector<int64_t> sizes_ = {1}; int n{0}; Tensor get() const; };
    """
    got = facts(source)
    assert got.members == (("Box", "value_", "Tensor"), ("Box", "sizes_", "std::vector<int64_t>"), ("Box", "n", "int"))
    assert got.aliases == (("Pair", "std::pair<Tensor, Tensor>"), ("Many", "std::vector<Tensor>"))
    assert got.macros == ("TWICE",)


def test_functions_that_a_macro_of_the_file_defines() -> None:
    source = """
    namespace at { namespace native {
    template <bool inplace> Tensor fade_impl(Tensor x) { return x; }
    #define FADE(NAME, INPLACE)        \\
    Tensor NAME##_each(Tensor x) {     \\
      return fade_impl<INPLACE>(x);    \\
    }
    FADE(soft, true)
    FADE(hard, false)
    Tensor other(Tensor x) { FADE(no, no) return x; }
    }}
    """
    generated = facts(source).generated
    assert [(f.name, f.qualified, f.line, [c.callee for c in f.calls]) for f in generated] == [
        ("soft_each", "at::native::soft_each", 8, ["fade_impl"]),
        ("hard_each", "at::native::hard_each", 9, ["fade_impl"]),
    ]


def test_files_without_anything_of_interest() -> None:
    assert facts("#define A 1\nfloat f(float x) { return x; }") == FileFacts("a.cpp", macros=("A",))


def test_bytes_that_are_no_utf8() -> None:
    function = extract("a.cpp", b"// \xe9\nTensor f(Tensor x /* \xff */) { return x; }").functions[0]
    assert (function.name, function.params) == ("f", (Param("Tensor", "x"),))


def test_facts_survive_pickling() -> None:
    got = facts('Tensor f(Tensor x) { return g(x); } TORCH_LIBRARY(a, m) { m.def("b(Tensor x) -> Tensor", &f); }')
    assert pickle.loads(pickle.dumps(got)) == got
