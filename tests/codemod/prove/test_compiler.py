"""The compiler's kept results: each holds as long as what it was made from is as it was."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from codemod.prove.compiler import Unit, find_compiler

needs_gcc = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


@needs_gcc
@pytest.mark.parametrize("place", ["sources/missing.h", "include/missing.h"])
def test_an_error_is_not_kept_once_the_header_is_there(tmp_path: Path, place: str) -> None:
    compiler = find_compiler(tmp_path / "cache")
    (tmp_path / "include").mkdir()
    (tmp_path / "sources" / "inner").mkdir(parents=True)
    relative = "../missing.h" if place == "sources/missing.h" else "missing.h"
    (tmp_path / "sources" / "inner" / "own.h").write_text(f'#include "{relative}"\n')
    unit = Unit(f'#include "{tmp_path}/sources/inner/own.h"\nint size = SIZE;\n', (f"-I{tmp_path}/include",))
    error = compiler.check(unit)
    assert error is not None
    assert "missing.h" in str(error)
    assert compiler.check(unit) == error
    (tmp_path / place).write_text("#define SIZE 1\n")
    assert compiler.check(unit) is None
