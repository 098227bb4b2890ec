"""Twins of what a using-declaration brings in are called with their namespace."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms.cpp.snippets import converted

GEO = (
    "namespace geo { static int64_t up(int64_t n) { return n + 1; } }\n"
    "static int64_t by(int64_t n) { auto call = &geo::up; return call(n); }\n"
)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "using at::zeros;\nTensor f(const Tensor& x) { return zeros({x.size(0)}); }\n",
            "return at::zeros_symint({x.sym_size(0)});",
        ),
        (
            "Tensor f(const Tensor& x) { using ::at::zeros; return zeros({x.size(0)}); }\n",
            "return ::at::zeros_symint({x.sym_size(0)});",
        ),
        (
            "using at::infer_size;\nTensor f(const Tensor& x) { return x.expand(infer_size(x.sizes(), x.sizes())); }\n",
            "x.expand_symint(at::infer_size_symint(x.sym_sizes(), x.sym_sizes()))",
        ),
        (
            GEO + "using geo :: up;\nTensor f(const Tensor& x) { return at::zeros({up(x.size(0))}); }\n",
            "at::zeros_symint({geo::up_symint(x.sym_size(0))})",
        ),
        (
            GEO + "using geo::up;\nTensor f(const Tensor& x) { return at::zeros({geo::up(x.size(0))}); }\n",
            "at::zeros_symint({geo::up_symint(x.sym_size(0))})",
        ),
        (
            "using at::narrow;\nTensor f(const Tensor& x) { return x.narrow(0, 0, x.size(0)); }\n",
            "x.narrow_symint(0, 0, x.sym_size(0))",
        ),
        (
            "using namespace at;\nTensor f(const Tensor& x) { return zeros({x.size(0)}); }\n",
            "return zeros_symint({x.sym_size(0)});",
        ),
    ],
)
def test_a_twin_is_found_where_one_name_alone_is_brought_in(tmp_path: Path, source: str, expected: str) -> None:
    assert expected in converted(tmp_path, source)
