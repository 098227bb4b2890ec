"""The part of `symfix bundle`'s proof that a compiler gives: what is refused, what is said, what is kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import pytest

from codemod.model import transform
from codemod.model.edits import Edit
from codemod.model.findings import Finding
from codemod.model.transform import Override, Project
from codemod.prove.compiler import find_compiler
from codemod.prove.evidence import FOLDER, Evidence, EvidenceStore, evidence_key
from codemod.writing.changes import Change
from tests.codemod.fake import FakeTransform
from tests.conftest import MakeTree, Symfix

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")

Git = Callable[..., bytes]

HEADER = b"#pragma once\nenum Which { size = 1, sym_size = 2 };\nstruct Part { int size; };\n"
GOOD = b'#include "lib.h"\nint one() { return size; } // op:add\n'
BAD = b'#include "lib.h"\nint two(Part part) { return part.size; } // op:mul\n'
VERSION = b'#define TORCH_VERSION \\\n  "2.6.0"\n'


class FakeProver:
    """Every source is compiled by itself."""

    version = ""
    include = ("",)
    flags = ()
    definitions: Mapping[str, str] = {}
    prelude = ""

    def overrides(self, findings: Sequence[Finding]) -> Sequence[Override]:
        """None: nothing is run."""
        return ()

    def checked(self, paths: Sequence[str], built: Collection[str]) -> Sequence[str]:
        """The sources among `paths`."""
        return [path for path in paths if path.endswith(".cc")]


class Compiling(FakeTransform):
    """The fake transform, and a prover."""

    def prover(self, project: Project, scratch: Path) -> FakeProver:
        """The prover."""
        return FakeProver()


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a line for each run of the compiler that `symfix` finds; torch's headers are in `headers`."""
    calls = tmp_path / "calls"
    script = tmp_path / "cxx"
    script.write_text(f'#!/bin/sh\ncase "$*" in *-fsyntax-only*) echo run >> {calls};; esac\nexec g++ "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    version = tmp_path / "headers/torch/headeronly/version.h"
    version.parent.mkdir(parents=True)
    version.write_bytes(VERSION)
    calls.touch()
    return calls


@pytest.fixture
def bundle(
    symfix: Symfix, compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_tree: MakeTree
) -> Callable[..., tuple[int, list[str]]]:
    """Run `symfix bundle` on a tree of `files`, made when first asked for; its exit code and what it says."""
    monkeypatch.setattr(transform, "load_transforms", lambda: [Compiling()])
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")

    def run(files: Mapping[str, bytes], *options: object, headers: bool = True) -> tuple[int, list[str]]:
        tree = tmp_path / "tree"
        if not tree.exists():
            make_tree({"lib.h": HEADER, **files})
        include = ("--include", tmp_path / "headers") if headers else ()
        code, _, err = symfix("bundle", *include, *options, cwd=tree)
        return code, err.splitlines()

    return run


Bundle = Callable[..., tuple[int, list[str]]]


def branches(git: Git, tmp_path: Path) -> list[str]:
    listed = git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/symfix", cwd=tmp_path / "tree")
    return listed.decode().split()


def test_a_shard_that_does_not_compile_is_refused_by_name(bundle: Bundle, git: Git, tmp_path: Path) -> None:
    code, (said,) = bundle({"a.cc": GOOD, "b.cc": BAD})
    assert code == 2
    assert said.startswith("symfix: the shard mul alone does not compile: b.cc:2: ")
    assert "sym_size" in said
    assert said.endswith(" (the edit at b.cc:2, line 2 once applied); compiled over torch 2.6.0, nothing was made")
    assert branches(git, tmp_path) == []


def test_pr_pushes_nothing_that_does_not_compile(bundle: Bundle, symfix: Symfix, git: Git, tmp_path: Path) -> None:
    bundle({"b.cc": BAD}, "--dry-run")
    tree, origin = tmp_path / "tree", tmp_path / "origin.git"
    git("init", "-q", "--bare", str(origin), cwd=tmp_path)
    git("remote", "add", "origin", str(origin), cwd=tree)
    code, _, err = symfix("pr", "--create", "--include", tmp_path / "headers", cwd=tree)
    assert code == 2
    assert err.startswith("symfix: the shard mul alone does not compile: b.cc:2: ")
    assert git("for-each-ref", cwd=origin) == b""
    assert branches(git, tmp_path) == []


def test_what_compiles_is_counted_and_kept(bundle: Bundle, compiled: Path, git: Git, tmp_path: Path) -> None:
    done = "symfix: 1 changed source compiled over torch 2.6.0, before and after"
    assert bundle({"a.cc": GOOD}) == (1, [done, "symfix: 1 made"])
    assert compiled.read_text() == "run\nrun\n"
    assert branches(git, tmp_path) == ["add"]
    assert bundle({"a.cc": GOOD}) == (1, [done, "symfix: 1 kept"])
    assert compiled.read_text() == "run\nrun\n"


def test_the_plan_alone_compiles_nothing(bundle: Bundle, compiled: Path) -> None:
    assert bundle({"b.cc": BAD}, "--dry-run") == (1, [])
    assert compiled.read_text() == ""


@pytest.mark.parametrize("gap", [0, 12])
def test_a_stacked_shard_is_compiled_on_its_base(bundle: Bundle, git: Git, tmp_path: Path, gap: int) -> None:
    # Alone, the second shard makes `limit` less than `value`; lines that touch put it above the first.
    limit, value = b"constexpr int limit = size; // op:one\n", b'static_assert(limit >= size, ""); // op:two\n'
    code, said = bundle({"a.cc": b'#include "lib.h"\n' + limit + b"\n" * gap + value})
    if gap:
        assert (code, branches(git, tmp_path)) == (2, [])
        assert said[0].startswith("symfix: the shard two alone does not compile: a.cc:15: ")
    else:
        assert (code, branches(git, tmp_path)) == (1, ["one", "two"])
        assert said[0] == "symfix: 2 changed sources compiled over torch 2.6.0, before and after"


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize(("needs", "alone"), [(b"limit + size <= 3", True), (b"limit >= size", False)])
def test_what_was_applied_is_compiled_on_the_commit_and_not_on_what_apply_left(
    bundle: Bundle, symfix: Symfix, git: Git, tmp_path: Path, needs: bytes, alone: bool, committed: bool
) -> None:
    value = b'#include "a.cc"\nstatic_assert(' + needs + b', ""); // op:two\n'
    bundle({"a.cc": b'#include "lib.h"\nconstexpr int limit = size; // op:one\n', "b.cc": value}, "--dry-run")
    tree = tmp_path / "tree"
    symfix("apply", "--no-check", cwd=tree)
    if committed:
        git("commit", "-qam", "applied", cwd=tree)
    code, said = bundle({}, "--op", "two")
    assert (code, branches(git, tmp_path)) == ((1, ["two"]) if alone else (2, []))
    assert said[0].startswith("symfix: takes what symfix apply wrote")
    assert said[1].startswith(
        "symfix: 1 changed source compiled" if alone else "symfix: the shard two alone does not compile: b.cc:2: "
    )


def test_what_did_not_compile_before_is_said_and_not_counted(bundle: Bundle) -> None:
    code, said = bundle({"a.cc": GOOD, "b.cc": BAD + b"int three = absent;\n"})
    assert code == 1
    assert said[0].startswith(
        "symfix: 1 source could not be checked over torch 2.6.0: b.cc did not compile before: b.cc:3: "
    )
    assert said[1:] == ["symfix: 1 changed source compiled over torch 2.6.0, before and after", "symfix: 2 made"]


def test_what_prove_compiled_is_not_compiled_again(bundle: Bundle, compiled: Path, tmp_path: Path) -> None:
    bundle({"a.cc": GOOD}, "--dry-run")
    start = GOOD.index(b"size")
    edit = Edit("a.cc", start, start + 4, b"size", b"sym_size")
    key = evidence_key([Change("a.cc", GOOD, GOOD.replace(b"size", b"sym_size"), (edit,))])
    store = EvidenceStore(tmp_path / "tree/.git/symfix" / FOLDER)
    version = find_compiler(tmp_path).version
    for torch in ("2.5.0", "2.6.0"):
        versions = {"torch": torch, "compiler": version}
        store.save(Evidence("add", "unchanged", key, versions=versions, compiled=("a.cc",)))
    code, said = bundle({})
    assert (code, compiled.read_text()) == (1, "")
    assert said[-2] == (
        "symfix: 1 changed source compiled over torch 2.6.0, before and after, 1 of them known from symfix prove"
    )


@pytest.fixture
def without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An interpreter without torch, that of the active virtual environment."""
    python = tmp_path / "environment/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho \'["3.11.2", "/nonexistent", null, []]\'\n')
    python.chmod(0o755)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "environment"))
    return python


def test_without_torch_it_is_said_once_and_branches_are_made(bundle: Bundle, without_torch: Path) -> None:
    code, said = bundle({"a.cc": GOOD, "b.cc": BAD}, headers=False)
    reason = "torch is not installed there; name an interpreter that has it with --python"
    assert (code, said) == (1, [f"symfix: compiling was not checked: {without_torch}: {reason}", "symfix: 2 made"])


def test_an_interpreter_that_is_named_has_to_have_torch(bundle: Bundle, without_torch: Path) -> None:
    code, said = bundle({"a.cc": GOOD}, "--python", without_torch)
    assert (code, len(said)) == (2, 1)
    assert said[0].startswith(f"symfix: {without_torch}: torch is not installed there")


def test_without_a_compiler_it_is_said_once_and_branches_are_made(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CXX", str(tmp_path / "absent"))
    code, said = bundle({"a.cc": GOOD, "b.cc": BAD})
    assert code == 1
    assert said[0].startswith("symfix: compiling was not checked: $CXX: ")
    assert said[1:] == ["symfix: 2 made"]
