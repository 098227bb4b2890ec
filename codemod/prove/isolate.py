"""A process of its own: limits of time and memory, a group that can be killed, and no trace left behind."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

_TAIL = 200_000  # bytes of output that are looked at, from the end

_TELLING = re.compile(r"\w*(?:Error|Exception)\b|error:|what\(\)|undefined symbol")

How = Literal["ended", "crashed", "timed out"]

_live: dict[int, subprocess.Popen[bytes]] = {}
_lock = threading.Lock()
_stopping = threading.Event()


@dataclass(frozen=True, slots=True)
class Limits:
    """What a process may use: seconds of time, and bytes of memory that it writes to."""

    seconds: float
    memory: int


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended. `code` is its exit code, minus the signal's number where one ended it."""

    how: How
    code: int
    output: str
    """What it wrote to stdout and stderr, in order; the end of it where it is long."""

    @property
    def last_line(self) -> str:
        """The last line of the output that is not empty."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        return lines[-1] if lines else ""

    @property
    def error_line(self) -> str:
        """The last line of the output that names an error, "" where none does."""
        found = [line.strip() for line in self.output.splitlines() if _TELLING.search(line)]
        return found[-1] if found else ""

    @property
    def signal(self) -> str:
        """The name of the signal that ended it, as in "SIGSEGV"; "" where none did."""
        if self.code >= 0:
            return ""
        try:
            return signal.Signals(-self.code).name
        except ValueError:
            return f"signal {-self.code}"


def run(
    command: Sequence[str], limits: Limits, environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> Ended:
    """Run `command` in `folder` and wait until it, and all it has started, has ended.

    Raises OSError where it cannot be started, KeyboardInterrupt once `stop_all` was called.
    """
    if _stopping.is_set():
        raise KeyboardInterrupt
    read, write = os.pipe()
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=write,
            stderr=write,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
    except OSError:
        os.close(read)
        raise
    finally:
        os.close(write)
    _limit(process.pid, limits)
    watch(process)
    tail = bytearray()
    reader = threading.Thread(target=_drain, args=(read, tail), daemon=True)
    reader.start()
    how: How = "ended"
    try:
        process.wait(limits.seconds)
    except subprocess.TimeoutExpired:
        how = "timed out"
    finally:
        forget(process)
        reader.join(5)
    if _stopping.is_set():
        raise KeyboardInterrupt
    if how == "ended" and process.returncode < 0:
        how = "crashed"
    return Ended(how, process.returncode, tail.decode("utf-8", "replace"))


def stop_all() -> None:
    """Kill everything that `run` has started in any thread; what still waits for it raises KeyboardInterrupt."""
    _stopping.set()
    with _lock:
        for process in _live.values():
            _kill(process)


def resume() -> None:
    """Let `run` start processes again after `stop_all`."""
    _stopping.clear()


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Have SIGTERM end what was started, as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def stopping() -> bool:
    """Whether `stop_all` was called."""
    return _stopping.is_set()


def watch(process: subprocess.Popen[bytes]) -> None:
    """Have `stop_all` kill `process`, which leads a group of its own; at once where it was called already."""
    with _lock:
        _live[process.pid] = process
        if _stopping.is_set():
            _kill(process)


def forget(process: subprocess.Popen[bytes]) -> None:
    """Kill the group of `process` and wait for it."""
    _kill(process)
    process.wait()
    with _lock:
        _live.pop(process.pid, None)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the whole group: compilers and workers that the process has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _limit(pid: int, limits: Limits) -> None:
    """Limits for a process that has just started; what it starts itself inherits them."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        resource.prlimit(pid, resource.RLIMIT_DATA, (limits.memory, limits.memory))
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))


def _drain(read: int, tail: bytearray) -> None:
    with os.fdopen(read, "rb", buffering=0) as pipe:
        while chunk := pipe.read(65536):
            tail += chunk
            del tail[:-_TAIL]
