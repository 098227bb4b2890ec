"""Composite operators that only the derivatives of operators without a fake come to."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.findings import Level
from tests.transforms.cpp.snippets import MemoryProject
from transforms.cpp.analyse import analyse_tree
from transforms.cpp.reach.headers import OWN_YAML

DERIVATIVES = "tools/autograd/derivatives.yaml"
NATIVE = "aten/src/ATen/native/Fade.cpp"
MANUAL = "torch/csrc/autograd/FunctionsManual.cpp"
REFS = "torch/_refs/__init__.py"
YAML = """\
- func: fade(Tensor self) -> Tensor
  dispatch:
    CPU, CUDA: fade

- func: fade_backward(Tensor grad, Tensor self) -> Tensor

- func: blend(Tensor self) -> Tensor

- func: expand(Tensor(a) self, SymInt[] size) -> Tensor(a)
  variants: method
"""
FORMULA = """\
- name: fade(Tensor self) -> Tensor
  self: fade_backward(grad, self)
"""
BLEND = """\
- name: blend(Tensor self) -> Tensor
  self: grad.fade_backward(self)
"""
BACKWARD = "Tensor fade_backward(const Tensor& grad, const Tensor& self) { return same(grad, self.sizes()); }\n"
HELPER = "static Tensor same(const Tensor& grad, IntArrayRef sizes) { return grad.expand(grad.sizes()); }\n"
TREE = {
    OWN_YAML: YAML,
    DERIVATIVES: FORMULA,
    NATIVE: f"namespace at::native {{\n{HELPER}{BACKWARD}}}\n",
    "c10/core/TensorBase.h": "class TensorBase { c10::SymIntArrayRef sym_sizes() const; };",
    REFS: "",
}


def refusals(root: Path, files: dict[str, str]) -> dict[str, str]:
    """The refusal of each function, "" where it is edited."""
    for path in (OWN_YAML, DERIVATIVES):
        (root / path).parent.mkdir(parents=True)
        (root / path).touch()
    project = MemoryProject(root, {**TREE, **files}, root / OWN_YAML)
    project.vocabulary = None
    findings = list(analyse_tree(project))
    assert all(finding.refusal for finding in findings if finding.level is Level.MANUAL)
    return {finding.function.rpartition("::")[2]: finding.refusal for finding in findings}


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({REFS: "@register_decomposition(aten.fade)\ndef fade(x): return x\n"}, id="Python traces it"),
        pytest.param({DERIVATIVES: FORMULA + BLEND}, id="another operator's formula calls it"),
        pytest.param(
            {"aten/src/ATen/Blend.cpp": "namespace at { Tensor blend(Tensor x) { return at::fade_backward(x, x); } }"},
            id="C++ calls it",
        ),
        pytest.param(
            {"a.cpp": 'TORCH_LIBRARY_IMPL(aten, Meta, m) { m.impl("fade", fade_meta); }'}, id="C++ has a Meta kernel"
        ),
        pytest.param({OWN_YAML: YAML.replace("    CPU, CUDA: fade\n", "    Meta: fade\n")}, id="a Meta kernel"),
        pytest.param({DERIVATIVES: FORMULA.replace("fade_backward(grad, self)", "grad")}, id="no formula calls it"),
    ],
)
def test_is_reached(tmp_path: Path, files: dict[str, str]) -> None:
    assert refusals(tmp_path, files) == {"fade_backward": "", "same": ""}


def test_a_checkout_without_the_tables_of_python_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(TREE, REFS)
    assert refusals(tmp_path, {}) == {"fade_backward": "", "same": ""}


def test_what_only_untraced_operators_come_to_is_explained_with_its_helpers(tmp_path: Path) -> None:
    assert refusals(tmp_path, {}) == dict.fromkeys(("fade_backward", "same"), "untraced-operator")


def test_a_function_that_has_no_other_way_than_cpp_is_reached(tmp_path: Path) -> None:
    files = {
        NATIVE: "",
        MANUAL: f"namespace torch::autograd {{\n{HELPER}{BACKWARD}}}\n",
        OWN_YAML: YAML.replace("- func: fade_backward(Tensor grad, Tensor self) -> Tensor\n\n", ""),
    }
    assert refusals(tmp_path, files) == {"fade_backward": "", "same": ""}


@pytest.mark.parametrize(
    ("operator", "python", "refusal"),
    [
        ("_dim", "", "half-conversion"),
        ("dim", "", ""),  # anybody may call it, and give it what it lacks
        ("_dim", "register_meta(aten._dim)(dim)\n", ""),
    ],
)
def test_nothing_is_converted_for_an_internal_operator_that_has_no_fake(
    tmp_path: Path, operator: str, python: str, refusal: str
) -> None:
    files = {
        OWN_YAML: f"{YAML}\n- func: {operator}(Tensor self) -> Tensor\n  dispatch:\n    CPU, CUDA: dim\n",
        NATIVE: "namespace at::native {\nTensor blend(const Tensor& self) "
        f"{{ return at::{operator}(self.expand(self.sizes())); }}\n}}\n",
        REFS: python,
    }
    assert refusals(tmp_path, files) == {"blend": refusal}
