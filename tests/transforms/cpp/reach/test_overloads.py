"""Overloads and methods that only their arguments or namespaces tell apart."""

from __future__ import annotations

from transforms.cpp.reach.reached import reached
from transforms.cpp.reading.extract import extract
from transforms.schema import native_functions

YAML = b"- func: fade(Tensor self) -> Tensor\n"


def test_overloads_are_told_apart_by_string_literals() -> None:
    code = (
        "Tensor grow(const Tensor& a, const Tensor& b, const Tensor& c) { return a.view(b.sizes()); }"
        "Tensor grow(const Tensor& a, const Tensor& b, const char* name) { return a.view(b.sizes()); }"
        'Tensor fade(const Tensor& x) { return grow(x, x.view(x.dim()), "fade"); }'
    )
    facts = {"a.cpp": extract("a.cpp", f"namespace at {{ namespace native {{ {code} }} }}".encode())}
    reach = reached(facts, native_functions.load("n.yaml", YAML), None)
    assert [f.params[-1].name for f in facts["a.cpp"].functions if (f.path, f.start) in reach] == ["name", "x"]


def test_methods_are_those_of_the_innermost_namespace() -> None:
    outer = "namespace at { struct Move { Tensor to(const Tensor& x) { return x.view(x.sizes()); } }; }"
    inner = "namespace at { namespace native { struct Move { Tensor to(const Tensor& x) { return x.view(1); } }; } }"
    user = "namespace at { namespace native { Tensor fade(const Tensor& x) { return Move::to(x); } } }"
    files = {"a.cpp": outer, "b.cpp": inner, "c.cpp": user}
    facts = {path: extract(path, code.encode()) for path, code in files.items()}
    assert sorted(path for path, _ in reached(facts, native_functions.load("n.yaml", YAML), None)) == ["b.cpp", "c.cpp"]
