from __future__ import annotations

import errno
import os
import resource
import signal
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from codemod.errors import SymfixError
from codemod.writing.changes import Change
from codemod.writing.write import recover, replace_file, write_changes

OLD = {"a.cc": b"old a\r\n", "sub/b.cc": b"old b", "sub/c.cc": b"\xff old c\n"}
NEW = {"a.cc": b"new a\r\n", "sub/b.cc": b"new b, and longer", "sub/c.cc": b""}
CHANGES = [Change(path, OLD[path], NEW[path], ()) for path in OLD]
CALLS = ("replace", "fsync", "unlink", "open", "chmod")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "tree/sub").mkdir(parents=True)
    for path, content in OLD.items():
        (tmp_path / "tree" / path).write_bytes(content)
    return tmp_path / "tree"


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal"


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


def die_redoing(root: Path, journal: Path) -> None:
    """Die between the point of no return and the first file."""
    for number in range(200):
        reset(root)

        def work(number: int = number) -> None:
            with at_call(number, kill):
                write_changes(root, journal, CHANGES)

        in_child(work)
        if (journal / "journal.json").exists() and b'"redo"' in (journal / "journal.json").read_bytes():
            return
        recover(root, journal)
    pytest.fail("no such point")


def test_new_contents_are_written_and_modes_kept(root: Path, journal: Path) -> None:
    os.chmod(root / "a.cc", 0o751)
    write_changes(root, journal, CHANGES)
    assert state(root) == NEW
    assert stat.S_IMODE(os.stat(root / "a.cc").st_mode) == 0o751
    assert recover(root, journal) == ""


def test_killed_at_any_call_all_files_are_old_or_new_after_the_next_run(root: Path, journal: Path) -> None:
    outcomes = set()
    for number in range(200):

        def work(number: int = number) -> None:
            with at_call(number, kill):
                write_changes(root, journal, CHANGES)

        status = in_child(work)
        for path in OLD:
            assert (root / path).read_bytes() in (OLD[path], NEW[path])
        said = recover(root, journal)
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
                recover(root, journal)

        status = in_child(second)
        recover(root, journal)
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
                write_changes(root, journal, CHANGES)
            except SymfixError:
                assert state(root) == OLD, number
                failed += 1
            except OSError:  # past that point: the next run completes it
                recover(root, journal)
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
            write_changes(root, journal, big)
        kill()

    assert os.WIFSIGNALED(in_child(work))  # it came past the assertion
    assert state(root) == OLD
    assert recover(root, journal) == ""


def test_a_file_that_changed_meanwhile_stops_the_run(root: Path, journal: Path) -> None:
    (root / "sub/b.cc").write_bytes(b"somebody else's")
    with pytest.raises(SymfixError, match=r"^sub/b\.cc: changed while symfix ran"):
        write_changes(root, journal, CHANGES)
    assert (root / "a.cc").read_bytes() == OLD["a.cc"]


def test_a_link_out_of_the_tree_is_not_written_through(root: Path, journal: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.cc").write_bytes(OLD["a.cc"])
    (root / "a.cc").unlink()
    (root / "a.cc").symlink_to(tmp_path / "outside.cc")
    with pytest.raises(SymfixError, match="link"):
        write_changes(root, journal, CHANGES)
    assert (tmp_path / "outside.cc").read_bytes() == OLD["a.cc"]


def test_a_file_without_write_permission_is_named(root: Path, journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "c.cc")
    with pytest.raises(SymfixError, match=r"^sub/c\.cc: cannot be written"):
        write_changes(root, journal, CHANGES)
    assert state(root) == OLD


def test_a_second_run_does_not_write_beside_a_first(root: Path, journal: Path) -> None:
    import fcntl

    journal.mkdir()
    with open(journal / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(SymfixError, match="another symfix"):
            write_changes(root, journal, CHANGES)
    assert state(root) == OLD


def test_what_others_changed_after_a_crash_is_not_overwritten(root: Path, journal: Path) -> None:
    die_redoing(root, journal)
    (root / "sub/c.cc").write_bytes(b"mine")
    with pytest.raises(SymfixError, match=r"^sub/c\.cc: changed after symfix was interrupted"):
        recover(root, journal)
    assert (root / "sub/c.cc").read_bytes() == b"mine"


@pytest.mark.parametrize("name", [".", "folder", "pipe"])
def test_only_a_regular_file_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    os.mkfifo("pipe")
    with pytest.raises(OSError, match="not a regular file"):
        replace_file(Path(name), b"new")
    assert sorted(path.name for path in Path().iterdir()) == ["folder", "pipe"]
