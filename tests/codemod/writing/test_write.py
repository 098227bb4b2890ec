from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import signal
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from codemod.errors import SymfixError
from codemod.model.paths import Listing
from codemod.writing.changes import Change
from codemod.writing.write import recover, write_changes

OLD = {"a.cc": b"old a\r\n", "sub/b.cc": b"old b", "sub/c.cc": b"\xff old c\n"}
NEW = {"a.cc": b"new a\r\n", "sub/b.cc": b"new b, and longer", "sub/c.cc": b""}
CHANGES = [Change(path, OLD[path], NEW[path], ()) for path in OLD]
CALLS = ("replace", "fsync", "unlink", "open", "fchmod")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "tree/sub").mkdir(parents=True)
    for path, content in OLD.items():
        (tmp_path / "tree" / path).write_bytes(content)
    return tmp_path / "tree"


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def listing(root: Path) -> Listing:
    return Listing(root, OLD)


def state(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def reset(root: Path) -> None:
    for path in root.rglob(".*"):
        path.unlink()
    for name, content in OLD.items():
        (root / name).write_bytes(content)


@contextmanager
def at_call(number: int, action: Callable[[], None]) -> Iterator[list[int]]:
    """Do `action` in place of the system call of this number, counted from 0 over all of CALLS."""
    count = [0]

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            count[0] += 1
            if count[0] == number + 1:
                action()
            return function(*arguments, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, wrap(getattr(os, name)))
        yield count


def in_child(work: Callable[[], None]) -> int:
    """Run `work` in a forked process; its wait status."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1]


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


_first_redo = [0]
"""A call before which no run in this process was past the point of no return: the calls are the same in each run."""


def die_redoing(root: Path, journal: Path) -> None:
    """Die between the point of no return and the first file."""
    for number in range(_first_redo[0], 200):
        reset(root)

        def work(number: int = number) -> None:
            with at_call(number, kill):
                write_changes(listing(root), journal, CHANGES)

        in_child(work)
        if (journal / "journal.json").exists() and b'"redo"' in (journal / "journal.json").read_bytes():
            _first_redo[0] = number
            return
        recover(lambda: listing(root), root, journal)
    pytest.fail("no such point")


def test_new_contents_are_written_and_modes_kept(root: Path, journal: Path) -> None:
    os.chmod(root / "a.cc", 0o751)
    write_changes(listing(root), journal, CHANGES)
    assert state(root) == NEW
    assert stat.S_IMODE(os.stat(root / "a.cc").st_mode) == 0o751
    assert recover(lambda: listing(root), root, journal) == ""


def test_killed_at_any_call_all_files_are_old_or_new_after_the_next_run(root: Path, journal: Path) -> None:
    outcomes = set()
    for number in range(200):

        def work(number: int = number) -> None:
            with at_call(number, kill):
                write_changes(listing(root), journal, CHANGES)

        status = in_child(work)
        for path in OLD:
            assert (root / path).read_bytes() in (OLD[path], NEW[path])
        said = recover(lambda: listing(root), root, journal)
        assert state(root) in (OLD, NEW), number
        outcomes.add((state(root) == NEW, bool(said)))
        if not os.WIFSIGNALED(status):
            break
        reset(root)
    else:
        pytest.fail("the run never came to its end")
    # Undone, completed, dead before its first or after its last step: each happens at some call.
    assert outcomes == {(False, True), (True, True), (False, False), (True, False)}


def test_a_recovery_that_is_killed_too_is_recovered(root: Path, journal: Path) -> None:
    ended = []
    for number in range(200):
        die_redoing(root, journal)

        def second(number: int = number) -> None:
            with at_call(number, kill):
                recover(lambda: listing(root), root, journal)

        status = in_child(second)
        recover(lambda: listing(root), root, journal)
        assert state(root) == NEW, number
        ended.append(not os.WIFSIGNALED(status))
        if ended[-1]:
            break
    assert ended[-1]
    assert len(ended) > 3


def test_a_failing_call_before_the_point_of_no_return_leaves_everything_old(root: Path, journal: Path) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "a.cc")

    failed = 0
    for number in range(200):
        with at_call(number, full) as count:
            try:
                write_changes(listing(root), journal, CHANGES)
            except SymfixError:
                assert state(root) == OLD, number
                failed += 1
            except OSError:  # past that point: the next run completes it
                recover(lambda: listing(root), root, journal)
                assert state(root) == NEW, number
            else:
                assert state(root) == NEW, number
        if count[0] <= number:
            break
        reset(root)
    assert failed >= 8


def test_a_full_disk_leaves_everything_old(root: Path, journal: Path) -> None:
    big = [*CHANGES, Change("a.cc", OLD["a.cc"], b"x" * 100_000, ())][1:]

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        with pytest.raises(SymfixError, match="nothing was changed"):
            write_changes(listing(root), journal, big)
        kill()

    assert os.WIFSIGNALED(in_child(work))  # it came past the assertion
    assert state(root) == OLD
    assert recover(lambda: listing(root), root, journal) == ""


def test_a_file_that_changed_meanwhile_stops_the_run(root: Path, journal: Path) -> None:
    (root / "sub/b.cc").write_bytes(b"somebody else's")
    with pytest.raises(SymfixError, match=r"^sub/b\.cc: changed while symfix ran"):
        write_changes(listing(root), journal, CHANGES)
    assert (root / "a.cc").read_bytes() == OLD["a.cc"]


def test_a_link_out_of_the_tree_is_not_written_through(root: Path, journal: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.cc").write_bytes(OLD["a.cc"])
    (root / "a.cc").unlink()
    (root / "a.cc").symlink_to(tmp_path / "outside.cc")
    with pytest.raises(SymfixError, match="link"):
        write_changes(listing(root), journal, CHANGES)
    assert (tmp_path / "outside.cc").read_bytes() == OLD["a.cc"]


def test_a_file_without_write_permission_is_named(root: Path, journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "c.cc")
    with pytest.raises(SymfixError, match=r"^sub/c\.cc: cannot be written"):
        write_changes(listing(root), journal, CHANGES)
    assert state(root) == OLD


def test_a_second_run_does_not_write_beside_a_first(root: Path, journal: Path) -> None:
    import fcntl

    journal.mkdir()
    with open(journal / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(SymfixError, match="another symfix"):
            write_changes(listing(root), journal, CHANGES)
    assert state(root) == OLD


def test_what_others_changed_after_a_crash_is_not_overwritten(root: Path, journal: Path) -> None:
    die_redoing(root, journal)
    (root / "sub/c.cc").write_bytes(b"mine")
    with pytest.raises(SymfixError, match=r"^sub/c\.cc: changed after symfix was interrupted"):
        recover(lambda: listing(root), root, journal)
    assert (root / "sub/c.cc").read_bytes() == b"mine"


def redone(root: Path, journal: Path, **changed: str) -> str:
    """What recovery says of a journal whose first entry is changed so; the tree is left as it was."""
    die_redoing(root, journal)
    document = json.loads((journal / "journal.json").read_bytes())
    document["files"][0] |= changed
    (journal / "journal.json").write_text(json.dumps(document))
    before = state(root)
    said = recover(lambda: listing(root), root, journal)
    assert state(root) == before
    assert not (journal / "journal.json").exists()
    return said


@pytest.mark.parametrize("path", ["../victim", ".git/config", "/etc/passwd", "a.cc/../../victim", "new.cc", "sub", ""])
@pytest.mark.parametrize("action", ["undo", "redo"])
def test_a_journal_reaches_only_the_files_of_the_tree(root: Path, journal: Path, path: str, action: str) -> None:
    die_redoing(root, journal)
    text = (journal / "journal.json").read_text().replace('"redo"', f'"{action}"')
    document = json.loads(text)
    staged = document["files"][0]["staged"]
    for place in (root.parent, root / ".git", root):
        place.mkdir(exist_ok=True)
        (place / staged).write_bytes(b"evil")
    (root.parent / "victim").write_bytes(b"mine")
    document["files"][0]["path"] = path
    (journal / "journal.json").write_text(json.dumps(document))
    said = recover(lambda: listing(root), root, journal)
    assert (root.parent / "victim").read_bytes() == b"mine"
    assert (root.parent / staged).read_bytes() == (root / ".git" / staged).read_bytes() == b"evil"
    if action == "redo" or path not in ("new.cc", "sub"):
        assert "set aside as journal.json.damaged-1" in said
    assert {path: (root / path).read_bytes() for path in OLD} == OLD


def test_nothing_but_a_waiting_file_is_removed_or_put_in_a_place(root: Path, journal: Path) -> None:
    assert "an entry that is none" in redone(root, journal, staged="b.cc")
    assert "an entry that is none" in redone(root, journal, staged="../sub/b.cc")
    assert "an entry that is none" in redone(root, journal, old="")
    assert "not what the run wrote" in redone(root, journal, new="0" * 64)


def test_what_waits_is_put_in_its_place_only_as_it_was_written(root: Path, journal: Path, tmp_path: Path) -> None:
    die_redoing(root, journal)
    (waiting,) = root.glob(".symfix-*")
    waiting.write_bytes(b"somebody else's")
    assert "is not what the run wrote" in recover(lambda: listing(root), root, journal)
    assert {path: (root / path).read_bytes() for path in OLD} == OLD
    (journal / "journal.json.damaged-1").unlink()
    waiting.unlink()
    die_redoing(root, journal)
    (waiting,) = root.glob(".symfix-*")
    (tmp_path / "outside").write_bytes(waiting.read_bytes())
    waiting.unlink()
    waiting.symlink_to(tmp_path / "outside")
    assert "not a regular file" in recover(lambda: listing(root), root, journal)
    assert not (root / "a.cc").is_symlink()


def test_a_run_that_cannot_be_completed_is_not_called_so(root: Path, journal: Path) -> None:
    die_redoing(root, journal)
    (waiting,) = root.glob(".symfix-*")
    waiting.unlink()
    said = recover(lambda: listing(root), root, journal)
    assert "a.cc was not written, and what was to be written is gone" in said
    assert "completed" not in said


def test_the_journal_of_another_tree_is_set_aside(root: Path, journal: Path) -> None:
    die_redoing(root, journal)
    moved = root.rename(root.with_name("moved"))
    assert "of a tree in another place" in recover(lambda: listing(moved), moved, journal)
    assert {path: (moved / path).read_bytes() for path in OLD} == OLD


def test_a_journal_that_a_link_leads_to_is_not_followed(root: Path, journal: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    journal.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SymfixError, match="a link"):
        recover(lambda: listing(root), root, journal)
    with pytest.raises(SymfixError, match="a link"):
        write_changes(listing(root), journal, CHANGES)
    journal.unlink()
    journal.mkdir()
    (tmp_path / "victim").write_bytes(b"mine")
    (journal / "lock").symlink_to(tmp_path / "victim")
    with pytest.raises(SymfixError, match="lock: cannot be opened"):
        write_changes(listing(root), journal, CHANGES)
    assert (tmp_path / "victim").read_bytes() == b"mine"
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert state(root) == OLD


def test_what_a_killed_run_left_is_removed_and_nothing_else(root: Path, journal: Path) -> None:
    other = root / f".symfix-{'0' * 32}"
    left = set()
    for number in range(200):
        reset(root)
        other.write_bytes(b"a user's own")

        def work(number: int = number) -> None:
            with at_call(number, kill):
                write_changes(listing(root), journal, CHANGES)

        status = in_child(work)
        left.add(len(list(root.rglob(".symfix-*"))))
        recover(lambda: listing(root), root, journal)
        assert list(root.rglob(".symfix-*")) == [other], number
        if not os.WIFSIGNALED(status):
            break
    assert max(left) > 3


def test_a_folder_that_becomes_a_link_leads_nowhere(root: Path, journal: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    for number in range(200):
        for path in (root / "sub", outside):
            if path.is_symlink():
                path.unlink()
            shutil.rmtree(path, ignore_errors=True)
        (root / "sub").mkdir()
        reset(root)
        (journal / "journal.json").unlink(missing_ok=True)

        def swap() -> None:
            (root / "sub").rename(outside)
            (root / "sub").symlink_to(outside)

        with at_call(number, swap) as count:
            try:
                write_changes(listing(root), journal, CHANGES)
            except (OSError, SymfixError):
                written = {path.name: path.read_bytes() for path in outside.glob("*.cc")}
                # What was written before it moved away went with it; nothing is written through the link.
                assert written in (
                    {"b.cc": OLD["sub/b.cc"], "c.cc": OLD["sub/c.cc"]},
                    {"b.cc": NEW["sub/b.cc"], "c.cc": OLD["sub/c.cc"]},
                    {"b.cc": NEW["sub/b.cc"], "c.cc": NEW["sub/c.cc"]},
                ), number
        if count[0] <= number:
            break
    assert number > 20
