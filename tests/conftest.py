"""What every test may ask for: a cache folder of its own, and a small git checkout."""

from __future__ import annotations

import compileall
import fcntl
import gc
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import settings

from codemod.borders import private
from codemod.prove import isolate
from tests.sharing import of_all_workers, one_at_a_time

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import WorkStealingScheduling

# A slow machine is no failure, and a change fails for what it changed. New examples: `--hypothesis-profile search`.
settings.register_profile("search", deadline=None)
settings.register_profile("symfix", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("symfix")

ROOT = Path(__file__).parents[1]


def drawn(examples: int) -> int:
    """How many examples a test draws: all with the profile "search", else four of ten."""
    return examples * 4 // 10 if settings.default is not None and settings.default.derandomize else examples


MakeTree = Callable[..., Path]


def pytest_configure(config: pytest.Config) -> None:
    """Compile the modules of the command, which tests start hundreds of times.

    Where $PYTHONDONTWRITEBYTECODE is set each start would compile them again, unlike one of what pip installed.
    """
    if not hasattr(config, "workerinput"):  # before pytest-xdist starts its workers
        for package in ("codemod", "transforms"):
            compileall.compile_dir(ROOT / package, quiet=2)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long tests come first, so that none of them runs alone at the end."""
    items.sort(key=lambda item: ROOT / "tests/corpus" not in item.path.parents)


def pytest_collection_finish() -> None:
    """Whatever is there before the first test stays to the end: the collector need not go through torch ever again.

    It looks at the rest a tenth as often.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(7_000, 100, 100)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> WorkStealingScheduling | None:
    """Give each worker tests that stand together, whose fixtures it makes once; one that has none left takes of others.

    Another `--dist` than the usual stands.
    """
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


@pytest.fixture(scope="session")
def _new_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Ever another folder. `mktemp` goes through all that it has made, which takes longer with every test."""
    folder = tmp_path_factory.mktemp("surroundings")

    def make(number: int) -> Path:
        made = folder / str(number)
        made.mkdir(mode=0o700)
        return made

    return map(make, count())


@pytest.fixture(autouse=True)
def _own_surroundings(_new_folders: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(next(_new_folders)))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(next(_new_folders)))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(private, "_printed", set())  # as in a process of its own
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):  # as set where a git hook runs the tests
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def _after_a_scan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The user's cache folder after a scan over the installed torch; made by the worker that asks first."""
    folder = of_all_workers(tmp_path_factory) / "after-a-scan"
    with one_at_a_time(folder.with_suffix(".lock")):
        if not folder.exists():
            staged = folder.with_suffix(".tmp")
            library = shutil.copytree(ROOT / "examples/library", staged / "library")
            command = [sys.executable, "-c", "from codemod.cli import main; main()", "scan", "--exit-zero"]
            environment = {**os.environ, "XDG_CACHE_HOME": str(staged / "cache"), "PYTHONPATH": str(ROOT)}
            subprocess.run(command, cwd=library, env=environment, check=True, capture_output=True)
            (staged / "cache").rename(folder)
    return folder


@pytest.fixture
def torch_is_read(_own_surroundings: None, _after_a_scan: Path) -> None:
    """What symfix keeps of the installed torch is in the cache of this test: reading it takes seconds."""
    own = Path(os.environ["XDG_CACHE_HOME"]) / "symfix"
    own.mkdir(mode=0o700)
    shutil.copytree(_after_a_scan / "symfix" / "installed", own / "installed")


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., bytes]:
    """Run git in a folder and return what it prints."""
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]

    def run(*arguments: str, cwd: Path, stdin: bytes = b"") -> bytes:
        done = subprocess.run(["git", *identity, *arguments], cwd=cwd, input=stdin, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    return run


@pytest.fixture
def make_tree(tmp_path: Path, git: Callable[..., bytes]) -> MakeTree:
    """Make a folder of files, committed to git unless told otherwise."""

    def make(files: Mapping[str, bytes], name: str = "tree", vcs: bool = True) -> Path:
        root = tmp_path / name
        root.mkdir()
        for path, content in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
        if vcs:
            git("init", "-q", ".", cwd=root)
            git("add", "-A", cwd=root)
            git("commit", "-q", "--allow-empty", "-m", "start", cwd=root)
        return root

    return make


class Outcome(NamedTuple):
    """What a run of the command came to."""

    code: int
    out: bytes
    err: str


Symfix = Callable[..., Outcome]


@pytest.fixture
def symfix(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Symfix:
    """Run the command with the fake transform, in this process, in the folder `cwd`."""
    from codemod.cli import main
    from codemod.model import transform
    from tests.codemod.fake import transforms

    monkeypatch.setattr(transform, "load_transforms", transforms)

    def run(*arguments: str, cwd: Path) -> Outcome:
        capfdbinary.readouterr()
        with monkeypatch.context() as patch:
            patch.chdir(cwd)
            with pytest.raises(SystemExit) as ended:
                main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        assert isinstance(ended.value.code, int)
        return Outcome(ended.value.code, out, err.decode())

    return run


PATIENCE = 120.0
"""Seconds after which what should have come about hangs; only where it does are they waited for."""


def await_true(condition: Callable[[], bool]) -> None:
    """Wait until something outside this process has come about. Fails where it does not."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


LONG = 3000.0
"""Seconds of a limit that is not to be reached by waiting, see `time_is_up_at`."""


@pytest.fixture
def time_is_up_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], float]:
    """Have the time of a process be up once it has made a file, however busy the machine is; returns its limit."""
    receive = isolate._receive

    def ended_at(path: Path) -> float:
        def impatient(place: socket.socket, seconds: float) -> dict[str, Any]:
            while seconds == LONG and not select.select([place], [], [], 0.05)[0]:
                if path.exists():
                    path.unlink()  # the next process has its own time
                    raise TimeoutError
            return receive(place, seconds)

        monkeypatch.setattr(isolate, "_receive", impatient)
        return LONG

    return ended_at


def free(path: Path) -> bool:
    """Whether no process has a lock of the file: a process that has ended has none."""
    with open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def left_of(pids: Iterable[int], seconds: float = PATIENCE) -> list[int]:
    """Those of the processes `pids` that still run when the others have ended, or after so many seconds.

    A process that was killed runs on for a moment, until the kernel has taken down what it holds.
    """
    deadline = time.monotonic() + seconds
    left = list(pids)
    while (left := [pid for pid in left if _runs(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def _runs(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    # A zombie is dead, and not yet reaped by whoever inherited it.
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.fixture
def with_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An interpreter with torch 2.6.0, as far as is asked before anything runs, of the active virtual environment."""
    package, python = tmp_path / "installed/lib/torch", tmp_path / "installed/bin/python"
    (package / "include").mkdir(parents=True)
    (package / "version.py").write_text("__version__ = '2.6.0'\n")
    python.parent.mkdir()
    answer = json.dumps(["3.11.2", "/nonexistent", str(package / "__init__.py"), []])
    python.write_text(f"#!/bin/sh\necho '{answer}'\n")
    python.chmod(0o755)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "installed"))
    return python
