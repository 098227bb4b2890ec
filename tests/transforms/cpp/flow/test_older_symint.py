"""The SymInt of PyTorch 1.13 has fewer operators than those since: what they alone have is not written for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms.cpp import snippets
from tests.transforms.cpp.snippets import HEADER

HEAD = "Tensor f(const Tensor& x, int64_t k) {{ {} }}"
OPERATORS = {
    "old": "SymInt operator+(SymInt s) const;",
    "new": "SymInt operator+(SymInt s) const; void operator/=(SymInt s);",
}


def converted(root: Path, source: str, symint: str, more: str = "") -> str:
    """`source` after every edit, over headers in which SymInt has the operators `symint`."""
    return snippets.converted(root, source, header=HEADER.replace("class SymInt {", f"class SymInt {{ {symint}") + more)


@pytest.mark.parametrize(
    ("body", "new"),
    [
        ("return x.narrow(0, 0, k * x.size(0));", "return x.narrow_symint(0, 0, k * x.sym_size(0));"),
        ("return x.narrow(0, 0, 8 - x.size(0));", "return x.narrow_symint(0, 0, 8 - x.sym_size(0));"),
        ("return x.narrow(0, 0, -x.size(0));", "return x.narrow_symint(0, 0, -x.sym_size(0));"),
        (
            "return x.narrow(0, 0, std::min(x.size(0), k));",
            "return x.narrow_symint(0, 0, x.sym_size(0).min(c10::SymInt(k)));",
        ),
        (
            "return x.narrow(0, 0, c10::multiply_integers(x.sizes()));",
            "return x.narrow_symint(0, 0, c10::multiply_integers(x.sym_sizes()));",
        ),
    ],
)
def test_what_it_has_no_operator_for_stays(tmp_path: Path, body: str, new: str) -> None:
    source = HEAD.format(body)
    assert converted(tmp_path, source, OPERATORS["new"]) == HEAD.format(new)
    assert converted(tmp_path, source, OPERATORS["old"]) == source


@pytest.mark.parametrize("version", list(OPERATORS))
def test_an_integer_on_the_right_is_no_hindrance(tmp_path: Path, version: str) -> None:
    source = HEAD.format("return x.narrow(0, 0, x.size(0) * k + x.size(1));")
    expected = HEAD.format("return x.narrow_symint(0, 0, x.sym_size(0) * k + x.sym_size(1));")
    assert converted(tmp_path, source, OPERATORS[version]) == expected


def test_a_quotient_is_spelled_out_where_the_operator_is_lacking(tmp_path: Path) -> None:
    source = HEAD.format("auto n = x.size(0); n /= 2; return x.narrow(0, 0, n);")
    kept = HEAD.format("auto n = x.sym_size(0); n /= 2; return x.narrow_symint(0, 0, n);")
    assert converted(tmp_path, source, OPERATORS["new"]) == kept
    assert converted(tmp_path, source, OPERATORS["old"]) == kept.replace("n /= 2", "n = n / 2")


def test_a_name_of_c10_means_no_function_of_at(tmp_path: Path) -> None:
    helper = " namespace at {{ int64_t wrap(int64_t n) {{ return c10::wrap(n); }} }}\n"
    source = helper.format() + HEAD.format("return x.narrow(0, 0, at::wrap(x.size(0)));")
    concrete = "namespace c10 { int64_t wrap(int64_t n) { return at::takes_int(n); } }\n"
    assert converted(tmp_path, source, OPERATORS["new"], concrete) == source
    both = concrete + "namespace c10 { SymInt wrap(SymInt n); }\n"
    assert "x.narrow_symint(0, 0, at::wrap(x.sym_size(0)))" in converted(tmp_path, source, OPERATORS["new"], both)
