"""The namespaces that the build gives, as Python names them."""

from __future__ import annotations

import pytest

from transforms.cpp.reach.extensions import extension_names, uses, with_extension_names
from transforms.cpp.reach.libraries import with_libraries
from transforms.cpp.reading.extract import extract

BLOCK = """
TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, CPU, m) { m.impl("rows", &rows); m.impl("cols", &cols); }
"""


def names(python: str, block: str = BLOCK) -> set[str]:
    facts = with_libraries({"a.cpp": extract("a.cpp", block.encode())}, lambda path: block.encode())
    joined = with_extension_names(facts, lambda: uses("a.py", python.encode()))
    return {registration.operator for registration in joined["a.cpp"].registrations}


@pytest.mark.parametrize(
    ("python", "namespace"),
    [
        ("", "TORCH_EXTENSION_NAME"),
        ("torch.ops.mine.other(x)", "TORCH_EXTENSION_NAME"),
        ("torch.ops.mine.rows(x); torch.ops.yours.rows(x)", "TORCH_EXTENSION_NAME"),
        ("torch.ops.mine.rows(x); torch.ops.yours.cols(x)", "TORCH_EXTENSION_NAME"),
        ("torch.ops.mine.rows(x)", "mine"),
        ("@register_fake('mine::cols')", "mine"),
    ],
)
def test_a_namespace_that_the_build_gives(python: str, namespace: str) -> None:
    assert names(python) == {f"{namespace}::rows", f"{namespace}::cols"}


@pytest.mark.parametrize(
    ("python", "block", "known"),
    [
        ("torch.ops.mine.rows(x)", BLOCK, {"mine"}),
        ("torch.ops.mine.rows(x); torch.ops.yours.rows(x)", BLOCK, set()),
        ("torch.ops.own.rows(x)", 'TORCH_LIBRARY(own, m) { m.def("rows", &rows); }\n', set()),
    ],
)
def test_the_build_is_given_the_name_that_python_knows(python: str, block: str, known: set[str]) -> None:
    facts = with_libraries({"a.cpp": extract("a.cpp", block.encode())}, lambda path: block.encode())
    assert extension_names(facts, lambda: uses("a.py", python.encode())) == known


def test_what_is_added_to_the_name_stays() -> None:
    define = "#define ADD_(A, B) A##B\n#define ADD(A, B) ADD_(A, B)\n#define LIBRARY(N, M) TORCH_LIBRARY(N, M)\n"
    block = define + 'LIBRARY(ADD(TORCH_EXTENSION_NAME, _more), m) { m.def("rows", &rows); }\n'
    assert names("torch.ops.mine.rows(x)", block) == {"TORCH_EXTENSION_NAME_more::rows"}
    assert names("torch.ops.mine_more.rows(x); torch.ops.mine.rows(x)", block) == {"mine_more::rows"}


def test_a_namespace_that_is_written_is_left_alone() -> None:
    block = 'TORCH_LIBRARY(own, m) { m.def("rows", &rows); }\n'
    assert names("torch.ops.mine.rows(x)", block) == {"own::rows"}
