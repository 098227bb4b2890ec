"""Operators that Python defines or imports, and the fakes that they lack."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.findings import Finding
from tests.transforms.cpp.snippets import SCHEMAS, MemoryProject
from transforms.python.transform import PythonTransform

CUSTOM = """\
@torch.library.custom_op("lib::fold", mutates_args=())
def fold(x: Tensor, n: int = 2) -> Tensor:
    return x
"""


@pytest.mark.parametrize(
    "further",
    [
        "\n\n@fold.register_fake\ndef _(x, n=2):\n    return x\n",
        '\n\n@torch.library.register_fake("lib::fold")\ndef _(x, n=2):\n    return x\n',
        '\n\ntorch.library.register_fake("lib::fold")(lambda x, n=2: x)\n',
    ],
)
def test_a_custom_op_with_a_fake(tmp_path: Path, further: str) -> None:
    assert python_missing(tmp_path, CUSTOM + further) == []


def test_what_needs_no_fake_in_python(tmp_path: Path) -> None:
    assert python_missing(tmp_path, CUSTOM.replace("custom_op", "triton_op")) == []
    assert python_missing(tmp_path, CUSTOM.replace("-> Tensor", "-> None").replace("=()", '={"x"}')) == []
    assert python_missing(tmp_path, CUSTOM, kernels='m.impl("fold", fold_meta);') == []


def test_a_custom_op_without_a_fake(tmp_path: Path) -> None:
    (finding,) = python_missing(tmp_path, CUSTOM)
    assert (finding.line, finding.refusal, finding.operators, finding.edits) == (6, "no-fake", ("lib::fold",), ())
    assert finding.reason == (
        'register a fake: @torch.library.register_fake("lib::fold") def _(x, n=2): ...  # -> Tensor'
    )


OF_LIBRARY = """\
lib = torch.library.Library("lib", "FRAGMENT")
lib.define("fold(Tensor x) -> Tensor")


def fold(x):
    return x.clone()


lib.impl("fold", fold, "CUDA")
"""


@pytest.mark.parametrize(
    "source",
    [
        OF_LIBRARY + '\nlib._register_fake("fold", fold)\n',
        OF_LIBRARY + '\nlib.impl("fold", fold, "Meta")\n',
        OF_LIBRARY.replace('"CUDA"', '"CompositeExplicitAutograd"'),
        OF_LIBRARY.replace("return x.clone()", "x.zero_()"),
        OF_LIBRARY.replace("FRAGMENT", "IMPL"),
        OF_LIBRARY.replace('Library("lib"', "Library(name"),
    ],
)
def test_a_library_whose_operator_symbols_pass_or_that_defines_none(tmp_path: Path, source: str) -> None:
    assert python_missing(tmp_path, source) == []


@pytest.mark.parametrize(
    "source",
    [
        OF_LIBRARY,
        (
            'torch.library.define("lib::fold", "(Tensor x) -> Tensor")\n\n\n@torch.library.impl("lib::fold", "cuda")\n'
            "def fold(x):\n    return x.clone()\n"
        ),
    ],
)
def test_a_library_whose_operator_has_no_fake(tmp_path: Path, source: str) -> None:
    (finding,) = python_missing(tmp_path, source, kernels='m.def("lib::fold_all(Tensor x) -> Tensor");')
    assert finding.operators == ("lib::fold",)
    assert finding.message == "lib::fold has kernels from Python, and no fake was found"


def python_missing(root: Path, source: str, kernels: str = "") -> list[Finding]:
    """The findings of the rule in a Python file beside C++ that holds `kernels`."""
    files = {"lib/p.py": "import torch\nfrom torch import Tensor\n\n\n" + source, "c.cpp": kernels}
    project = MemoryProject(root, files, root / "schemas.yaml")
    (root / "schemas.yaml").write_text(SCHEMAS)
    return [finding for finding in PythonTransform().analyse(project) if finding.rule == "missing-fake"]
