"""Each trap of hostile_vectors.py with a command that it is set for, and how strace's output is read."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_place import Place, command
from hostile_trace import STRACE, Event, WarmRuns, events, watched
from hostile_tree import possible, table, try_vector
from hostile_vectors import EVERY, VECTORS, Vector

TRIES = [(vector, vector.bites[number % len(vector.bites)]) for number, vector in enumerate(VECTORS)]
"""Of the commands that bite, one after the other with each vector: hostile_tree.py --short tries them all."""


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmRuns]:
    """Runs that cost what the commands do; hostile_tree.py starts each as a person does."""
    runs = WarmRuns(tmp_path_factory.mktemp("warm"))
    yield runs
    runs.close()


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory, warm: WarmRuns) -> tuple[Path, Path]:
    """Where every try makes its folder, and the cache that a run there has left: hostile_tree.py starts without."""
    folder = tmp_path_factory.mktemp("stand")
    place = Place(folder / "place")
    place.make()
    place.commit()
    for arguments in (["scan"], ["diff", "--level", "review"]):
        warm.watched([command(), *arguments], place.tree, place.environment, place.folder / "trace", 60)
    return place.folder, place.cache.rename(folder / "analyses")


@pytest.mark.parametrize(("vector", "name"), TRIES, ids=[f"{vector.name}, {name}" for vector, name in TRIES])
def test_no_trap_springs(vector: Vector, name: str, stand: tuple[Path, Path], warm: WarmRuns) -> None:
    if reason := possible(vector):
        pytest.skip(reason)
    folder, analyses = stand
    shutil.rmtree(folder)
    assert try_vector(vector, name, folder, warm.watched, analyses).broken == ()


def test_names_of_vectors_are_their_own() -> None:
    assert len({vector.name for vector in VECTORS}) == len(VECTORS)


@pytest.mark.skipif(STRACE is None, reason="strace is not installed")
def test_what_a_program_does_is_seen(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"")
    (tmp_path / "link").symlink_to("target")
    program = (
        "import os, subprocess; open('link', 'w'); os.rename('target', 'a\\nb'); subprocess.run(['git', 'version'])"
    )
    environment = Place(tmp_path / "place").environment
    run = watched([sys.executable, "-c", program], tmp_path, environment, tmp_path / "log", 60)
    assert (run.code, run.timed_out) == (0, False)
    assert run.events is not None
    written = [event.path for event in run.events if event.kind == "write" and event.path.startswith(str(tmp_path))]
    assert written == [str(tmp_path / name) for name in ("target", "target", "a\nb")]
    assert "git" in {Path(event.path).name for event in run.events if event.kind == "run"}
    assert watched([sys.executable, "-c", "while True: pass"], tmp_path, environment, tmp_path / "log", 0.5).timed_out


@pytest.mark.skipif(STRACE is None, reason="strace is not installed")
def test_what_a_warm_run_does_is_seen_and_no_other(tmp_path: Path, warm: WarmRuns) -> None:
    place = Place(tmp_path / "place")
    place.make()
    place.commit()
    source = str(place.tree / "aten/src/ATen/native/Blend.cpp")

    def done(*arguments: str) -> tuple[set[str], set[str]]:
        """What a run writes, and the programs that it runs."""
        run = warm.watched([command(), *arguments], place.tree, place.environment, place.folder / "trace", 60)
        assert (run.code, run.timed_out) == (1, False), run.err
        assert run.events is not None
        assert not [event for event in run.events if event.path.startswith(str(place.folder / "trace"))]
        return (
            {event.path for event in run.events if event.kind == "write"},
            {Path(event.path).name for event in run.events if event.kind == "run"},
        )

    written, started = done("scan")
    assert "git" in started
    assert source not in written
    written, _ = done("apply", "--no-check")
    assert source in written
    written, _ = done("diff", "--level", "review")
    assert source not in written


def test_calls_that_another_process_interrupts_are_put_together() -> None:
    lines = [
        '10  openat(AT_FDCWD</t>, "a", O_WRONLY|O_CREAT <unfinished ...>',
        '11  rename("x", "sub/y") = 0',
        "10  <... openat resumed>, 0666) = 3</t/real>",
        "10  vfork( <unfinished ...>",
        '12  chdir("/u")  = 0',
        '12  execve("./git", ["git"], 0x1 /* 3 vars */ <unfinished ...>',
        "10  <... vfork resumed>) = 12",
        "12  <... execve resumed>) = 0",
        '12  openat(AT_FDCWD</u>, "gone", O_RDONLY) = -1 ENOENT (No such file or directory)',
        '12  unlinkat(5</v>, "w", 0) = 0',
        "12  +++ exited with 0 +++",
    ]
    assert events(lines, "/t") == [
        Event("write", "/t/x", "rename"),
        Event("write", "/t/sub/y", "rename"),
        Event("write", "/t/real", "openat"),
        Event("run", "/u/git", "execve"),
        Event("write", "/v/w", "unlinkat"),
    ]


def test_a_child_is_seen_whose_first_calls_are_logged_before_its_start() -> None:
    lines = [
        "7 vfork( <unfinished ...>",
        '8 execve("/usr/bin/git", ["git"], 0x7f) = 0',
        '8 openat(AT_FDCWD</tree>, "log", O_WRONLY|O_CREAT, 0666) = 3</tree/log>',
        '9 execve("/usr/bin/other", ["other"], 0x7f) = 0',
        "7 <... vfork resumed>) = 8",
    ]
    assert events(lines, "/tree", "7") == [
        Event("run", os.path.realpath("/usr/bin/git"), "execve"), Event("write", "/tree/log", "openat"),
    ]  # fmt: skip


def test_the_table_has_a_row_for_each_vector(stand: tuple[Path, Path], warm: WarmRuns) -> None:
    nothing = Vector("nothing hostile")
    folder, analyses = stand
    verdicts = []
    for name in EVERY:
        shutil.rmtree(folder)
        verdicts.append(try_vector(nothing, name, folder, warm.watched, analyses))
    assert [verdict.broken for verdict in verdicts] == [()] * len(EVERY)
    marks = table(verdicts)[1].removeprefix("nothing hostile").replace("exit", "").split()
    assert marks == ["1", "0", "1", "1", "0", "1", "1"]
