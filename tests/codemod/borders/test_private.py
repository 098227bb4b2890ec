"""What lies in folders that are not the user's alone is neither unpickled nor run."""

from __future__ import annotations

import os
import pickle
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from codemod.borders import private
from codemod.prove.session import scratch
from codemod.tree.cache import Cache, Kept
from codemod.tree.checkout import user_cache
from tests.conftest import MakeTree, Symfix


class Evil:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, (f"touch {self.path}",)


def others_may_write(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.chmod(path.stat().st_mode | 0o020)


def anothers(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)


def a_link(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


WAYS = pytest.mark.parametrize("spoil", [others_may_write, anothers, a_link], ids=lambda way: way.__name__)
LEVELS = ["symfix", "symfix/analyses", "symfix/analyses/TREE"]


@WAYS
@pytest.mark.parametrize("level", LEVELS)
def test_a_pickle_in_a_folder_that_is_not_the_users_alone_is_left_alone(
    spoil: Callable[[Path, pytest.MonkeyPatch], None], level: str, make_tree: MakeTree, symfix: Symfix, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    tree = make_tree({"a.cc": b"size\n"})
    os.utime(tree / "a.cc", (1, 1))
    expected = symfix("scan", cwd=tree)
    folder = next((user_cache() / "analyses").iterdir())
    for path in folder.glob("plan-*"):
        path.write_bytes(pickle.dumps(Evil(tmp_path / "ran")))
    with closing(sqlite3.connect(folder / "facts.sqlite")) as database:
        database.execute("UPDATE extracted SET blob = ?", (pickle.dumps(Evil(tmp_path / "ran")),))
        database.commit()
    spoilt = user_cache().parent / level.replace("TREE", folder.name)
    spoil(spoilt, monkeypatch)
    found = symfix("scan", cwd=tree)
    assert not (tmp_path / "ran").exists()
    assert (found.code, found.out) == (expected.code, expected.out)
    assert sum(str(user_cache()) in line for line in found.err.splitlines()) == 1
    assert "nothing is kept there" in found.err


@WAYS
def test_a_file_that_is_not_the_users_alone_is_not_unpickled(
    spoil: Callable[[Path, pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache.of(tmp_path, tmp_path / "symfix")
    cache.store_plan("k", "plan")
    assert cache.load_plan("k") == "plan"
    path = next((tmp_path / "symfix/analyses").glob("*/plan-k"))
    path.write_bytes(pickle.dumps(Evil(tmp_path / "ran")))
    spoil(path, monkeypatch)
    assert cache.load_plan("k") is None
    assert not (tmp_path / "ran").exists()


@WAYS
@pytest.mark.parametrize(("database", "outside"), [("analyses/*/facts.sqlite", ""), ("installed/facts.sqlite", "/")])
def test_a_database_that_is_not_the_users_alone_is_not_opened(
    spoil: Callable[[Path, pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str], database: str, outside: str,
) -> None:  # fmt: skip
    cache = Cache.of(tmp_path, tmp_path / "symfix")
    name = str(tmp_path) if outside else "a"
    cache.store({}, "x@1", {name: Kept("sha", "sha", b"blob")})
    assert cache.facts("x@1", [name]) == {name: Kept("sha", "sha", b"blob")}
    path = next((tmp_path / "symfix").glob(database))
    spoil(path, monkeypatch)
    assert cache.facts("x@1", [name]) == {}
    assert cache.facts("x@1", [name]) == {}
    said = [line for line in capfd.readouterr().err.splitlines() if str(path) in line]
    assert len([line for line in said if "until then it is not read" in line]) == 1


def test_folders_of_the_cache_are_made_for_the_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert private.private_folder(tmp_path / "a/symfix/b/c", tmp_path / "a/symfix") is not None
    finally:
        os.umask(before)
    for name in ("a/symfix", "a/symfix/b", "a/symfix/b/c"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o700


def test_what_prove_builds_goes_elsewhere_where_others_may_write() -> None:
    assert scratch() == user_cache() / "prove"
    user_cache().chmod(0o777)
    elsewhere = scratch()
    assert user_cache() not in elsewhere.parents
    assert elsewhere.stat().st_mode & 0o077 == 0
    assert scratch() == elsewhere


def test_decisions_on_a_tree_under_no_version_control_are_not_taken_from_others(
    make_tree: MakeTree, symfix: Symfix
) -> None:
    tree = make_tree({"a.cc": b"size\n"}, vcs=False)
    assert symfix("scan", cwd=tree).code == 1
    (user_cache() / "journal").chmod(0o777)
    code, out, err = symfix("scan", "--no-cache", cwd=tree)
    assert (code, out) == (2, b"")
    assert "others may write it" in err
    assert f"chmod -R go-w {user_cache() / 'journal'}" in err


def test_books_in_the_git_folder_are_no_link(make_tree: MakeTree, symfix: Symfix, tmp_path: Path) -> None:
    tree = make_tree({"a.cc": b"size\n"})
    (tree / ".git/symfix").symlink_to(tmp_path)
    code, _, err = symfix("scan", cwd=tree)
    assert code == 2
    assert ".git/symfix: is a link" in err
