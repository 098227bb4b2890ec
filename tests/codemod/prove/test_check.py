"""Type-checking shards with a real compiler, on sources that need no torch."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from codemod.errors import SymfixError
from codemod.model.edits import Edit, apply_edits
from codemod.model.transform import Override, Part
from codemod.prove.build import build, sides
from codemod.prove.check import Checked, check
from codemod.prove.compiler import Diagnostic, Unit, find_compiler, first_error, forget_old
from codemod.prove.target import Target
from codemod.prove.task import Settings, Task
from codemod.writing.changes import Change

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")

HEADER = b"#pragma once\ninline int twice(int n) { return 2 * n; }\n"
SOURCE = b'#include "lib.h"\n\nint first(int n) {\n  return twice(n);\n}\n\nint second(int n) {\n  return n;\n}\n'


def change(path: str, old: bytes, *replaced: tuple[bytes, bytes]) -> Change:
    edits = []
    for before, after in replaced:
        start = old.index(before)
        edits.append(Edit(path, start, start + len(before), before, after))
    return Change(path, old, apply_edits(old, edits), tuple(sorted(edits)))


@pytest.fixture
def checked(tmp_path: Path) -> Callable[..., Checked]:
    """The result of `check` for changes of a tree of a header and a source."""
    root = tmp_path / "tree"
    root.mkdir()
    (root / "lib.h").write_bytes(HEADER)
    (root / "a.cpp").write_bytes(SOURCE)

    def run(*changes: Change, sources: tuple[str, ...] = ("a.cpp",), source: bytes = SOURCE) -> Checked:
        (root / "a.cpp").write_bytes(source)
        settings = make_settings(root, tmp_path / "kept")
        before, after = sides(settings, changes)
        return check(settings, Task("s", "k", changes, (), sources), before, after)

    return run


def make_settings(root: Path, kept: Path) -> Settings:
    target = Target("python3", "3.11.2", "/nonexistent", str(root / "torch"), "2.13.0", True, "c++17")
    return Settings(root, kept, target, find_compiler(kept / "builds"), "", include=("",))


def test_a_source_that_compiles_before_and_after(checked: Callable[..., Checked]) -> None:
    assert checked(change("a.cpp", SOURCE, (b"return n", b"return 2 * n"))) == Checked(("a.cpp",))


def test_an_error_is_placed_on_the_edit_that_caused_it(checked: Callable[..., Checked]) -> None:
    found = checked(change("a.cpp", SOURCE, (b"twice(n)", b"twice(\n    n)"), (b"return n;", b"return none;")))
    assert not found.compiled
    assert found.broken.startswith("does not compile: a.cpp:9: ")
    assert "none" in found.broken
    assert found.broken.endswith("(the edit at a.cpp:8, line 9 once applied)")


def test_an_error_in_a_user_of_a_changed_header_is_placed_on_the_header(checked: Callable[..., Checked]) -> None:
    found = checked(change("lib.h", HEADER, (b"int n)", b"int* n)"), (b"2 * n", b"2 * *n")))
    assert found.broken.startswith("does not compile: a.cpp:4: ")
    assert found.broken.endswith("(the edit at lib.h:2, line 2 once applied)")


def test_what_did_not_compile_before_is_said_and_not_counted(checked: Callable[..., Checked]) -> None:
    broken = SOURCE.replace(b"twice(n)", b"thrice(n)")
    found = checked(change("a.cpp", broken, (b"return n", b"return 2 * n")), source=broken)
    assert (found.compiled, found.broken) == ((), "")
    assert found.reason.startswith("a.cpp did not compile before: a.cpp:4: ")


def test_builds_are_kept_until_something_they_rest_on_changes(tmp_path: Path) -> None:
    (tmp_path / "lib.h").write_bytes(HEADER)
    compiler = find_compiler(tmp_path / "kept")
    unit = Unit('#include "lib.h"\nint four() { return twice(2); }\n', (f"-I{tmp_path}",))
    made = compiler.compile(unit)
    assert isinstance(made, Path)
    stamp = made.stat().st_ino
    assert compiler.compile(unit) == made
    assert made.stat().st_ino == stamp
    (tmp_path / "lib.h").write_bytes(HEADER + b"#error stop\n")
    assert str(compiler.compile(unit)) == f"{tmp_path}/lib.h:3: #error stop"
    (tmp_path / "lib.h").write_bytes(HEADER)
    assert isinstance(compiler.compile(unit), Path)


@pytest.mark.parametrize("line", ["#include <absent.h>", "int one = absent;", "#error stop"])
def test_an_error_is_kept_until_something_it_rests_on_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    calls = tmp_path / "calls"
    script = tmp_path / "cxx"
    script.write_text(f'#!/bin/sh\necho "$*" >> {calls}\nexec g++ "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    (tmp_path / "lib.h").write_text(f"{line}\n")
    compiler = find_compiler(tmp_path / "kept")
    unit = Unit('#include "lib.h"\n', (f"-I{tmp_path}", f"-I{tmp_path}/more"))
    error = compiler.check(unit)
    assert error is not None
    assert error.places[0] == (f"{tmp_path}/lib.h", 1)
    runs = calls.read_text()
    assert compiler.check(unit) == error
    assert calls.read_text() == runs
    if "absent.h" in line:
        (tmp_path / "more").mkdir()
        (tmp_path / "more/absent.h").touch()
    else:
        (tmp_path / "lib.h").write_text("int one;\n")
    assert compiler.check(unit) is None


def test_a_part_that_is_not_needed_is_left_out_where_it_does_not_compile(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_bytes(b"int a() { return 1; }\n")
    (tmp_path / "b.cpp").write_bytes(b"#include <nowhere.h>\n")
    settings = make_settings(tmp_path, tmp_path / "kept")
    before, _ = sides(settings, ())
    assert settings.compiler is not None
    # Without torch there is nothing to link with: that is the linker's error, not the source's.
    wanted = Override(("x::a",), parts=(Part("a.cpp"), Part("b.cpp", required=False)))
    assert "nowhere.h" not in str(build(before, wanted, settings.compiler))
    needed = build(before, Override(("x::a",), parts=(Part("a.cpp"), Part("b.cpp"))), settings.compiler)
    assert isinstance(needed, Diagnostic)
    assert needed.places[0] == (str(tmp_path / "b.cpp"), 1)


def test_the_compiler_is_that_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "g++ -fno-exceptions")
    assert find_compiler(tmp_path).command == ("g++", "-fno-exceptions")
    monkeypatch.setenv("CXX", str(tmp_path / "absent"))
    with pytest.raises(SymfixError, match=r"\$CXX: .*absent: cannot be run"):
        find_compiler(tmp_path)


def test_what_a_compiler_leaves_in_its_temporary_folder_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, temporary = tmp_path / "c++", tmp_path / "temporary"
    program.write_text(f'#!/bin/sh\ntouch "$TMPDIR/left"; echo "$TMPDIR" >> {tmp_path}/seen; exec g++ "$@"\n')
    program.chmod(0o755)
    temporary.mkdir()
    monkeypatch.setenv("CXX", str(program))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    compiler = find_compiler(tmp_path / "kept")
    (tmp_path / "seen").unlink()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert compiler.check(Unit("int x;")) is None
    assert (tmp_path / "seen").read_text().startswith(f"{temporary}/")
    assert list(temporary.iterdir()) == []


def test_without_a_compiler_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SymfixError, match="there is no C\\+\\+ compiler"):
        find_compiler(tmp_path)


def test_the_unit_itself_is_no_place_of_an_error() -> None:
    output = (
        "In file included from /kept/unit.cpp:2:\n/tree/a.cpp: In function 'int f()':\n"
        "/tree/a.cpp:7:3: error: 'x' was not declared in this scope\n"
    )
    assert first_error(output, "/kept/unit.cpp") == Diagnostic(
        "'x' was not declared in this scope", (("/tree/a.cpp", 7),)
    )


def test_a_compiler_that_fails_itself_says_nothing_of_the_source(
    checked: Callable[..., Checked], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = "g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n"
    message = "g++: fatal error: Killed signal terminated program cc1plus"
    assert first_error(output, "/kept/unit.cpp") == Diagnostic(message, of_source=False)
    assert first_error("killed\n", "/kept/unit.cpp") == Diagnostic("killed", of_source=False)
    script = tmp_path / "cxx"
    after = f'case "$*" in *{tmp_path}/kept/trees*) echo "{message}" >&2; exit 1;; esac'
    script.write_text(f'#!/bin/sh\n{after}\nexec g++ "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    found = checked(change("a.cpp", SOURCE, (b"return n", b"return none")))
    assert (found.compiled, found.broken) == ((), "")
    assert found.reason == f"a.cpp could not be compiled after: {message}"


def test_what_was_not_used_for_longest_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.setattr("codemod.prove.compiler._CACHE_BYTES", 25)
    for age, name in enumerate(("new", "old", "older")):
        (tmp_path / name).write_bytes(b"x" * 10)
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    forget_old(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "old"]
    forget_old(tmp_path / "absent")
