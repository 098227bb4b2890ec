"""What `scan` says of the registrations of a library: how many it understands, and where the others stand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

OPS = """\
#include "registration.h"
Tensor rows(const Tensor& x) { return at::zeros({x.size(0)}); }
OWN_LIBRARY(NAME, m) {
  m.def("rows(Tensor x) -> Tensor", &rows);
  for (const auto& name : names()) m.def(name, &rows);
}
PYBIND11_MODULE(NAME, m) { m.def("helper", &helper); }
"""
REMARKS = [
    "C++ registrations: 1 of 2 understood; not understood:",
    "ops.cpp:5: the operator's name is no literal: name",
    "1 function is bound for Python, past the dispatcher: no symbol arrives that way",
]


def scan(tree: Path, *options: str) -> str:
    command = [str(Path(sys.executable).with_name("symfix")), "scan", "--exit-zero", "--torch", "2.13.0", *options]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True).stdout


PYTHON = """\
import torch
@torch.library.register_fake("own::op")
def op(x):
    return x
for name in names():
    @torch.library.register_fake(f"own::{name}")
    def _(x):
        return x
@torch.compile
def compiled(x):
    return x
"""


def test_scan_says_which_python_operators_have_no_name(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(PYTHON)
    assert json.loads(scan(tmp_path, "--format", "json"))["remarks"] == [
        "Python registrations: 1 of 2 understood; not understood:",
        "ops.py:7: _: the operator's name is computed",
    ]
    (tmp_path / "ops.py").write_text(PYTHON.partition("for")[0])
    assert json.loads(scan(tmp_path, "--format", "json"))["remarks"] == ["Python registrations: 1 of 1 understood"]
    (tmp_path / "ops.py").write_text("import torch\n@torch.compile\ndef f(x):\n    return x\n")
    assert "remarks" not in json.loads(scan(tmp_path, "--format", "json"))
    (tmp_path / "ops.py").write_text(OF_OTHERS)
    assert "remarks" not in json.loads(scan(tmp_path, "--format", "json"))


OF_OTHERS = """\
import torch
from torchvision.transforms.v2 import functional as F
from torchvision.transforms.v2.functional import register_kernel
class Camera(torch.Tensor):
    pass
@register_kernel(F.resize, Camera)
def resize(inpt, size):
    return inpt
"""


def test_scan_says_which_python_it_cannot_read(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text("import torch\n\n\ndef f(x:\n    return x.shape[0]\n")
    (tmp_path / "old.py").write_text("print 'nothing of tensors'\n")
    (remark,) = json.loads(scan(tmp_path, "--format", "json"))["remarks"]
    assert remark.startswith("ops.py:4: ")
    assert remark.endswith("cannot read this file, so nothing is said of it")
    (tmp_path / "ops.py").write_bytes(b"import torch\0\n")
    assert json.loads(scan(tmp_path, "--format", "json"))["remarks"][0].startswith("ops.py:1: ")


def test_scan_says_what_it_did_not_understand(tmp_path: Path) -> None:
    (tmp_path / "ops.cpp").write_text(OPS)
    (tmp_path / "registration.h").write_text("#define NAME lib\n#define OWN_LIBRARY(n, m) TORCH_LIBRARY(n, m)\n")
    lines = scan(tmp_path).splitlines()
    start = lines.index(REMARKS[0])
    assert lines[start : start + 4] == [*REMARKS, ""]
    plan = json.loads(scan(tmp_path, "--format", "json"))
    assert plan["remarks"] == REMARKS
    assert plan["findings"][0]["operators"] == ["lib::rows"]
