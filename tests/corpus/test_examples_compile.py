"""The C++ of examples/ type-checks against torch's headers after `symfix apply` at either level."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from corpus_compile import Compiler, compiler_version, contents, torch_include
from corpus_includes import Includes
from corpus_trees import apply_in, changed_files, copy_tree

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SOURCES = sorted(path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.cpp"))
HEADERS = [path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.h")]
INCLUDE = torch_include()

pytestmark = [
    pytest.mark.skipif(INCLUDE is None, reason="torch is not installed (pip install torch==2.13.0): no headers"),
    pytest.mark.skipif(not compiler_version(), reason="g++ is not installed"),
]


@pytest.fixture(autouse=True)
def _kept_for_all(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep results for all tests here, in whichever worker: much of the tree is the same before and after."""
    base = tmp_path_factory.getbasetemp()
    kept = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "compiled"
    kept.mkdir(mode=0o700, exist_ok=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(kept))


def errors(root: Path) -> list[str]:
    """The first error of each source of `root` that does not type-check."""
    assert INCLUDE is not None
    compiler = Compiler("c++20", (INCLUDE, INCLUDE / "torch/csrc/api/include"), tree_includes=("aten/src",))
    includes = Includes(root)
    contexts = {path: contents(root, includes.headers_of(path, HEADERS)) for path in SOURCES}
    results = compiler.check_all(root, SOURCES, contexts)
    return [error for error in results.values() if error]


@pytest.mark.parametrize("level", ["safe", "review"])
def test_examples_compile_after_apply(tmp_path: Path, level: str) -> None:
    root = copy_tree(EXAMPLES, tmp_path / "examples")
    assert apply_in(root, level) == 1
    assert "aten/src/ATen/native/Blend.cpp" in changed_files(EXAMPLES, root)
    assert errors(root) == []
