"""Which C++ files of a tree are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from codemod.tree.cache import Cache
from codemod.tree.checkout import Checkout
from codemod.tree.project import CheckoutProject
from transforms.cpp.reach.sources import source_files

INSTALLED = ("ATen/ATen.h", "c10/core/ScalarType.h", "torch/library.h", "pybind11/pybind11.h")
OWN = ("lib/kernels.cpp", "lib/torch_utils.h")


def read(tree: Path, files: Sequence[str], paths: tuple[str, ...] = ()) -> set[str]:
    for name in files:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("int f();\n")
    project = CheckoutProject(Checkout(tree, None), Cache(None), paths)
    return set(source_files(project))


@pytest.mark.parametrize("folder", ["include", "torch/include", "vendor/libtorch/include"])
def test_headers_of_an_installed_pytorch_are_left_unless_they_are_asked_for(tmp_path: Path, folder: str) -> None:
    headers = [f"{folder}/{name}" for name in INSTALLED]
    assert read(tmp_path, [*headers, *OWN]) == set(OWN)
    assert read(tmp_path, (), (folder,)) == {*headers, *OWN}
    assert read(tmp_path, (), (headers[3],)) == {headers[3], *OWN}


@pytest.mark.parametrize("left_out", INSTALLED[:3])
def test_a_folder_that_holds_a_part_of_them_is_the_trees_own(tmp_path: Path, left_out: str) -> None:
    headers = {f"include/{name}" for name in INSTALLED if name != left_out}
    assert read(tmp_path, [*headers, *OWN]) == {*headers, *OWN}
