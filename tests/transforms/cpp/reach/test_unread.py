"""What is said of registrations that are not understood."""

from __future__ import annotations

import pytest

from transforms.cpp.reach.libraries import with_libraries
from transforms.cpp.reach.unread import remarks
from transforms.cpp.reading.extract import extract


def said(source: str, path: str = "a.cpp") -> list[str]:
    facts = {path: extract(path, source.encode())}
    return list(remarks(with_libraries(facts, lambda _: source.encode()), lambda _: True))


ALL = "C++ registrations: 1 of 1 understood"
NONE = "C++ registrations: 0 of 1 understood; not understood:"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("Tensor f(Tensor x) { return x; }", []),
        ("TORCH_LIBRARY_IMPL(_, CPU, m) { m.fallback(torch::CppFunction::makeFallthrough()); }", []),
        ('TORCH_LIBRARY(lib, m) { m.def("f", &f); }', [ALL]),
        ('auto r = torch::RegisterOperators().op("lib::f", &f);', [ALL]),
        (
            "TORCH_LIBRARY(lib, m) {\n  for (auto name : names) m.impl(name, &f);\n}",
            [NONE, "a.cpp:2: the operator's name is no literal: name"],
        ),
        (
            'TORCH_LIBRARY(lib, m) { m.def("f" + suffix, &f); }',
            [NONE, 'a.cpp:1: the operator\'s name is no literal: "f" + suffix'],
        ),
        ("TORCH_LIBRARY(lib, m) { m.def(SCHEMA); }", [NONE, "a.cpp:1: the operator's name is no literal: SCHEMA"]),
        (
            "auto r = torch::RegisterOperators().op(schema, &f);",
            [NONE, "a.cpp:1: the operator's name is no literal: schema"],
        ),
        (
            (
                "class API RegisterOperators final {\n  RegisterOperators(const RegisterOperators&) = delete;\n"
                "  explicit RegisterOperators(std::string schema, F&& f) : RegisterOperators() { one().op(schema); }"
                '\n};\nauto r = RegisterOperators().op("lib::f", &f);'
            ),
            [ALL],
        ),
        (
            "struct Mine : RegisterOperators { Mine() { RegisterOperators().op(schema, &f); } };",
            [NONE, "a.cpp:1: the operator's name is no literal: schema"],
        ),
        (
            'MINE(lib, m) { m.def("f", &f); }',
            [NONE, "a.cpp:1: f: MINE is no macro of this tree that opens a TORCH_LIBRARY block"],
        ),
        ('MINE(lib) { m.def("f", &f); }', []),  # of a test, or of another binding
        ('#define MINE(ns) TORCH_LIBRARY(ns, m)\nMINE(lib) { m.def("f", &f); }', [ALL]),
        (
            'namespace ns { void add(torch::Library& m) { m.impl("f", &f); } }',
            [NONE, "a.cpp:1: f: ns::add is called by no TORCH_LIBRARY block"],
        ),
        (
            'void init() { torch::Library& library = made(); library.impl("f", &f); }',
            [NONE, "a.cpp:1: f: which namespace `library` registers in is not known"],
        ),
        ("void init() { torch::Library& library = made(); use(library); }", []),
        (
            (
                'void add(torch::Library& m) { m.impl("f", &f); }\n'
                'void init() { torch::Library made(torch::Library::IMPL, "lib", torch::kCPU, "", 0); add(made); }'
            ),
            [ALL],
        ),
        (
            (
                'void add(torch::Library& m) { m.impl("f", &f); }\n'
                "TORCH_LIBRARY_IMPL(lib, CPU, m) { add(m); }\nTORCH_LIBRARY_IMPL(lib, Meta, m) { add(m); }"
            ),
            [ALL],
        ),
        (
            'TORCH_LIBRARY(lib, m) { m.class_<S>("S").def(torch::init<>()).def("f", &S::f); }',
            ["1 class is registered with torch::class_, which is no operator"],
        ),
        (
            (
                'static auto s = torch::class_<S>("lib", "S");\nstatic auto t = torch::class_<T<int>>("lib", "T");'
                "\nvoid bind(torch::class_<S>& s);"
            ),
            ["2 classes are registered with torch::class_, which is no operator"],
        ),
        (
            (
                'PYBIND11_MODULE(lib, m) { m.def("f", &f); m.attr("x") = 1; }\n'
                'void more(pybind11::module_& m) { m.def("g", &g); other.def("h", &h); }'
            ),
            ["2 functions are bound for Python, past the dispatcher: no symbol arrives that way"],
        ),
    ],
)
def test_remarks(source: str, lines: list[str]) -> None:
    assert said(source) == lines


def test_files_that_are_not_asked_for_are_not_counted() -> None:
    source = 'TORCH_LIBRARY(lib, m) { m.def("f", &f); }'
    assert said(source, "tests/a.cpp") == []
    facts = {"a.cpp": extract("a.cpp", source.encode())}
    assert list(remarks(facts, lambda _: False)) == []
