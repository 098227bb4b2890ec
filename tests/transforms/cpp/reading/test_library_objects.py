"""Objects of torch::Library that a file makes: what is registered by their names."""

from __future__ import annotations

import pytest

from transforms.cpp.reading.extract import extract


@pytest.mark.parametrize(
    ("made", "used", "expected"),
    [
        ("torch::Library m(torch::Library::DEF, NAME);", 'm.def("f", f);', []),
        ('torch::Library m(torch::Library::IMPL, "lib", key);', 'm.impl("f", f);', []),
        ("torch::Library& m = library();", 'm.impl("f", f);', []),
        ("DynamicLibrary m(path);", 'm.def("f", f);', []),
        ('py::class_<torch::Library>(m, "Library")', '.def("f", f);', []),
        ('torch::Library m(torch::Library::DEF, "lib");', 'other.def("f", f);', []),
        ("", 'with([](torch::Library& m) { m.impl("f", f); });', []),
        (
            'static torch::Library m(torch::Library::FRAGMENT, "lib", std::nullopt, __FILE__, __LINE__);',
            'm.def("f(Tensor x) -> Tensor"); m.impl("f", torch::kMeta, f);',
            [("lib::f", "", ""), ("lib::f", "Meta", "f")],
        ),
        (
            'auto m = torch::Library(torch::Library::Kind::IMPL, "lib", std::optional(c10::DispatchKey::Meta), "", 0);',
            'm.impl("f", f).impl("g", g);',
            [("lib::f", "Meta", "f"), ("lib::g", "Meta", "g")],
        ),
        (
            'auto m = std::make_unique<torch::Library>(torch::Library::IMPL, "lib", c10::DispatchKey::CPU, "", 0);',
            'm->impl("f", f);',
            [("lib::f", "CPU", "f")],
        ),
        (
            'torch::Library* m = nullptr; m = new torch::Library(torch::Library::DEF, "lib", c10::nullopt, "", 0);',
            'm->def("f", f);',
            [("lib::f", "", "f")],
        ),
        (
            'std::optional<torch::Library> m; m.emplace(torch::Library::DEF, "lib", c10::nullopt, "", 0);',
            'm->def("f", f);',
            [("lib::f", "", "f")],
        ),
        (
            'StableLibrary m(StableLibrary::Kind::IMPL, "lib", "CUDA", "", 0);',
            'm.impl("f", TORCH_BOX(&f));',
            [("lib::f", "CUDA", "f")],
        ),
        ("auto m = MAKE_TORCH_LIBRARY(lib);", 'm.def("f", f);', [("lib::f", "", "f")]),
        ("auto m = MAKE_TORCH_LIBRARY_IMPL(lib, CPU);", 'm.impl("f", f);', [("lib::f", "CPU", "f")]),
        ("MAKE_TORCH_LIBRARY_IMPL(lib, CPU)", '.impl("f", f);', [("lib::f", "CPU", "f")]),
    ],
)
def test_objects(made: str, used: str, expected: list[tuple[str, str, str]]) -> None:
    assert registered(f"void init() {{ {made}\n{used} }}") == expected


def test_of_two_blocks_each_has_its_own() -> None:
    first = '{ torch::Library m(torch::Library::DEF, "a"); m.def("f", f); }'
    second = '{ torch::Library m(torch::Library::DEF, "b"); m.def("g", g); }'
    assert registered(f'void init() {{ {first}\n{second} m.def("h", h); }}') == [("a::f", "", "f"), ("b::g", "", "g")]


def test_the_name_of_a_block_hides_that_of_the_file() -> None:
    made = 'static torch::Library m(torch::Library::DEF, "a");\n'
    block = 'TORCH_LIBRARY(lib, m) { m.def("f", f); }\n'
    assert registered(made + block + 'void init() { m.def("g", g); }') == [("lib::f", "", "f"), ("a::g", "", "g")]


def test_a_member_of_a_class() -> None:
    source = """\
struct Registers {
  void add() { lib_.def("f", f); }
  Registers() : lib_(torch::Library::DEF, "lib", c10::nullopt, "", 0) { lib_.def("g", g); }
  torch::Library lib_;
};
"""
    assert registered(source) == [("lib::f", "", "f"), ("lib::g", "", "g")]


def registered(source: str) -> list[tuple[str, str, str]]:
    return [(r.operator, r.key, r.function) for r in extract("a.cpp", source.encode()).registrations]
