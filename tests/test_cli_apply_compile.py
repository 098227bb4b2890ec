"""What `symfix apply` has a compiler check: what is left out, what is said, what is kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from codemod.model import transform
from codemod.model.transform import Project
from tests.conftest import MakeTree, Symfix
from tests.test_cli_bundle_compile import BAD, GOOD, HEADER, Compiling, FakeProver, compiled, without_torch

__all__ = ["compiled", "without_torch"]

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")

Apply = Callable[..., tuple[int, list[str]]]
NEXT = [
    "symfix: see it with git diff",
    "symfix: symfix bundle takes it from here; what symfix prove shows before goes with it",
]


@pytest.fixture
def apply(
    symfix: Symfix,
    compiled: Path,
    with_torch: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make_tree: MakeTree,
) -> Apply:
    """Run `symfix apply` on a tree of `files`, over torch 2.6.0; its exit code and what it says."""
    monkeypatch.setattr(transform, "load_transforms", lambda: [Compiling()])

    def run(files: Mapping[str, bytes], *options: object) -> tuple[int, list[str]]:
        if not (tmp_path / "tree").exists():
            make_tree({"lib.h": HEADER, **files})
        code, out, err = symfix("apply", *options, cwd=tmp_path / "tree")
        assert out == b""
        return code, err.splitlines()

    return run


def tree(tmp_path: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (tmp_path / "tree").glob("*.cc")}


def test_a_file_that_stops_compiling_is_not_written(apply: Apply, tmp_path: Path) -> None:
    code, said = apply({"a.cc": GOOD, "b.cc": BAD})
    assert code == 2
    assert said[0] == "symfix: 1 changed source compiled over torch 2.6.0"
    assert said[1].startswith("symfix: b.cc:2: left alone with its 1 site, as it would not compile: b.cc:2: ")
    assert said[1].endswith(" (the edit at b.cc:2, line 2 once applied)")
    assert said[2:] == ["symfix: rewrote 1 site in 1 file", *NEXT]
    assert tree(tmp_path) == {"a.cc": GOOD.replace(b"size", b"sym_size"), "b.cc": BAD}


def test_where_nothing_compiles_any_more_nothing_is_written(apply: Apply, tmp_path: Path) -> None:
    code, said = apply({"b.cc": BAD})
    assert code == 2
    assert said[1:] == ["symfix: nothing to change at --level safe"]
    assert tree(tmp_path) == {"b.cc": BAD}


def test_of_a_file_only_the_change_that_breaks_it_goes(apply: Apply, tmp_path: Path) -> None:
    both = GOOD + b"\n" * 20 + BAD.partition(b"\n")[2]
    code, said = apply({"a.cc": both})
    assert (code, len(said)) == (2, 5)
    assert said[1].startswith("symfix: a.cc:23: left alone with its 1 site, as it would not compile: a.cc:23: ")
    assert tree(tmp_path)["a.cc"] == both.replace(b"return size", b"return sym_size")


def test_a_group_goes_whole(apply: Apply, tmp_path: Path) -> None:
    files = {"a.cc": GOOD.replace(b"// ", b"// @both "), "b.cc": BAD.replace(b"// ", b"// @both ")}
    code, said = apply(files)
    assert code == 2
    assert said[0].startswith("symfix: a.cc:2: left alone with its 2 sites, as it would not compile: b.cc:2: ")
    assert tree(tmp_path) == files


def test_an_error_without_a_place_in_a_change_takes_all_of_the_file(apply: Apply, tmp_path: Path) -> None:
    source = b'#include "lib.h"\n#define NEVER static_assert(sym_size == 1, "")\n#line 1 "elsewhere"\n'
    source += b'static_assert(size == 1, ""); // op:add\nint one() { return size; } // op:mul\n'
    code, said = apply({"a.cc": source})
    assert code == 2
    assert [line.partition(": left alone")[0] for line in said[:2]] == ["symfix: a.cc:4", "symfix: a.cc:5"]
    assert tree(tmp_path) == {"a.cc": source}


def test_without_the_check_all_is_written(apply: Apply, compiled: Path, tmp_path: Path) -> None:
    assert apply({"b.cc": BAD}, "--no-check") == (1, ["symfix: rewrote 1 site in 1 file", *NEXT])
    assert compiled.read_text() == ""


def test_a_dry_run_compiles_nothing(symfix: Symfix, apply: Apply, compiled: Path, tmp_path: Path) -> None:
    apply({"b.cc": BAD}, "--no-check", "--op", "none")
    for command in (("diff",), ("apply", "--dry-run")):
        code, out, _ = symfix(*command, cwd=tmp_path / "tree")
        assert (code, b"+int two(Part part) { return part.sym_size; }" in out) == (1, True)
    assert compiled.read_text() == ""


def test_what_compiled_is_not_compiled_again(
    apply: Apply, compiled: Path, git: Callable[..., bytes], tmp_path: Path
) -> None:
    apply({"a.cc": GOOD})
    assert compiled.read_text() == "run\n"  # what compiles after the change needs no look before it
    git("checkout", "-q", ".", cwd=tmp_path / "tree")
    assert apply({})[1][0] == "symfix: 1 changed source compiled over torch 2.6.0"
    assert compiled.read_text() == "run\n"


def test_what_did_not_compile_before_is_written_and_said(apply: Apply, tmp_path: Path) -> None:
    code, said = apply({"b.cc": BAD + b"int three = absent;\n"})
    assert code == 1
    assert said[0].startswith(
        "symfix: 1 source could not be checked over torch 2.6.0: b.cc did not compile before: b.cc:3: "
    )
    assert b"sym_size" in tree(tmp_path)["b.cc"]


def test_sources_of_another_version_are_not_compiled(
    apply: Apply, compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Newer(FakeProver):
        version = "2.7.1"

    class Versioned(Compiling):
        def prover(self, project: Project, scratch: Path) -> FakeProver:
            return Newer()

    monkeypatch.setattr(transform, "load_transforms", lambda: [Versioned()])
    code, said = apply({"a.cc": GOOD, "b.cc": BAD})
    assert code == 1
    assert said[0] == "symfix: 2 sources could not be checked over torch 2.6.0: a.cc is of version 2.7.1"
    assert compiled.read_text() == ""


def test_without_torch_it_is_said_once(apply: Apply, without_torch: Path) -> None:
    code, said = apply({"a.cc": GOOD, "b.cc": BAD})
    reason = "torch is not installed there; name an interpreter that has it with --python"
    assert (code, said[0]) == (1, f"symfix: compiling was not checked: {without_torch}: {reason}")


def test_without_a_compiler_it_is_said_once(apply: Apply, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", str(tmp_path / "absent"))
    code, said = apply({"a.cc": GOOD, "b.cc": BAD})
    assert code == 1
    assert said[0].startswith("symfix: compiling was not checked: $CXX: ")
