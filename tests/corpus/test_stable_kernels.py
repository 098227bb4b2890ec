"""Fakes of kernels that are written with torch::stable, beside what the kernels give. Needs torch and g++."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from corpus_compile import LIBRARY_FLAGS, compiler_version, torch_include
from corpus_trees import apply_in, commit_all

from codemod.prove.compiler import Unit, find_compiler

INCLUDE = torch_include()
STABLE = "torch/csrc/stable/ops.h"

pytestmark = [
    pytest.mark.skipif(INCLUDE is None or not (INCLUDE / STABLE).exists(), reason="no torch with a stable ABI"),
    pytest.mark.skipif(not compiler_version(), reason="g++ is not installed"),
]

KERNELS = """\
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/util/Exception.h>

#include <optional>

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

Tensor above(const Tensor& x, int64_t parts) {
  STD_TORCH_CHECK(x.dim() == 2, "above takes a matrix, not ", x.dim(), " dimensions");
  Tensor counts = torch::stable::new_zeros(x, {x.size(0), parts}, ScalarType::Long);
  Tensor dense = torch::stable::contiguous(x);
  const float* from = dense.const_data_ptr<float>();
  int64_t* to = counts.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    to[i / x.size(1) * parts + i % parts] += from[i] > 0;
  }
  return counts;
}

Tensor halved(const Tensor& x, const std::optional<Tensor>& like) {
  ScalarType type = like.has_value() ? like->scalar_type() : x.scalar_type();
  Tensor out = torch::stable::empty({x.size(0) / 2, 2}, type, std::nullopt, x.device());
  torch::stable::fill_(out, 1.0);
  return out;
}

Tensor turned(const Tensor& x) {
  Tensor out = torch::stable::empty_like(torch::stable::transpose(x, 0, 1));
  return torch::stable::zero_(out);
}

STABLE_TORCH_LIBRARY(steady, m) {
  m.def("above(Tensor x, int parts) -> Tensor");
  m.def("halved(Tensor x, Tensor? like=None) -> Tensor");
  m.def("turned(Tensor x) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(steady, CPU, m) {
  m.impl("above", TORCH_BOX(&above));
  m.impl("halved", TORCH_BOX(&halved));
  m.impl("turned", TORCH_BOX(&turned));
}
"""
MODULE = "import sys\n\nimport torch\n\ntorch.ops.load_library(sys.argv[1])\n"
CHECKS = """
import steady
import torch
from torch.library import opcheck

ops = torch.ops.steady
x = torch.randn(5, 7)
for operator, given in ((ops.above, (x, 3)), (ops.halved, (x,)), (ops.halved, (x.t(), x.half())), (ops.turned, (x,))):
    assert set(opcheck(operator.default, given).values()) == {"SUCCESS"}
    torch._dynamo.reset()
    compiled = torch.compile(lambda *given: operator(*given) + 1, backend="aot_eager", fullgraph=True, dynamic=True)
    for rows in (5, 0, 8):
        first = torch.randn(rows, 7)
        torch.testing.assert_close(compiled(first, *given[1:]), operator(first, *given[1:]) + 1)
"""


def test_what_is_written_of_them_is_what_they_give(tmp_path: Path) -> None:
    (tmp_path / "kernels.cpp").write_text(KERNELS)
    (tmp_path / "steady.py").write_text(MODULE)
    commit_all(tmp_path)
    assert apply_in(tmp_path, "review") == 1
    written = (tmp_path / "steady.py").read_text()
    assert written.count("@torch.library.register_fake") == 3

    assert INCLUDE is not None
    compiler = find_compiler(tmp_path / "objects")
    compiled = compiler.compile(Unit(KERNELS, (*LIBRARY_FLAGS, f"-I{INCLUDE}")))
    assert isinstance(compiled, Path), compiled
    library = compiler.link([compiled], (f"-L{INCLUDE.parent / 'lib'}", "-ltorch_cpu", "-lc10"))
    assert isinstance(library, Path), library
    done = subprocess.run(
        [sys.executable, "-c", CHECKS, str(library)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
