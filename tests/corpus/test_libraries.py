"""What `libraries.py` counts by itself, and that it tells what symfix misses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import corpus_registered_cpp as cpp
import corpus_registered_python as python
import libraries
import pytest
from corpus_compile import compiler_version
from corpus_trees import commit_all

OPS = """\
#include <torch/library.h>
#include <elsewhere/unheard_of.h>
#include "registration.h"
OWN_LIBRARY(NAME, m) {
  m.def("rows(Tensor x, str a=\\"}\\") -> Tensor");
  m.impl("rows", torch::kCPU, &rows);
  #ifdef ELSEWHERE
  m.def("here() -> ()", &here);
  #else
  more(m);  // m.def("comment", &f);
  #endif
}
BLOCK(cols)
static auto old = torch::RegisterOperators("own::old", &f).op("own::older", &f);
PYBIND11_MODULE(NAME, m) { m.def("bound", &f); }
"""
HEADER = """\
#define NAME own
#define OWN_LIBRARY(n, m) TORCH_LIBRARY(n, m)
#define BLOCK(f) TORCH_LIBRARY_IMPL(own, Meta, m) { m.impl(#f, &f); }
"""
MORE = 'void more(torch::Library& m) { m.impl("rows", torch::dispatch(c10::DispatchKey::Meta, f)); }\n'
PACKAGE = """\
import torch, unheard_of
from .wrap import named
if unheard_of.available() and torch.cuda.is_available():
    @torch.library.custom_op("own::a", mutates_args=())
    def a(x):
        return x
else:
    def a(x):
        raise RuntimeError
try:
    from unheard_of import b
except ImportError:
    @torch.library.register_fake("own::b")
    def b(x):
        return x
for n in (1, 2):
    @named(f"c{n}")
    def _(x):
        return x
    @unheard_of.jit
    def not_registered(x):
        return x
import os
open("written", "w").write("")
os.remove("written")
raise SystemExit
"""
WRAP = """\
import torch
lib = torch.library.Library("own", "FRAGMENT")
def named(name):
    def wrap(fn):
        def kernel(*given):
            return fn(*given)
        lib.impl(name, kernel, "CUDA")
        return fn
    return wrap
"""


def tree_at(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.skipif(not compiler_version(), reason="g++ is not installed")
def test_cpp_is_counted_after_the_preprocessor(tmp_path: Path) -> None:
    tree = tree_at(tmp_path / "tree", {"a/ops.cpp": OPS, "b/registration.h": HEADER, "more.cu": MORE})
    found, failed = cpp.registered(tree, ["a/ops.cpp", "b/registration.h", "more.cu"], tmp_path)
    assert not failed
    assert {(name, key, path) for name, key, path in found} == {
        ("own::rows", "", "a/ops.cpp"),
        ("own::rows", "CPU", "a/ops.cpp"),
        ("own::here", "", "a/ops.cpp"),
        ("own::cols", "Meta", "a/ops.cpp"),
        ("own::old", "", "a/ops.cpp"),
        ("own::older", "", "a/ops.cpp"),
        ("own::rows", "Meta", "more.cu"),
    }


def test_python_is_counted_by_importing_it(tmp_path: Path) -> None:
    paths = ["own/__init__.py", "own/wrap.py"]
    tree = tree_at(tmp_path, dict(zip(paths, (PACKAGE, WRAP), strict=True)))
    found, skipped = python.registered(tree, paths, 60)
    assert {(kind, name, places[-1][1]) for kind, name, places in found} == {
        ("custom_op", "own::a", "a"),
        ("register_fake", "own::b", "b"),
        ("impl", "own::c1", "_"),
        ("impl", "own::c2", "_"),
    }
    assert [line.partition(": ")[2] for line in skipped] == ["PermissionError: os.remove"]
    assert not (tree / "written").exists()


def run(trees: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(Path(__file__).with_name("libraries.py")), "--trees", str(trees)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_what_symfix_misses_is_named(tmp_path: Path) -> None:
    files = {"own/__init__.py": PACKAGE.replace("raise SystemExit", ""), "own/wrap.py": WRAP}
    commit_all(tree_at(tmp_path / "right", files))
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[1].split()[:6] == ["right", "0", "0", "4", "4", "100.0"]
    hidden = 'import torch\ndef f(x):\n    return x\nvars(torch.library)["custom_op"]("own::d", f)\n'
    commit_all(tree_at(tmp_path / "wrong", {**files, "own/hidden.py": hidden}))
    done = run(tmp_path)
    assert done.returncode == 1
    assert "    own::d custom_op: own/hidden.py f" in done.stdout.splitlines()


def test_the_table_as_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    row = libraries.Row("own", cpp=1, python=2, misses={"C++": [], "Python": ["own::d custom_op: own/hidden.py f"]})
    libraries.report([row], markdown=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("| library | C++ | found |")
    assert lines[2].startswith("| own | 1 | 1 | 2 | 1 | 66.7 |")
    assert lines[-1] == "- own: `own::d custom_op: own/hidden.py f`"
