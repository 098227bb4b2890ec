"""The C++ of examples/ type-checks against torch's headers after `symfix apply` at either level."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus_compile import Compiler, compiler_version, contents, torch_include
from corpus_includes import Includes
from corpus_trees import apply_in, changed_files, copy_tree

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SOURCES = sorted(path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.cpp"))
HEADERS = [path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.h")]
INCLUDE = torch_include()
TOGETHER = "together.cpp"

pytestmark = [
    pytest.mark.skipif(INCLUDE is None, reason="torch is not installed (pip install torch==2.13.0): no headers"),
    pytest.mark.skipif(not compiler_version(), reason="g++ is not installed"),
]


def errors(root: Path) -> list[str]:
    """The first error of each source of `root` that does not type-check."""
    assert INCLUDE is not None
    compiler = Compiler("c++20", (INCLUDE, INCLUDE / "torch/csrc/api/include"), tree_includes=("aten/src",))
    includes = Includes(root)
    contexts = {path: contents(root, includes.headers_of(path, HEADERS)) for path in SOURCES}
    # Most of the time goes to torch's headers. Each source includes what it needs, so that all of them together show
    # what each alone does; where they do not, each is compiled alone.
    (root / TOGETHER).write_text("".join(f'#include "{root / path}"\n' for path in SOURCES), encoding="utf-8")
    if not compiler.check(root, TOGETHER, contents(root, [*SOURCES, *HEADERS])):
        return []
    results = compiler.check_all(root, SOURCES, contexts)
    return [error for error in results.values() if error]


@pytest.mark.parametrize("level", ["safe", "review"])
def test_examples_compile_after_apply(tmp_path: Path, level: str) -> None:
    root = copy_tree(EXAMPLES, tmp_path / "examples")
    assert apply_in(root, level) == 1
    assert "aten/src/ATen/native/Blend.cpp" in changed_files(EXAMPLES, root)
    assert errors(root) == []


def test_what_does_not_compile_is_named(tmp_path: Path) -> None:
    root = copy_tree(EXAMPLES, tmp_path / "examples")
    for path in SOURCES:
        (root / path).write_text("static int same;\n", encoding="utf-8")  # not to be compiled together
    assert errors(root) == []
    (root / SOURCES[-1]).write_text("int f() { return no_such_name; }\n", encoding="utf-8")
    (error,) = errors(root)
    assert error.startswith(f"{SOURCES[-1]}:1: ")
    assert "no_such_name" in error
