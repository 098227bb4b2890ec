from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemod.errors import SymfixError
from codemod.prove.compiler import Unit, find_compiler
from codemod.prove.flags import _ALLOWED, _allowed_flags, compile_flags

needs_gcc = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def write(root: Path, text: str) -> None:
    (root / "build").mkdir()
    (root / "build" / "compile_commands.json").write_text(text)


def let_in(root: Path, *arguments: str) -> tuple[tuple[str, ...], str]:
    """The flags of these that are let in, and the line about the others."""
    entry = {"directory": str(root), "file": "a.cpp", "arguments": ["c++", *arguments]}
    (root / "compile_commands.json").write_text(json.dumps([entry]))
    database = compile_flags(root)
    return database.flags["a.cpp"], database.left_out_line()


def test_none_without_a_database(tmp_path: Path) -> None:
    assert compile_flags(tmp_path).flags == {}


def test_what_decides_how_a_source_is_read_is_kept(tmp_path: Path) -> None:
    command = "c++ -I../include -isystem third -DA='x y' -O2 -Werror -std=gnu++17 -fopenmp -c ../src/a.cpp -o a.o"
    entries = [
        {"directory": f"{tmp_path}/build", "file": "../src/a.cpp", "command": command},
        {"directory": f"{tmp_path}/build", "file": "/elsewhere/b.cpp", "arguments": ["c++"]},
        {"directory": f"{tmp_path}/build", "file": "../c.cpp", "arguments": ["c++", "-I", "gen", "-D", "B"]},
    ]
    write(tmp_path, json.dumps(entries))
    database = compile_flags(tmp_path)
    assert database.flags == {
        "src/a.cpp": (
            f"-I{tmp_path}/include", "-isystem", f"{tmp_path}/build/third", "-DA=x y", "-std=gnu++17", "-fopenmp"
        ),
        "c.cpp": (f"-I{tmp_path}/build/gen", "-DB"),
    }  # fmt: skip
    assert database.left_out_line() == ""


def test_flags_of_language_and_processor_are_kept(tmp_path: Path) -> None:
    flags = ("-fPIC", "-fno-exceptions", "-fvisibility=hidden", "-ffast-math", "-fno-gnu-unique",
             "-ftemplate-depth=900", "-march=x86-64-v3", "-mavx512f", "-mno-avx", "-mfma", "-pthread",
             "-std=c++20", "-U_A", "-UB")  # fmt: skip
    assert let_in(tmp_path, *flags) == (flags, "")


def test_what_says_nothing_of_the_source_goes_without_a_word(tmp_path: Path) -> None:
    flags = ("-O3", "-g", "-w", "-Wall", "-Wno-error=x", "-c", "-MD", "-MF", "a.d", "-o", "a.o", "-fdiagnostics-color",
             "-ffunction-sections", "-pipe", "-lm", "-L", "/x", "-flto=auto", "a.cpp")  # fmt: skip
    assert let_in(tmp_path, *flags) == ((), "")


@pytest.mark.parametrize(
    "flags",
    [
        ["-fplugin=/evil.so"], ["-fplugin-arg-evil-a=b"], ["-fdump-tree-all=/x"], ["-fdump-go-spec=/x"],
        ["-fopt-info-all=/x"], ["-fsave-optimization-record"], ["-fprofile-arcs"], ["-ftest-coverage"],
        ["-fcallgraph-info"], ["-fmodule-mapper=|evil"], ["-fmodules-ts"], ["-fuse-ld=/evil"],
        ["-fpass-plugin=/evil.so"],
        ["-wrapper", "evil,-c"], ["-B", "/x"], ["-B/x"], ["-specs=/x"], ["-specs", "/x"], ["@/x"], ["-Xlinker", "-x"],
        ["-Xclang", "-load"], ["-Wl,-x"], ["-Wp,-MD,/x"], ["-Wa,-x"], ["-x", "c++-header"], ["--sysroot=/x"],
        ["--sysroot", "/x"], ["-mllvm", "-load=/evil.so"], ["-include", "/etc/passwd"], ["-include", "../x"],
        ["-include-pch", "x"], ["-imacros", "/x"], ["-include/etc/passwd"], ["-save-temps=obj"], ["-dumpdir", "/x"],
        ["--config=/x"], ["-fsyntax-only=\0"], ["-I", "a\0b"], ["-no-canonical-prefixes"],
    ],
    ids=lambda flags: repr(" ".join(flags)),
)  # fmt: skip
def test_what_runs_loads_or_writes_is_left_out_and_said(tmp_path: Path, flags: list[str]) -> None:
    kept, line = let_in(tmp_path, "-DA", *flags, "-DB")
    assert kept == ("-DA", "-DB")
    assert line.startswith("compile_commands.json: 1 compiler flag is left out")
    assert "\0" not in line
    assert line.endswith(ascii(" ".join(flags))[1:-1]) or flags[0] in line


def test_flags_left_out_are_counted_with_the_commonest_as_example(tmp_path: Path) -> None:
    _, line = let_in(tmp_path, "-fplugin=a", "-fplugin=b\n", "-fplugin=b\n")
    assert line.startswith("compile_commands.json: 2 compiler flags are left out")
    assert line.endswith(r"-fplugin=b\n")


def test_a_header_is_included_from_the_tree_alone_and_never_precompiled(tmp_path: Path) -> None:
    (tmp_path / "x.h").write_text("")
    (tmp_path / "link.h").symlink_to("/etc/passwd")
    assert let_in(tmp_path, "-include", "x.h")[0] == ("-include", f"{tmp_path}/x.h")
    assert let_in(tmp_path, "-include", "link.h")[0] == ()
    for name in ("x.h.gch", "x.h.pch"):
        (tmp_path / name).write_text("")
        assert let_in(tmp_path, "-include", "x.h")[0] == ()
        (tmp_path / name).unlink()


@given(st.lists(st.text(alphabet="-fplugmBxD=/@.,aW \0", max_size=10) | st.sampled_from(["-include", "-I", "-o"])))
def test_only_flags_of_the_list_come_through(arguments: list[str]) -> None:
    kept = list(_allowed_flags(arguments, "/tree", Path("/tree"), Counter()))
    for before, flag in zip(["", *kept], kept, strict=False):
        value = before in ("-isystem", "-iquote", "-idirafter", "-include")
        assert value or flag in ("-isystem", "-iquote", "-idirafter", "-include") or _ALLOWED.fullmatch(flag) or (
            flag.startswith(("-I/", "-D", "-U"))
        )  # fmt: skip
        assert "\0" not in flag


@pytest.mark.parametrize("text", ["{}x", "[1]", '[{"file": "a"}]', "[" * 100_000, '{"a": 1}', '[{"directory": 1}]'])
def test_a_damaged_database_is_named(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    with pytest.raises(SymfixError, match=r"compile_commands\.json: not (a compilation database|JSON)"):
        compile_flags(tmp_path)


@needs_gcc
def test_a_precompiled_header_beside_a_source_is_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "g++")
    (tmp_path / "a.cpp").write_text("#define OWN\n")
    (tmp_path / "evil.h").write_text("int evil;\n")
    flags = ["-w", "-fmax-errors=1"]
    subprocess.run(["g++", *flags, "-x", "c++-header", "evil.h", "-o", "a.cpp.gch"], cwd=tmp_path, check=True)
    unit = Unit(f'\n#include "{tmp_path}/a.cpp"\n#ifndef OWN\n#error "another file was read"\n#endif\n')
    assert find_compiler(tmp_path / "kept").check(unit) is None
