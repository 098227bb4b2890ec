"""Operators registered in C++."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemod.model.operators import operator_name
from tests.transforms.cpp.snippets import findings
from transforms.cpp.reading.extract import extract
from transforms.cpp.reading.registrations import callee


def registered(source: str) -> list[tuple[str, str, str]]:
    return [(r.operator, r.key, r.function) for r in extract("a.cpp", source.encode()).registrations]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('TORCH_LIBRARY(lib, m) { m.def("f(Tensor x) -> Tensor"); }', [("lib::f", "", "")]),
        ('TORCH_LIBRARY(lib, m) { m.def("f(Tensor x) -> Tensor", &f); }', [("lib::f", "", "f")]),
        (
            'TORCH_LIBRARY(lib, m) { m.def("f(Tensor x) -> Tensor", {at::Tag::pt2_compliant_tag}); }',
            [("lib::f", "", "")],
        ),
        (
            'TORCH_LIBRARY(lib, m) { m.def("f() -> Tensor", std::vector<at::Tag>{at::Tag::core}); }',
            [("lib::f", "", "")],
        ),
        ('TORCH_LIBRARY_FRAGMENT(lib, m) { m.def("f", TORCH_FN(ns::f)); }', [("lib::f", "", "ns::f")]),
        ('TORCH_LIBRARY_IMPL(lib, Meta, m) { m.impl("f.out", f_meta); }', [("lib::f.out", "Meta", "f_meta")]),
        ("TORCH_LIBRARY_IMPL(_, Autograd, m) { m.fallback(torch::CppFunction::makeFallthrough()); }", []),
        (
            "TORCH_LIBRARY_IMPL(_, Batched, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&loop>()); }",
            [("", "Batched", "loop")],
        ),
        ('STABLE_TORCH_LIBRARY_IMPL(lib, CPU, m) { m.impl("f", TORCH_BOX(&f)); }', [("lib::f", "CPU", "f")]),
        (
            'TORCH_LIBRARY(lib, m) { m.impl("f", torch::dispatch(c10::DispatchKey::Meta, TORCH_FN(f))); }',
            [("lib::f", "Meta", "f")],
        ),
        (
            'TORCH_LIBRARY(lib, m) { m.def(TORCH_SELECTIVE_SCHEMA("lib::f(Tensor x) -> Tensor")); }',
            [("lib::f", "", "")],
        ),
        (
            "TORCH_LIBRARY_IMPL(aten, FuncTorchBatched, m) { RULE(mv, mv_rule); RULE2(add, Tensor, add_rule); }",
            [("aten::mv", "FuncTorchBatched", "mv_rule"), ("aten::add.Tensor", "FuncTorchBatched", "add_rule")],
        ),
        (
            'static auto r = torch::RegisterOperators().op("lib::f(Tensor x) -> Tensor", &f).op("lib::g", &g);',
            [("lib::f", "", "f"), ("lib::g", "", "g")],
        ),
        (
            'static auto r = torch::RegisterOperators("lib::f", &f);',
            [("lib::f", "", "f")],
        ),
        (
            'auto r = RegisterOperators().op("lib::f", RegisterOperators::options()'  # noqa: ISC004
            ".kernel<decltype(f_cpu), &f_cpu>(DispatchKey::CPU).catchAllKernel<decltype(f_any), &f_any>());",
            [("lib::f", "CPU", "f_cpu"), ("lib::f", "", "f_any")],
        ),
        ('TORCH_LIBRARY_IMPL(lib, Meta, m) { m.impl("f"); m.impl("g", g); }', [("lib::g", "Meta", "g")]),
        ('TORCH_LIBRARY_IMPL(lib, m) { m.impl("f", f); }', []),
        ('TORCH_LIBRARY(lib, m) { m.impl(); m.def(); m.fallback(); m.impl("f",); m.def(,); RULE(); }', []),
        (
            'TORCH_LIBRARY_IMPL(lib, Meta, m) { m.impl("a b", f); m.impl("a\\x1b[2J", g); }',
            [("", "Meta", "f"), ("", "Meta", "g")],
        ),
        ('TORCH_LIBRARY(lib, m) { m.def("Fixes #1 @someone(Tensor x) -> Tensor", &f); }', [("", "", "f")]),
        # What the macro says the whole tree tells.
        ('TORCH_LIBRARY(CONCAT(a, b), m) { m.def("f(Tensor x) -> Tensor", &f); }', []),
        ("TORCH_LIBRARY_IMPL(aten, Meta, m) { m.impl(TORCH_SELECTIVE_NAME(name), f); }", [("", "Meta", "f")]),
        (
            (
                "auto r = RegisterOperators().op(RegisterOperators::options()"
                '.schema("ns::f(Tensor x) -> Tensor").kernel<decltype(f), &f>(c10::DispatchKey::CPU));'
            ),
            [("ns::f", "CPU", "f")],
        ),
        (
            'auto r = RegisterOperators().op("ns::f", &f, RegisterOperators::options().schema("ns::f() -> ()"));',
            [("ns::f", "", "f")],
        ),
        (
            'auto r = RegisterOperators().op("ns::f", options().kernel(c10::DispatchKey::CUDA, &f).catchAllKernel(g));',
            [("ns::f", "CUDA", "f"), ("ns::f", "", "g")],
        ),
        ("auto r = RegisterOperators().op(options().schema(NAME).catchAllKernel<decltype(f), &f>());", [("", "", "")]),
        ('TORCH_LIBRARY(lib, m) { m.def("f", torch::CppFunction(&f).debug("f")); }', [("lib::f", "", "f")]),
        ('auto r = torch::RegisterOperators().op("a::b c", &f).op("::", &g).op();', [("", "", "f"), ("", "", "g")]),
        ('void add_all(torch::Library& lib) { lib.impl("ns::f", f); }', []),
        ('TORCH_LIBRARY(lib, m) { m.impl("f", torch::kCUDA, &f); }', [("lib::f", "CUDA", "f")]),
        ('TORCH_LIBRARY(lib, m) { m.impl("f", c10::DispatchKey::Meta, TORCH_FN(f)); }', [("lib::f", "Meta", "f")]),
        ('TORCH_LIBRARY(lib, m) { m.impl("f", device, &f); }', [("lib::f", "device", "f")]),
        ('TORCH_LIBRARY(lib, m) { m.impl("f", key, &f); }', [("lib::f", "key", "f")]),
        ('TORCH_LIBRARY(lib, m) { m.impl("f", torch::dispatch(kMeta, f)); }', [("lib::f", "Meta", "f")]),
        ('TORCH_LIBRARY(lib, m) { m.def(torch::schema("f(Tensor x) -> Tensor"), &f); }', [("lib::f", "", "f")]),
        (
            'TORCH_LIBRARY(lib, m) { m.def(schema(TORCH_SELECTIVE_SCHEMA("f(Tensor x) -> Tensor"), kPure), &f); }',
            [("lib::f", "", "f")],
        ),
        ('TORCH_LIBRARY(lib, m) { other.def("f(Tensor x) -> Tensor", &f); }', []),
        (
            'TORCH_LIBRARY(lib, m) { m.def("f(Tensor x) -> Tensor").impl("f", torch::kCPU, &f).def("g", g); }',
            [("lib::f", "", ""), ("lib::f", "CPU", "f"), ("lib::g", "", "g")],
        ),
        (
            'TORCH_LIBRARY_IMPL(lib, Meta, m) { m.set_python_module("a").impl("f", f)\n    .impl("g", g); }',
            [],
        ),
        (
            'TORCH_LIBRARY(lib, m) { m.def("f() -> ()").set_python_module("a").def("g() -> ()"); }',
            [("lib::f", "", ""), ("lib::g", "", "")],
        ),
        (
            'TORCH_LIBRARY(lib, m) { m.class_<A>("A").def("f", &A::f).def("g", &A::g); m.def("h", &h); }',
            [("lib::h", "", "h")],
        ),
        ('TORCH_LIBRARY(lib, m) { m.def("f", &f) }', [("lib::f", "", "f")]),
        ('// TORCH_LIBRARY(lib, m) { m.def("f", &f); }\nint64_t n;', []),
    ],
)
def test_registrations(source: str, expected: list[tuple[str, str, str]]) -> None:
    assert registered(source) == expected


def test_calls_in_a_chain_are_apart() -> None:
    source = 'TORCH_LIBRARY(lib, m) { m.def("f(Tensor x, int n) -> Tensor")\n.impl("f", kMeta, [](Tensor x) {}); }'
    first, second = extract("a.cpp", source.encode()).registrations
    assert (first.inline, first.line, second.inline, second.line, second.key) == (False, 1, True, 2, "Meta")
    assert source[first.start : first.end] == 'm.def("f(Tensor x, int n) -> Tensor")\n.'
    assert source[second.start : second.end] == 'impl("f", kMeta, [](Tensor x) {});'


def test_a_lambda_is_a_kernel_in_place() -> None:
    source = 'TORCH_LIBRARY(lib, m) { m.def("f", [](Tensor x) { return g(x); }); m.def("h(Tensor x) -> Tensor"); }'
    first, second = extract("a.cpp", source.encode()).registrations
    assert (first.function, first.inline, second.inline) == ("", True, False)
    assert source[first.start : first.end] == 'm.def("f", [](Tensor x) { return g(x); });'
    assert (second.schema, second.line) == ("h(Tensor x) -> Tensor", 1)


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("&f", "f"),
        ("TORCH_FN(at::native::f)", "at::native::f"),
        ("static_cast<Tensor (*)(const Tensor&)>(&f)", "f"),
        ("SINGLE_ARG(rule<int, &f>)", "rule"),
        ("torch::CppFunction::makeFromBoxedFunction<&fallback>()", "fallback"),
        ("[](Tensor x) { return x; }", ""),
    ],
)
def test_callee(expression: str, name: str) -> None:
    assert callee(expression) == name


ARGUMENT = st.sampled_from(
    [
        '"f"',
        '"lib::f(Tensor x) -> Tensor"',
        '"\\x1b["',
        "f",
        "&ns::f<int>",
        "TORCH_FN(f)",
        "TORCH_FN()",
        "torch::dispatch()",
        "torch::dispatch(kMeta, f)",
        "[](Tensor x) { return x; }",
        "[]",
        "",
        " ",
        "(",
        ")",
        "{}",
        "makeFallthrough()",
        "1",
        "TORCH_SELECTIVE_NAME(f)",
        "TORCH_SELECTIVE_SCHEMA()",
        "static_cast<T (*)(U)>(f)",
        "options().kernel<>()",
        ";",
        '"',
    ]
)
CALLS = st.builds(
    lambda name, arguments, end: f"{name}({', '.join(arguments)}){end}",
    st.sampled_from(
        ["m.def", "m.impl", "m.fallback", "m.impl_UNBOXED", "RULE", "OP2", "m.impl_abstract_pystub", "x.def"]
    ),
    st.lists(ARGUMENT, max_size=4),
    st.sampled_from([";", "", " "]),
)
BLOCKS = st.builds(
    lambda head, arguments, calls: f"{head}({', '.join(arguments)}) {{ {' '.join(calls)} }}",
    st.sampled_from(["TORCH_LIBRARY", "TORCH_LIBRARY_IMPL", "TORCH_LIBRARY_FRAGMENT", "void add"]),
    st.lists(
        st.sampled_from(["lib", "m", "Meta", "_", "", "CONCAT(a, b)", "torch::Library& m", "Library"]), max_size=4
    ),
    st.lists(CALLS, max_size=4),
)
CHAINS = st.builds(
    lambda calls: f"auto r = torch::RegisterOperators(){''.join(calls)};",
    st.lists(st.builds(lambda a: f".op({', '.join(a)})", st.lists(ARGUMENT, max_size=3)), max_size=3),
)


@given(st.lists(BLOCKS | CHAINS, max_size=3).map("\n".join))
def test_whatever_is_registered_has_the_name_of_an_operator_or_none(source: str) -> None:
    for registration in extract("a.cpp", source.encode()).registrations:
        assert registration.operator in ("", operator_name(registration.operator))
        assert 0 <= registration.start < registration.end <= len(source)


def test_a_registration_that_names_no_operator_still_says_what_is_reached(tmp_path: Path) -> None:
    source = "Tensor f(const Tensor& x) { return x.reshape({x.numel()}); }\n"
    source += 'TORCH_LIBRARY_IMPL(lib, Meta, m) { m.impl("no name", f); }\n'
    found = findings(tmp_path, source, register=False)
    assert {finding.operators for finding in found} == {()}
    assert {finding.reach[-1].text for finding in found} == {"a kernel is registered for Meta"}
