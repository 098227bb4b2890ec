"""Registrations that one file does not tell: macros of other headers, functions that take a torch::Library."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms.cpp.snippets import MemoryProject
from transforms.cpp.analyse import analyse_tree
from transforms.cpp.reach.libraries import with_libraries
from transforms.cpp.reading.extract import extract

EXPAND = """\
#define TORCH_LIBRARY_EXPAND(NAME, MODULE) TORCH_LIBRARY(NAME, MODULE)
#define TORCH_LIBRARY_IMPL_EXPAND(NAME, DEVICE, MODULE) \\
  TORCH_LIBRARY_IMPL(NAME, DEVICE, MODULE)
#define _CONCAT(A, B) A##B
#define CONCAT(A, B) _CONCAT(A, B)
"""


def registered(**sources: str) -> list[tuple[str, str, str]]:
    """(operator, key, kernel) of a tree of files, whose names end in `.cpp`, or in `.h` where they begin with h."""
    contents = {f"{name}.{'h' if name.startswith('h') else 'cpp'}": text.encode() for name, text in sources.items()}
    facts = {path: extract(path, source) for path, source in contents.items()}
    joined = with_libraries(facts, contents.__getitem__)
    return [(r.operator, r.key, r.function) for path in joined for r in joined[path].registrations]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('MINE(lib, m) { m.def("f", &f); }', []),
        ('#define MINE(a, b) other(a, b)\nMINE(lib, m) { m.def("f", &f); }', []),
        ('#define MINE(a, b)\nMINE(lib, m) { m.def("f", &f); }', []),
        ('#define MINE MINE\nMINE(lib, m) { m.def("f", &f); }', []),
        ('#define MINE(m) TORCH_LIBRARY_IMPL(lib, m)\nMINE(m) { m.impl("f", f); }', []),
        ('MINE(lib) { m.def("f", &f); }', []),
        ('#define MINE(ns) OTHER()\nMINE(lib) { m.def("f", &f); }', []),
        ('#define MINE(ns) TORCH_LIBRARY(ns, other)\nMINE(lib) { m.def("f", &f); }', []),
        ('#define MINE(ns) PYBIND11_MODULE(ns, m)\nMINE(lib) { m.def("f", &f); }', []),
        ('PYBIND11_MODULE(lib, m) { m.def("f", &f); }', []),
        ('void add(py::module& m) { m.def("f", &f); }', []),
        ('struct S { S(int m) { m.def("f", &f); } };', []),
        ('#define MINE(ns, m) TORCH_LIBRARY(ns, m)\nMINE(lib, m) { m.def("f", &f); }', [("lib::f", "", "f")]),
        ('#define MINE(...) TORCH_LIBRARY(__VA_ARGS__, m)\nMINE(lib) { m.def("f", &f); }', [("lib::f", "", "f")]),
        ('#define MINE(k) TORCH_LIBRARY_IMPL(lib, k, m)\nMINE(CPU) { m.impl("f", f); }', [("lib::f", "CPU", "f")]),
        (
            '#define MINE(m) STABLE_TORCH_LIBRARY_IMPL(lib, CUDA, m)\nMINE(m) { m.impl("f", TORCH_BOX(&f)); }',
            [("lib::f", "CUDA", "f")],
        ),
        (
            '#define NAME lib\nTORCH_LIBRARY_FRAGMENT(NAME, m) { m.def("f", &f); }',
            [("lib::f", "", "f")],
        ),
        ('#define NAME lib\nTORCH_LIBRARY(NAME, m) { m.def("f", &f); }', [("lib::f", "", "f")]),
        (
            '#ifndef NAME\n#define NAME lib\n#endif\nSTABLE_TORCH_LIBRARY(NAME, m) { m.def("f()"); }',
            [("lib::f", "", "")],
        ),
        ('TORCH_LIBRARY(NAME, m) { m.def("f", &f); }', [("NAME::f", "", "f")]),
        ('TORCH_LIBRARY(CONCAT(a, b), m) { m.def("f", &f); }', [("", "", "f")]),
        (
            '#define MY_KEY Meta\nTORCH_LIBRARY_IMPL(lib, MY_KEY, m) { m.impl("f", &f); }',
            [("lib::f", "Meta", "f")],
        ),
        (
            '#define MINE(ns, ...) TORCH_LIBRARY_IMPL(ns, __VA_ARGS__)\nMINE(lib, CPU, m) { m.impl("f", &f); }',
            [("lib::f", "CPU", "f")],
        ),
    ],
)
def test_macros(source: str, expected: list[tuple[str, str, str]]) -> None:
    assert registered(a=source) == expected


def test_macros_of_another_header() -> None:
    source = """\
TORCH_LIBRARY_EXPAND(CONCAT(EXTENSION, _cache), ops) {
  ops.def("swap(Tensor x) -> ()");
  ops.impl("swap", kCUDA, &swap);
}
TORCH_LIBRARY_IMPL_EXPAND(EXTENSION, Meta, m) { m.impl("f", &f_meta); }
"""
    cache = "EXTENSION_cache::swap"
    expected = [(cache, "", ""), (cache, "CUDA", "swap"), ("EXTENSION::f", "Meta", "f_meta")]
    assert registered(a=source, h=EXPAND) == expected
    named = [(operator.replace("EXTENSION", "lib"), key, function) for operator, key, function in expected]
    assert registered(a=source, h=EXPAND + "#define EXTENSION lib\n") == named


def test_the_definition_in_the_file_itself_counts() -> None:
    source = '#define MINE(m) TORCH_LIBRARY_IMPL(lib, CPU, m)\nMINE(m) { m.impl("f", &f); }'
    assert registered(a=source, h="#define MINE(m) TORCH_LIBRARY_IMPL(lib, Meta, m)") == [("lib::f", "CPU", "f")]


WHOLE = """\
#define OPERATOR(NAME, ...) \\
  TORCH_LIBRARY_FRAGMENT(lib, m) { m.def(#NAME "(" __VA_ARGS__ ") -> Tensor"); } \\
  TORCH_LIBRARY_IMPL(SPACE, Meta, m) { \\
    m.impl(#NAME, NAME##_meta); }
#define SPACE lib
"""


def test_a_macro_that_holds_whole_blocks() -> None:
    source = 'OPERATOR(f, "Tensor x")\n\nnamespace ns {\n  OPERATOR(g, "Tensor y");\n}\n// OPERATOR(h, "Tensor z")\n'
    expected = [("lib::f", "", ""), ("lib::f", "Meta", "f_meta"), ("lib::g", "", ""), ("lib::g", "Meta", "g_meta")]
    assert registered(a=source, h=WHOLE) == expected
    assert registered(a=WHOLE + source) == expected
    files = {"a.cpp": source.encode(), "h.h": WHOLE.encode()}
    joined = with_libraries({path: extract(path, code) for path, code in files.items()}, files.__getitem__)
    first = joined["a.cpp"].registrations[0]
    assert (source[first.start : first.end], first.schema) == ('OPERATOR(f, "Tensor x")', "f(Tensor x) -> Tensor")
    assert [r.line for r in joined["a.cpp"].registrations] == [1, 1, 4, 4]


CALLED = """\
#define DISPATCH_TO_META(NAME, F) m.impl(NAME, torch::dispatch(c10::DispatchKey::Meta, F))
#define DEFINE(lib, NAME) lib.def(NAME "_one(Tensor x) -> Tensor"); lib.def(NAME "_two(Tensor x) -> Tensor")
#define FN(F) TORCH_FN(F)
#define IMPL(lib, NAME, F) lib.impl(NAME, FN((F<int, true>)))
#define CHECK(X, TEXT) fail(TEXT)
#define WITH_CUDA(X) X
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('TORCH_LIBRARY_FRAGMENT(lib, m) { DISPATCH_TO_META("f", f); }', [("lib::f", "Meta", "f")]),
        ('TORCH_LIBRARY(lib, m) { DEFINE(m, "f"); }', [("lib::f_one", "", ""), ("lib::f_two", "", "")]),
        ('TORCH_LIBRARY_IMPL(lib, CPU, m) { IMPL(m, "f", f); }', [("lib::f", "CPU", "f")]),
        (
            'void add(Library& m) { IMPL(m, "f", f); }\nTORCH_LIBRARY_IMPL(lib, CPU, m) { add(m); IMPL(m, "g", g); }',
            [("lib::f", "CPU", "f"), ("lib::g", "CPU", "g")],
        ),
        (
            'void add(detail::StableLibrary& m) { DEFINE(m, "f"); }\nSTABLE_TORCH_LIBRARY(lib, m) { add(m); }',
            [("lib::f_one", "", ""), ("lib::f_two", "", "")],
        ),
        (
            'TORCH_LIBRARY(lib, m) { m.def("f", &f); DISPATCH_TO_META("g", g); }',
            [("lib::f", "", "f"), ("lib::g", "Meta", "g")],
        ),
        ('TORCH_LIBRARY(lib, m) { CHECK(m, "f"); CHECK("m", m); }', []),
        ('TORCH_LIBRARY(lib, m) { WITH_CUDA(m.impl("f", f)); }', [("lib::f", "", "f")]),
        ('TORCH_LIBRARY(lib, m) { OF_ANOTHER(m, "f"); OF_ANOTHER("f", f); }', []),
        ('TORCH_LIBRARY(lib, m) { other("f", f); }\nvoid f() { DISPATCH_TO_META("f", f); }', []),
    ],
)
def test_a_macro_that_a_block_calls_registers_there(source: str, expected: list[tuple[str, str, str]]) -> None:
    assert registered(a=CALLED + source) == expected
    assert registered(a=source, h=CALLED) == expected


def test_what_a_called_macro_registers_stands_at_the_call() -> None:
    source = 'TORCH_LIBRARY(lib, m) {\n  DEFINE(m, "f");\n}\n'
    files = {"a.cpp": source.encode(), "h.h": CALLED.encode()}
    joined = with_libraries({path: extract(path, code) for path, code in files.items()}, files.__getitem__)
    first, second = joined["a.cpp"].registrations
    assert {source[r.start : r.end] for r in (first, second)} == {'DEFINE(m, "f")'}
    assert (first.line, second.schema) == (2, "f_two(Tensor x) -> Tensor")


def test_a_function_registers_where_its_callers_do() -> None:
    helper = 'void add_all(torch::Library& lib) { lib.impl("f", f); lib.impl("ns::g", torch::dispatch(kMeta, g)); }'
    assert registered(a=helper) == []
    assert registered(a=helper, b="TORCH_LIBRARY_IMPL(lib, CUDA, m) { add_all(m); }") == [
        ("lib::f", "CUDA", "f"), ("ns::g", "Meta", "g"),
    ]  # fmt: skip
    assert registered(a=helper, b="TORCH_LIBRARY_IMPL(lib, CUDA, m) { add_all(other); }") == []
    two = "TORCH_LIBRARY_IMPL(lib, CPU, m) { add_all(m); }\nTORCH_LIBRARY_IMPL(lib, Meta, m) { add_all(m); }"
    assert [key for operator, key, _ in registered(a=helper, b=two) if operator == "lib::f"] == ["CPU", "Meta"]


def test_functions_hand_their_library_on() -> None:
    source = """\
namespace ns {
static void inner(torch::Library& m) { m.impl("f", f); outer(m); }
void outer(torch::Library& m) { inner(m); }
}
MINE(lib, CPU) { ns::outer(CPU); }
"""
    assert registered(a=source, h="#define MINE(ns, m) TORCH_LIBRARY(ns, m)") == [("lib::f", "", "f")]


def test_a_template_may_take_the_library() -> None:
    helper = 'template <typename M> void add(M& m) { m.impl("f", f); }\n'
    assert registered(a=helper, b="TORCH_LIBRARY_IMPL(lib, CPU, m) { add(m); }") == [("lib::f", "CPU", "f")]
    module = 'template <typename M> void add(M& m) { m.def("f", f); }\n'
    assert registered(a=module, b="PYBIND11_MODULE(lib, m) { add(m); }") == []


def test_a_function_of_the_same_name_in_the_same_file_goes_first() -> None:
    first = 'static void add(torch::Library& m) { m.impl("f", f); }\nTORCH_LIBRARY_IMPL(lib, CPU, m) { add(m); }'
    second = 'static void add(torch::Library& m) { m.impl("g", g); }\nTORCH_LIBRARY_IMPL(lib, Meta, m) { add(m); }'
    assert registered(a=first, b=second) == [("lib::f", "CPU", "f"), ("lib::g", "Meta", "g")]


def test_a_kernel_is_reached_by_the_key_of_the_caller(tmp_path: Path) -> None:
    kernel = "Tensor f(const Tensor& x) { return at::zeros({x.size(0)}); }\n"
    helper = 'void add(torch::Library& m) { m.impl("f", f); }\n'

    def operators(caller: str) -> list[tuple[str, ...]]:
        (tmp_path / "native_functions.yaml").write_text("- func: numel(Tensor self) -> int\n")
        files = {"a.cpp": kernel + helper, "b.cpp": caller}
        project = MemoryProject(tmp_path, files, tmp_path / "native_functions.yaml")
        return [finding.operators for finding in analyse_tree(project)]

    assert operators("TORCH_LIBRARY_IMPL(lib, CUDA, m) { add(m); }") == []
    assert operators("") == []
    assert operators("TORCH_LIBRARY_IMPL(lib, Meta, m) { add(m); }") == [("lib::f",)]
