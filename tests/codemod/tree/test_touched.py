"""`--since`: which lines a change touches, as git tells it, whatever the names and the state of the files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemod.errors import SymfixError
from codemod.model.findings import Finding, Level, Mode
from codemod.tree.checkout import find_checkout
from codemod.tree.touched import touched_lines, touched_since
from tests.conftest import MakeTree

Git = Callable[..., bytes]

OLD = b"".join(b"line %d\n" % n for n in range(1, 11))


def finding(path: str, start: int, end: int) -> Finding:
    return Finding(path, start, end, 1, 1, Mode.LEAK, "r", Level.SAFE, "f", (), "m")


def test_what_is_not_touched_is_not_judged(make_tree: MakeTree) -> None:
    tree = make_tree({"a.cc": OLD})
    assert touched_since(find_checkout(tree), "HEAD").lines == {}


def test_committed_staged_and_other_changes_count_from_the_merge_base(make_tree: MakeTree, git: Git) -> None:
    tree = make_tree({"a.cc": OLD, "b.cc": OLD, "c.cc": OLD, "old name.cc": OLD, "theirs.cc": OLD})
    git("checkout", "-q", "-b", "change", cwd=tree)
    (tree / "a.cc").write_bytes(OLD.replace(b"line 3\n", b"changed\nand more\n"))
    git("mv", "old name.cc", 'new "näme"\t.cc', cwd=tree)
    (tree / 'new "näme"\t.cc').write_bytes(OLD + b"appended")
    git("add", "-A", cwd=tree)
    git("commit", "-q", "-m", "change", cwd=tree)
    git("checkout", "-q", "-b", "onward", "HEAD~", cwd=tree)
    (tree / "theirs.cc").write_bytes(b"all\nnew\n")
    git("commit", "-q", "-a", "-m", "theirs", cwd=tree)
    git("checkout", "-q", "change", cwd=tree)
    (tree / "b.cc").write_bytes(b"++ first\n-- second\n" + OLD)
    git("add", "b.cc", cwd=tree)
    (tree / "c.cc").write_bytes(OLD.replace(b"line 5\nline 6\n", b""))
    (tree / "sub").mkdir()
    (tree / "sub/d e.cc").write_bytes(b"one\ntwo")
    touched = touched_since(find_checkout(tree), "onward")
    assert touched.new == {"sub/d e.cc"}
    assert touched.holds(finding("sub/d e.cc", 4, 5))
    assert touched.lines == {
        "a.cc": ((3, 4),),
        "b.cc": ((1, 2),),
        "c.cc": ((5, 5),),
        'new "näme"\t.cc': ((11, 11),),
    }


@pytest.mark.parametrize("revision", ["HEAD", "@"])
def test_before_the_first_commit_all_is_new(tmp_path: Path, git: Git, revision: str) -> None:
    git("init", "-q", cwd=tmp_path)
    (tmp_path / "staged.cc").write_bytes(OLD)
    git("add", "-A", cwd=tmp_path)
    (tmp_path / "other.cc").write_bytes(OLD)
    touched = touched_since(find_checkout(tmp_path), revision)
    assert touched.new == {"staged.cc", "other.cc"}
    assert touched.holds(finding("staged.cc", 4, 5))
    with pytest.raises(SymfixError, match=r"--since main: .* has no such commit; fetch it first"):
        touched_since(find_checkout(tmp_path), "main")


def test_a_finding_is_touched_by_the_lines_it_stands_on(make_tree: MakeTree) -> None:
    tree = make_tree({"a.cc": OLD})
    (tree / "a.cc").write_bytes(OLD.replace(b"line 3\n", b"LINE 3\n"))
    touched = touched_since(find_checkout(tree), "HEAD")
    assert touched.holds(finding("a.cc", 14, 15))
    assert touched.holds(finding("a.cc", 20, 20))
    assert touched.holds(finding("a.cc", 8, 30))
    assert not touched.holds(finding("a.cc", 7, 14))
    assert not touched.holds(finding("a.cc", 21, 22))
    assert not touched.holds(finding("b.cc", 14, 15))


def test_settings_of_the_user_do_not_matter(make_tree: MakeTree, git: Git) -> None:
    tree = make_tree({"ä b.cc": OLD})
    for name, value in (("noprefix", "true"), ("mnemonicPrefix", "true"), ("external", "false"), ("context", "5")):
        git("config", f"diff.{name}", value, cwd=tree)
    git("config", "color.ui", "always", cwd=tree)
    (tree / "ä b.cc").write_bytes(OLD.replace(b"line 3", b"LINE 3").replace(b"line 5", b"\0 5"))
    assert touched_since(find_checkout(tree), "HEAD").lines == {"ä b.cc": ((3, 3), (5, 5))}


LINES = st.lists(st.sampled_from([b"a", b"b", b"++ b/x", b"-- a/x", b"@@ -1 +1 @@", b""]), max_size=12)


@given(LINES, LINES)
def test_every_line_outside_the_ranges_is_an_old_one(old: list[bytes], new: list[bytes]) -> None:
    import difflib

    patch = b"diff --git a/f b/f\n--- a/f\n+++ b/f\n"
    for tag, i, j, m, n in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            head = (i + 1 if j > i else i, j - i, m + 1 if n > m else m, n - m)
            patch += b"@@ -%d,%d +%d,%d @@\n" % head
            patch += b"".join(b"-" + line + b"\n" for line in old[i:j])
            patch += b"".join(b"+" + line + b"\n" for line in new[m:n])
    ranges = touched_lines(patch).get("f", ())
    kept = [line for number, line in enumerate(new, 1) if not any(a <= number <= b for a, b in ranges)]
    rest = iter(old)
    assert all(line in rest for line in kept)
    assert set(touched_lines(patch)) <= {"f"}


def test_what_git_cannot_tell_is_one_clear_error(make_tree: MakeTree, git: Git, tmp_path: Path) -> None:
    tree = make_tree({"a.cc": OLD})
    with pytest.raises(SymfixError, match=r"--since origin/main: .* has no such commit; fetch it first"):
        touched_since(find_checkout(tree), "origin/main")
    with pytest.raises(SymfixError, match="has no such commit"):
        touched_since(find_checkout(tree), "--output=x")
    git("branch", "start", cwd=tree)
    git("checkout", "-q", "--orphan", "apart", cwd=tree)
    git("commit", "-q", "--allow-empty", "-m", "apart", cwd=tree)
    with pytest.raises(SymfixError, match="no commit in common with HEAD; fetch the history first"):
        touched_since(find_checkout(tree), "start")
    git("commit", "-q", "--allow-empty", "-m", "second", cwd=tree)
    git("clone", "-q", "--depth", "1", tree.as_uri(), str(tmp_path / "shallow"), cwd=tmp_path)
    with pytest.raises(SymfixError, match=r"this clone is shallow .* fetch-depth: 0"):
        touched_since(find_checkout(tmp_path / "shallow"), "HEAD~")
    with pytest.raises(SymfixError, match="not a git checkout"):
        touched_since(find_checkout(make_tree({"a.cc": OLD}, "loose", vcs=False)), "HEAD")
