"""Where the names of a vocabulary are read: beside its native_functions.yaml, in a checkout or an installed torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.edits import apply_edits
from codemod.model.findings import Level
from tests.transforms.cpp.snippets import MemoryProject
from transforms.cpp.analyse import analyse_tree
from transforms.cpp.reach.headers import OWN_YAML, locate


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


YAML = """\
- func: keep(Tensor self) -> Tensor

- func: expand(Tensor(a) self, SymInt[] size) -> Tensor(a)
  variants: method
"""
HELPER = "inline IntArrayRef without_ones(IntArrayRef sizes) { return sizes.slice(1); }"
SYMBOLIC = HELPER.replace("IntArrayRef", "c10::SymIntArrayRef")
KERNEL = "Tensor keep(const Tensor& self) { return self.expand(without_ones(self.sizes())); }"
BASE = "class TensorBase { c10::SymIntArrayRef sym_sizes() const; };"


@pytest.mark.parametrize(
    ("theirs", "helper"),
    [
        (SYMBOLIC, SYMBOLIC),  # theirs is what became of the tree's own
        (f"{HELPER}\n{SYMBOLIC}", HELPER),  # theirs is another overload
    ],
)
def test_a_helper_of_the_tree_is_as_the_tree_has_it(tmp_path: Path, theirs: str, helper: str) -> None:
    header, source = "aten/src/ATen/Helper.h", "aten/src/ATen/native/Keep.cpp"
    other = tmp_path / "other"
    for path, text in {OWN_YAML: YAML, header: theirs, "c10/core/TensorBase.h": BASE}.items():
        (other / path).parent.mkdir(parents=True, exist_ok=True)
        (other / path).write_text(text)
    mine = {OWN_YAML: YAML, header: HELPER, source: f"namespace at::native {{\n{KERNEL}\n}}\n"}
    for path, text in mine.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    findings = list(analyse_tree(MemoryProject(tmp_path, mine, other / OWN_YAML)))
    edits = [edit for finding in findings if finding.level <= Level.REVIEW for edit in finding.edits]
    after = {
        path: apply_edits(text.encode(), [e for e in edits if e.path == path]).decode() for path, text in mine.items()
    }
    assert "expand_symint(without_ones(self.sym_sizes()))" in after[source]
    assert after[header] == helper
