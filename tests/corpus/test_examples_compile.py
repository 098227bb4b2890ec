"""The C++ of examples/ type-checks against torch's headers, as it is and after `symfix apply` at either level."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus_compile import Compiler, compiler_version, torch_include
from corpus_trees import apply_in, changed_files, copy_tree

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SOURCES = sorted(path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.cpp"))
INCLUDE = torch_include()

pytestmark = [
    pytest.mark.skipif(INCLUDE is None, reason="torch is not installed (pip install torch==2.13.0): no headers"),
    pytest.mark.skipif(not compiler_version(), reason="g++ is not installed"),
]


def errors(root: Path) -> list[str]:
    """The first error of each source of `root` that does not type-check."""
    assert INCLUDE is not None
    compiler = Compiler("c++20", (INCLUDE, INCLUDE / "torch/csrc/api/include"), tree_includes=("aten/src",))
    results = compiler.check_all(root, SOURCES, dict.fromkeys(SOURCES, str(root)))
    return [error for error in results.values() if error]


def test_examples_compile() -> None:
    assert errors(EXAMPLES) == []


@pytest.mark.parametrize("level", ["safe", "review"])
def test_examples_compile_after_apply(tmp_path: Path, level: str) -> None:
    root = copy_tree(EXAMPLES, tmp_path / "examples")
    assert apply_in(root, level) == 1
    assert "aten/src/ATen/native/Blend.cpp" in changed_files(EXAMPLES, root)
    assert errors(root) == []
