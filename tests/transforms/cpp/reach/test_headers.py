"""Where the names of a vocabulary are read: beside its native_functions.yaml, in a checkout or an installed torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms.cpp.snippets import MemoryProject
from transforms.cpp.reach.headers import locate


@pytest.mark.parametrize(
    ("yaml", "holds", "headers"),
    [
        ("checkout/aten/src/ATen/native/native_functions.yaml", "checkout/c10", "checkout"),
        ("site/torchgen/packaged/ATen/native/native_functions.yaml", "site/torch/include/c10", "site/torch/include"),
        ("site/torchgen/packaged/ATen/native/native_functions.yaml", "site/torch", None),
        ("elsewhere/native_functions.yaml", "elsewhere/c10", None),
    ],
)
def test_headers_belong_to_the_yaml_that_lies_beside_them(
    tmp_path: Path, yaml: str, holds: str, headers: str | None
) -> None:
    (tmp_path / yaml).parent.mkdir(parents=True)
    (tmp_path / yaml).touch()
    (tmp_path / holds).mkdir(parents=True)
    sources = locate(MemoryProject(tmp_path, {}, tmp_path / yaml))
    assert sources.yaml == str(tmp_path / yaml)
    assert sources.headers == (tmp_path / headers if headers else None)
