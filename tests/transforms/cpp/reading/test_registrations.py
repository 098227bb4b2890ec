"""Operators registered in C++."""

from __future__ import annotations

import pytest

from transforms.cpp.reading.extract import extract
from transforms.cpp.reading.registrations import callee


def registered(source: str) -> list[tuple[str, str, str]]:
    return [(r.operator, r.key, r.function) for r in extract("a.cpp", source.encode()).registrations]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('TORCH_LIBRARY(lib, m) { m.def("f(Tensor x) -> Tensor"); }', [("lib::f", "", "")]),
        ('TORCH_LIBRARY(lib, m) { m.def("f(Tensor x) -> Tensor", &f); }', [("lib::f", "", "f")]),
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
        ('void add_all(torch::Library& lib) { lib.impl("ns::f", f); }', [("ns::f", "", "f")]),
        ('TORCH_LIBRARY(lib, m) { other.def("f(Tensor x) -> Tensor", &f); }', []),
        ('// TORCH_LIBRARY(lib, m) { m.def("f", &f); }\nint64_t n;', []),
    ],
)
def test_registrations(source: str, expected: list[tuple[str, str, str]]) -> None:
    assert registered(source) == expected


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
