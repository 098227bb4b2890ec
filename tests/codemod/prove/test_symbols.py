from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from codemod.prove.symbols import missing, missing_tables

pytestmark = pytest.mark.skipif(not (shutil.which("g++") and shutil.which("nm")), reason="needs g++ and binutils")

USER = """
namespace at {
struct Table { virtual void method(); };
template <typename T> int hidden(T x);
int shown(int x);
int here(int x) { return x; }
int all(int x) { Table table; table.method(); return hidden<double>(2.) + shown(x) + here(x); }
}
"""


def build(folder: Path, name: str, text: str) -> Path:
    (folder / "a.cpp").write_text(text)
    flags = ["-shared", "-fPIC", "-Wl,--unresolved-symbols=ignore-all"]
    subprocess.run(["g++", *flags, str(folder / "a.cpp"), "-o", str(folder / name)], check=True)
    return folder / name


def test_what_nobody_exports_is_missing(tmp_path: Path) -> None:
    build(tmp_path, "libtorch_fake.so", "namespace at { int shown(int x) { return x; } }")
    build(tmp_path, "libother.so", "namespace at { template <typename T> int hidden(T x) { return 1; }\n"
          "template int hidden<double>(double); }")  # fmt: skip
    library = build(tmp_path, "user.so", USER)
    assert missing(library, tmp_path) == {"at::hidden", "at::Table::method"}
    assert missing_tables(library, tmp_path) == {"_ZTVN2at5TableE"}


def test_a_library_that_lacks_nothing(tmp_path: Path) -> None:
    library = build(tmp_path, "whole.so", "#include <string>\nstd::string f() { return std::string(3, 'x'); }")
    assert missing_tables(library, tmp_path) == set()
    assert not {name for name in missing(library, tmp_path) if name.startswith("at::")}
