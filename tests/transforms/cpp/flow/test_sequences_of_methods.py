"""A method that takes SymInts takes all its sequences so: one of integers becomes symbolic, or all of them stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms.cpp.snippets import converted

HELPER = "static DimVector twice(IntArrayRef old) { DimVector n(old.size()); n[0] = old[0]; return n; }\n"
SYMBOLIC = HELPER.replace("DimVector", "c10::SymDimVector").replace("IntArrayRef", "c10::SymIntArrayRef")


def written(sizes: str) -> str:
    return (
        "Tensor f(const Tensor& x, c10::TensorImpl* impl, IntArrayRef given) {\n"
        f"  auto strides = twice(x.strides()); {sizes} impl->set_sizes_and_strides(sizes, strides); return x;\n}}"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("auto sizes = x.sizes();", "auto sizes = x.sym_sizes();"),
        ("DimVector sizes(x.dim());", "c10::SymDimVector sizes(x.dim());"),
        (
            "DimVector sizes(x.dim()); std::copy(given.begin(), given.end(), sizes.begin());",
            "c10::SymDimVector sizes(x.dim()); std::copy(given.begin(), given.end(), sizes.begin());",
        ),
    ],
)
def test_a_sequence_of_integers_follows_the_other(tmp_path: Path, before: str, after: str) -> None:
    expected = SYMBOLIC + written(after).replace("x.strides()", "x.sym_strides()")
    assert converted(tmp_path, HELPER + written(before)) == expected


@pytest.mark.parametrize("sizes", ["auto sizes = given;", "DimVector sizes(given); at::takes_int(sizes[0]);"])
def test_where_it_cannot_all_stay(tmp_path: Path, sizes: str) -> None:
    assert converted(tmp_path, HELPER + written(sizes)) == HELPER + written(sizes)
