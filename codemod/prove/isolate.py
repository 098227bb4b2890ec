"""Processes with limits, isolated from others where the system can, and ended together with all that they started.

Each is run by a small supervising process, `runner/keeper.py`, which outlives neither the job nor symfix.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

RUNNER = Path(__file__).parents[1] / "runner"

_TAIL = 200_000  # bytes of output that are looked at, from the end

_TELLING = re.compile(r"\w*(?:Error|Exception)\b|error:|what\(\)|undefined symbol")

How = Literal["ended", "crashed", "timed out"]

_START = 180.0  # seconds for a process to be started
_END = 60.0  # seconds for what is killed to end

_live: set[ManagedProcess] = set()
_lock = threading.Lock()
_stopping = threading.Event()


@dataclass(frozen=True, slots=True)
class Limits:
    """What a process may use, with all that it starts: seconds of time, and of the rest what 0 does not limit.

    `memory` is the bytes that one process writes to, and that all hold together; `file` those of each file.
    """

    seconds: float
    memory: int
    file: int = 4 << 30
    processes: int = 256
    network: bool = False
    """Whether it is one of the user's tools, that may use the network."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended. `code` is its exit code, minus the signal's number where one ended it."""

    how: How
    code: int
    output: str
    """What it wrote to stdout and stderr, in order; the end of it where it is long."""
    over: str = ""
    """The limit that it exceeded, for which it was ended, as in "more than 8 GiB of memory"; "" for nothing."""
    cut_off: bool = False
    """Whether it ran without a network, not even that of the machine with itself."""

    @property
    def cause(self) -> str:
        """Why it ended so: the limit that it exceeded, else its signal and error, else the last line."""
        return self.over or ": ".join(part for part in (self.signal, self.error_line) if part) or self.last_line

    @property
    def last_line(self) -> str:
        """The last line of the output that is not empty."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        return lines[-1] if lines else ""

    @property
    def error_line(self) -> str:
        """The last line of the output that names an error, "" where none does."""
        lines = [line.strip() for line in self.output.splitlines() if _TELLING.search(line)]
        return lines[-1] if lines else ""

    @property
    def signal(self) -> str:
        """The name of the signal that ended it, as in "SIGSEGV"; "" where none did."""
        if self.code >= 0:
            return ""
        try:
            return signal.Signals(-self.code).name
        except ValueError:
            return f"signal {-self.code}"


class ManagedProcess:
    """A process and all that it starts, supervised by a keeper."""

    def __init__(
        self,
        command: Sequence[str],
        limits: Limits,
        environment: Mapping[str, str],
        folder: Path | None,
        held: Path | None,
        stdin: int,
        output: int,
    ) -> None:
        """Start `command` in `folder`, or the current one. `held` is a file to lock until nothing of it is left.

        Raises OSError where the keeper cannot be started.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            self.keeper = subprocess.Popen(
                [sys.executable, "-I", "-S", str(RUNNER), "--keep", str(theirs.fileno())],
                stdin=stdin,
                stdout=output,
                stderr=output,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self._control = ours
        document = {"command": list(command), "environment": dict(environment), "folder": str(folder or ""),
                    **request(limits, held)}  # fmt: skip
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it has ended: `follow` meets that
            ours.sendall(json.dumps(document).encode("ascii") + b"\n")
        with _lock:
            _live.add(self)
            if _stopping.is_set():
                self.stop()

    def follow(self, seconds: float) -> tuple[How, dict[str, Any]]:
        """See `follow`."""
        return follow(self._control, seconds)

    def stop(self) -> None:
        """Have it killed, and not wait for that."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Have it killed, and wait until nothing of it is left."""
        self.stop()
        try:
            self.keeper.wait(_END)
        except subprocess.TimeoutExpired:
            self.keeper.kill()
            self.keeper.wait()
        with _lock:
            _live.discard(self)
        self._control.close()


def request(limits: Limits, held: Path | None) -> dict[str, Any]:
    """The fields of a request to a keeper, beside the command: the limits and the file to lock."""
    most = {name: value for name, value in asdict(limits).items() if name != "seconds"}
    return {"limits": most, "held": str(held or "")}


def follow(place: socket.socket, seconds: float) -> tuple[How, dict[str, Any]]:
    """Wait until a keeper reports at `place` that the job has ended; after `seconds` the job is killed.

    Returns how it ended, and the report (see `runner/keeper.py`). Raises OSError where the job cannot be started,
    TimeoutError or ValueError where the keeper does not answer as it should.
    """
    started = _receive(place, _START)
    how: How = "ended"
    try:
        answer = _receive(place, seconds)
    except TimeoutError:
        how = "timed out"
        place.shutdown(socket.SHUT_WR)
        answer = _receive(place, _END)
    if "errno" in answer:
        raise OSError(answer["errno"], os.strerror(answer["errno"]))
    return how, {**started, **answer}


def ended(how: How, answer: Mapping[str, Any], output: str) -> Ended:
    """How a job ended, from what `follow` returned and what the job wrote."""
    code = os.waitstatus_to_exitcode(answer["status"])
    crashed = how == "ended" and code < 0
    return Ended("crashed" if crashed else how, code, output, answer["over"], "network" in answer["apart"])


def run(
    command: Sequence[str],
    limits: Limits,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    held: Path | None = None,
) -> Ended:
    """Run `command` in `folder` and wait until it, and all it has started, has ended.

    `held` is a file that is locked until then. Raises OSError where it cannot be started, KeyboardInterrupt once
    `stop_all` was called.
    """
    if _stopping.is_set():
        raise KeyboardInterrupt
    read, write = os.pipe()
    variables = os.environ if environment is None else environment
    try:
        process = ManagedProcess(command, limits, variables, folder, held, subprocess.DEVNULL, write)
    except OSError:
        os.close(read)
        raise
    finally:
        os.close(write)
    tail = bytearray()
    reader = threading.Thread(target=_drain, args=(read, tail), daemon=True)
    reader.start()
    how: How = "ended"
    # The answer where the keeper itself was killed.
    answer: dict[str, Any] = {"status": int(signal.SIGKILL), "over": "", "apart": []}
    try:
        with contextlib.suppress(TimeoutError, ValueError, ConnectionResetError):
            how, answer = process.follow(limits.seconds)
    finally:
        process.close()
        reader.join(5)
    if _stopping.is_set():
        raise KeyboardInterrupt
    return ended(how, answer, tail.decode("utf-8", "replace"))


def stop_all() -> None:
    """Kill everything that `run` has started in any thread; what still waits for it raises KeyboardInterrupt."""
    _stopping.set()
    with _lock:
        for process in _live:
            process.stop()


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


def last_bytes(path: Path) -> str:
    """The end of the output in a file, as far as it is looked at; "" where it cannot be read."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            return file.read(_TAIL).decode("utf-8", "replace")
    except OSError:
        return ""


def _receive(place: socket.socket, seconds: float) -> dict[str, Any]:
    """The document in the next line. Raises TimeoutError where none comes in time, ValueError where none will come."""
    place.settimeout(seconds)
    line = b""
    while not line.endswith(b"\n"):
        more = place.recv(1)
        if not more:
            raise ValueError("the keeper has ended")
        line += more
    message: dict[str, Any] = json.loads(line)
    return message


def _drain(read: int, tail: bytearray) -> None:
    with os.fdopen(read, "rb", buffering=0) as pipe:
        while chunk := pipe.read(65536):
            tail += chunk
            del tail[:-_TAIL]
