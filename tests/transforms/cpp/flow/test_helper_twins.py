"""Helpers that others need as they are, and that gain a twin."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.findings import Level
from tests.transforms.cpp.snippets import converted

TWINS = {
    "an integer is a step from a sequence of SymInts": (
        (
            "static Tensor keep(const Tensor& x, IntArrayRef s) { return x.expand(s); }\n"
            "Tensor g(const Tensor& x, int64_t n) { return keep(x, n); }\n"
            "Tensor f(const Tensor& x) { return keep(x, x.size(0)); }"
        ),
        (
            "static Tensor keep(const Tensor& x, IntArrayRef s) { return x.expand(s); }\n\n"
            "static Tensor keep_symint(const Tensor& x, c10::SymIntArrayRef s) { return x.expand_symint(s); }\n"
            "Tensor g(const Tensor& x, int64_t n) { return keep(x, n); }\n"
            "Tensor f(const Tensor& x) { return keep_symint(x, x.sym_size(0)); }"
        ),
    ),
    "only the helper that is asked has one": (
        (
            "static Tensor keep(const Tensor& x, IntArrayRef s) { return x.expand(s); }\n"
            "static Tensor pass(const Tensor& x, IntArrayRef s) { return keep(x, s); }\n"
            "Tensor g(const Tensor& x, IntArrayRef s) { return pass(x, s); }\n"
            "Tensor f(const Tensor& x) { return keep(x, x.sizes()); }"
        ),
        (
            "static Tensor keep(const Tensor& x, IntArrayRef s) { return x.expand(s); }\n\n"
            "static Tensor keep_symint(const Tensor& x, c10::SymIntArrayRef s) { return x.expand_symint(s); }\n"
            "static Tensor pass(const Tensor& x, IntArrayRef s) { return keep(x, s); }\n"
            "Tensor g(const Tensor& x, IntArrayRef s) { return pass(x, s); }\n"
            "Tensor f(const Tensor& x) { return keep_symint(x, x.sym_sizes()); }"
        ),
    ),
    "a twin calls a twin, and both are declared": (
        (
            "namespace a {\n  TORCH_API Tensor keep(const Tensor& x, IntArrayRef s);\n}\n"
            "namespace a {\nTensor keep(const Tensor& x, IntArrayRef s) { return x.expand(s); }\n}\n"
            "static Tensor pass(const Tensor& x, IntArrayRef s) { return a::keep(x, s); }\n"
            "Tensor g(const Tensor& x, IntArrayRef s) { return pass(x, s); }\n"
            "Tensor f(const Tensor& x) { return pass(x, x.sizes()); }"
        ),
        (
            "namespace a {\n  TORCH_API Tensor keep(const Tensor& x, IntArrayRef s);\n\n"
            "  TORCH_API Tensor keep_symint(const Tensor& x, c10::SymIntArrayRef s);\n}\n"
            "namespace a {\nTensor keep(const Tensor& x, IntArrayRef s) { return x.expand(s); }\n\n"
            "Tensor keep_symint(const Tensor& x, c10::SymIntArrayRef s) { return x.expand_symint(s); }\n}\n"
            "static Tensor pass(const Tensor& x, IntArrayRef s) { return a::keep(x, s); }\n\n"
            "static Tensor pass_symint(const Tensor& x, c10::SymIntArrayRef s) { return a::keep_symint(x, s); }\n"
            "Tensor g(const Tensor& x, IntArrayRef s) { return pass(x, s); }\n"
            "Tensor f(const Tensor& x) { return pass_symint(x, x.sym_sizes()); }"
        ),
    ),
    "what a twin returns goes on to another": (
        (
            "static int64_t width(const Tensor& x) { return x.size(0); }\n"
            "static int64_t twice(int64_t n) { return 2 * n; }\n"
            "Tensor g(const Tensor& x) { for (int64_t i = 0; i < twice(width(x)); i++) {} return x; }\n"
            "Tensor f(const Tensor& x) { return x.narrow(0, 0, twice(width(x))); }"
        ),
        (
            "static int64_t width(const Tensor& x) { return x.size(0); }\n\n"
            "static c10::SymInt width_symint(const Tensor& x) { return x.sym_size(0); }\n"
            "static int64_t twice(int64_t n) { return 2 * n; }\n\n"
            "static c10::SymInt twice_symint(c10::SymInt n) { return 2 * n; }\n"
            "Tensor g(const Tensor& x) { for (int64_t i = 0; i < twice(width(x)); i++) {} return x; }\n"
            "Tensor f(const Tensor& x) { return x.narrow_symint(0, 0, twice_symint(width_symint(x))); }"
        ),
    ),
    "of overloads the one that was called": (
        (
            "static Tensor by(const Tensor& x, int64_t n) { return x.narrow(0, 0, n); }\n"
            "static Tensor by(const Tensor& x, const Scalar& n) { return x.mul(n); }\n"
            "Tensor f(const Tensor& x) { return by(x, x.size(0)); }"
        ),
        (
            "static Tensor by(const Tensor& x, int64_t n) { return x.narrow(0, 0, n); }\n\n"
            "static Tensor by_symint(const Tensor& x, c10::SymInt n) { return x.narrow_symint(0, 0, n); }\n"
            "static Tensor by(const Tensor& x, const Scalar& n) { return x.mul(n); }\n"
            "Tensor f(const Tensor& x) { return by_symint(x, x.sym_size(0)); }"
        ),
    ),
    "those who count with the result keep the helper": (
        (
            "static int64_t width(const Tensor& x) { return x.size(0); }\n"
            "Tensor g(const Tensor& x) { for (int64_t i = 0; i < width(x); i++) {} return x; }\n"
            "Tensor f(const Tensor& x) { return x.narrow(0, 0, width(x)); }"
        ),
        (
            "static int64_t width(const Tensor& x) { return x.size(0); }\n\n"
            "static c10::SymInt width_symint(const Tensor& x) { return x.sym_size(0); }\n"
            "Tensor g(const Tensor& x) { for (int64_t i = 0; i < width(x); i++) {} return x; }\n"
            "Tensor f(const Tensor& x) { return x.narrow_symint(0, 0, width_symint(x)); }"
        ),
    ),
}


@pytest.mark.parametrize(("source", "expected"), TWINS.values(), ids=TWINS)
def test_helpers_that_others_need_as_they_are_gain_a_twin(tmp_path: Path, source: str, expected: str) -> None:
    assert converted(tmp_path, source) == expected
    assert converted(tmp_path, expected) == expected
    assert converted(tmp_path, source, Level.SAFE) == source
