"""What of PyTorch's own folders is read for symbols."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms.cpp.snippets import MemoryProject
from transforms.python.transform import PythonTransform

DECOMPOSITION = """import torch
from torch import Tensor
from torch._decomp import register_decomposition

aten = torch.ops.aten


@register_decomposition(aten.f)
def f(x: Tensor):
    if x.shape[0] < 1:
        raise ValueError('few')
    return x
"""


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("_decomp/decompositions.py", True), ("_inductor/decomposition.py", True), ("_inductor/lowering.py", False),
        ("_inductor/fx_passes/decomposition.py", False), ("_dynamo/decompositions.py", False),
    ],
)  # fmt: skip
def test_decompositions_of_compilers_are_read_and_their_own_code_is_not(tmp_path: Path, path: str, read: bool) -> None:
    folders = {f"torch/{parent}/__init__.py".replace("/./", "/"): "" for parent in Path(path).parents}
    vocabulary = tmp_path / "operators.yaml"
    vocabulary.write_text("- func: f(Tensor x) -> Tensor\n")
    project = MemoryProject(tmp_path, {**folders, f"torch/{path}": DECOMPOSITION}, vocabulary)
    assert any(finding.edits for finding in PythonTransform().analyse(project)) is read
