"""`apply`, `bundle` and `pr` as one story: what was written, by apply or by hand, is taken and not done twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Symfix
from tests.test_cli_bundle_tests import FILES, Git, keep, knowing, tree

__all__ = ["knowing", "tree"]  # fixtures


@pytest.fixture
def expected(tree: Path, knowing: Symfix, git: Git) -> bytes:
    """The tree of the commit that bundle makes of foo where nothing was applied before."""
    keep(tree, "foo", "a.cc")
    knowing("bundle", "--op", "foo", cwd=tree)
    held = git("rev-parse", "symfix/foo^{tree}", cwd=tree)
    git("branch", "-qD", "symfix/foo", cwd=tree)
    return held


def test_apply_says_what_bundle_would_add(tree: Path, knowing: Symfix) -> None:
    keep(tree, "foo", "a.cc")
    err = knowing("apply", "--op", "foo", cwd=tree).err.splitlines()
    left = "2 expected failures that no longer fail (test/marker, test/x.txt)"
    assert err[-2:] == [
        "symfix: see it with git diff",
        f"symfix: left out: {left}; symfix bundle takes what was written, and adds them",
    ]


def test_without_evidence_apply_names_the_next_command(tree: Path, knowing: Symfix) -> None:
    assert knowing("apply", "--op", "foo", cwd=tree).err.splitlines()[-1] == (
        "symfix: symfix bundle takes it from here; what symfix prove shows before goes with it"
    )


def test_bundle_takes_what_was_applied(tree: Path, knowing: Symfix, git: Git, expected: bytes) -> None:
    knowing("apply", "--op", "foo", cwd=tree)
    before = git("diff", cwd=tree)
    code, _, err = knowing("bundle", cwd=tree)
    assert code == 1
    kept = "the work tree keeps it until you undo it with git restore a.cc"
    assert f"symfix: takes what symfix apply wrote; {kept}\n" in err
    assert git("rev-parse", "symfix/foo^{tree}", cwd=tree) == expected
    assert git("rev-parse", "symfix/foo^", cwd=tree) == git("rev-parse", "HEAD", cwd=tree)
    assert git("diff", cwd=tree) == before
    assert git("branch", "--list", "symfix/*", cwd=tree).split() == [b"symfix/foo"]


def test_pr_takes_what_was_committed_by_hand(tree: Path, knowing: Symfix, git: Git, expected: bytes) -> None:
    knowing("apply", "--op", "foo", cwd=tree)
    base = git("rev-parse", "HEAD", cwd=tree)
    git("commit", "-qam", "mine", cwd=tree)
    code, out, err = knowing("pr", "--op", "foo", cwd=tree)
    assert code == 1
    assert out.startswith(b"[dynamic shapes] foo no longer throws with symbolic sizes\n")
    assert b"### Expected failures removed" in out
    assert "symfix: takes what symfix apply wrote, as it is committed on " in err
    knowing("bundle", "--op", "foo", cwd=tree)
    assert git("rev-parse", "symfix/foo^", cwd=tree) == base
    assert git("rev-parse", "symfix/foo^{tree}", cwd=tree) == expected


def test_what_else_there_is_to_do_is_done_as_ever(tree: Path, knowing: Symfix, git: Git) -> None:
    knowing("apply", "--op", "foo", cwd=tree)
    git("commit", "-qam", "mine", cwd=tree)
    err = knowing("bundle", cwd=tree).err
    assert "takes what" not in err
    assert git("branch", "--list", "symfix/*", cwd=tree).split() == [b"symfix/bar"]
    assert git("rev-parse", "symfix/bar^", cwd=tree) == git("rev-parse", "HEAD", cwd=tree)


@pytest.mark.parametrize("path", ["a.cc", "b.cc"])
def test_what_was_changed_by_hand_since_is_not_taken(tree: Path, knowing: Symfix, path: str) -> None:
    knowing("apply", "--op", "foo", cwd=tree)
    (tree / path).write_bytes(b"mine\n" + FILES[path])
    code, _, err = knowing("bundle", cwd=tree)
    assert code == 2
    assert "a.cc" in err
    assert "not committed" in err


def test_acceptances_that_a_changed_file_outdates_are_said(tree: Path, knowing: Symfix) -> None:
    knowing("review", "--accept", "op:*", cwd=tree)
    (tree / "a.cc").write_bytes(FILES["a.cc"] + b"more\n")
    err = knowing("diff", "--accepted", cwd=tree).err
    assert "symfix: 1 acceptance is stale, for a.cc changed since; symfix review asks again\n" in err
    assert "stale" not in knowing("diff", "--op", "bar", "--accepted", cwd=tree).err


def test_a_repository_without_a_commit_keeps_no_note(tmp_path: Path, symfix: Symfix, git: Git) -> None:
    tree = tmp_path / "unborn"
    tree.mkdir()
    git("init", "-q", ".", cwd=tree)
    (tree / "a.cc").write_bytes(FILES["a.cc"])
    code, _, err = symfix("apply", "--allow-dirty", cwd=tree)
    assert code == 1
    assert "git failed" not in err
    assert (tree / "a.cc").read_bytes() != FILES["a.cc"]
