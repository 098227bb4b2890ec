"""A library whose schemas take sizes as integers, after `symfix apply`: built, run eagerly and compiled, checked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from corpus_compile import LIBRARY_FLAGS, compiler_version, torch_include
from corpus_trees import apply_in, copy_tree
from jinja2 import Template

from codemod.prove.compiler import Unit, find_compiler

LIBRARY = Path(__file__).parent.parent.parent / "examples" / "library"
INCLUDE = torch_include()
KINDS = {"half": 2, "third": 3}

pytestmark = [
    pytest.mark.skipif(INCLUDE is None, reason="torch is not installed"),
    pytest.mark.skipif(not compiler_version(), reason="g++ is not installed"),
]

CHECKS = """
import sys

import torch
from torch.library import opcheck

torch.ops.load_library(sys.argv[1])
ring = torch.ops.ring
schemas = [str(operator.default._schema) for operator in (ring.wrap, ring.spread)]
assert schemas == [
    "ring::wrap(Tensor source, SymInt rows, SymInt columns) -> Tensor",
    "ring::spread(Tensor source, SymInt[] sizes) -> Tensor",
], schemas


def gradient(operator, source, *given):
    source = source.clone().requires_grad_()
    return torch.autograd.grad(operator(source, *given).square().sum(), source)


torch.testing.assert_close(ring.wrap(torch.ones(5, 4), 2, 3), torch.tensor([[6.0, 3, 3], [4, 2, 2]]))
for operator, given in ((ring.wrap, (2, 3)), (ring.spread, ([7, 5],))):
    source = torch.rand(5, 4, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda source: operator(source, *given), source)
    assert set(opcheck(operator.default, (source, *given)).values()) == {"SUCCESS"}

for kind, parts in (("half", 2), ("third", 3)):
    fold = getattr(ring, f"fold_{kind}")
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(lambda source: fold(source).square().sum(), backend=counter, fullgraph=True, dynamic=True)
    for rows, columns in ((6, 4), (9, 5), (31, 7)):
        source = torch.rand(rows, columns, requires_grad=True)
        (grad,) = torch.autograd.grad(compiled(source), source)
        torch.testing.assert_close((grad,), gradient(fold, source))
        assert fold(source).shape == (-(-rows // parts), columns)
    assert counter.frame_count == 1, counter.frame_count
"""


@pytest.mark.usefixtures("torch_is_read")
def test_its_schemas_kernels_and_callers_change_together(tmp_path: Path, library_headers: Path) -> None:
    root = copy_tree(LIBRARY, tmp_path / "library")
    assert apply_in(root, "review") == 1

    folds = (root / "csrc" / "fold_template.cpp").read_text(encoding="utf-8")
    text = '#include "{0}/wrap.h"\n#include "{0}/wrap.cpp"\n'.format(root / "csrc")
    for kind in KINDS:
        source = Template(folds).render(kind=kind)
        (root / "csrc" / f"fold_{kind}.cpp").write_text(source, encoding="utf-8")
        text += f'#include "{root}/csrc/fold_{kind}.cpp"\n'
    assert INCLUDE is not None
    flags = tuple(f"-I{folder}" for folder in (INCLUDE, INCLUDE / "torch/csrc/api/include"))
    compiler = find_compiler(tmp_path / "objects")
    compiled = compiler.compile(Unit(text, ("-include", str(library_headers), *LIBRARY_FLAGS, *flags)))
    assert isinstance(compiled, Path), compiled
    library = compiler.link([compiled], (f"-L{INCLUDE.parent / 'lib'}", "-ltorch_cpu", "-lc10"))
    assert isinstance(library, Path), library
    script = tmp_path / "checks.py"
    script.write_text(CHECKS, encoding="utf-8")
    done = subprocess.run([sys.executable, script, library], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
