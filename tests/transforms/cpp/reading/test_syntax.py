"""Masking keeps every byte's place and lets the parser follow ATen's macros."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.cpp.reading.syntax import count_errors, mask, parse


@pytest.mark.parametrize(
    "source",
    [
        "TORCH_API Tensor f(const Tensor& x);",
        "C10_ALWAYS_INLINE static Tensor f(const Tensor& x) { return x; }",
        "TORCH_META_FUNC(add)(const Tensor& x) { g(x); }",
        "REGISTER_DISPATCH(a_stub, &a)\nREGISTER_DISPATCH(b_stub, &b)\n// about f\nTensor f(int64_t n) { return n; }",
        'Tensor f(int64_t n) {\n  TORCH_CHECK(n > 0, "not )")\n  return g(n);\n}',
        "Tensor f(int64_t n) {\n  TORCH_CHECK(n > (1))  // why\n\n  // more\n  n += 1;\n  return g(n);\n}",
        'Tensor f(int64_t n) {\n  if (n) {\n    TORCH_CHECK(false, "no")\n  }\n  return g(n);\n}',
        "PyObject* f(PyObject* a) {\n  HANDLE_ERRORS\n  return g(a);\n  END_HANDLE_ERRORS\n}",
        "Tensor f(std::optional<int64_t> n = {}, const Options& o = {}) { return g(n); }",
        "int f() {\n#if A\n  if (a)\n#endif\n  {\n    return 1;\n  }\n}",
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_parses(source: str, newline: str) -> None:
    encoded = source.replace("\n", newline).encode()
    tree, masked = parse(encoded)
    assert count_errors(tree.root_node) == 0
    assert len(masked) == len(encoded)


@pytest.mark.parametrize(
    "source",
    [
        "Tensor f() { return MAKE_ONE(a) + MAKE_TWO(b); }",
        'Tensor f() { return g("a" JOIN_ALL("b")\n "c"); }',
        "TORCH_LIBRARY(a, m)\n{ m.def(b); }",
    ],
)
def test_what_parses_is_only_masked(source: str) -> None:
    assert parse(source.encode())[1] == mask(source.encode())


def test_an_error_stays_one() -> None:
    assert count_errors(parse(b"Tensor f( { return ) }")[0].root_node) > 0


@given(
    st.lists(
        st.sampled_from(
            [
                "TORCH_CHECK(a)",
                "LONE_MACRO",
                "\n",
                " ",
                "f(",
                ")",
                "{",
                "}",
                ";",
                "= {}",
                "// é",
                "#if A\n",
                "#endif\n",
                ",",
            ]
        )
    )
)
def test_every_byte_keeps_its_place(parts: list[str]) -> None:
    source = "".join(parts).encode()
    masked = parse(source)[1]
    assert len(masked) == len(source)
