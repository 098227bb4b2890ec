"""Processes of the target that have imported torch already: a job is run in a child of one, seconds sooner."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from codemod.prove import isolate
from codemod.prove.isolate import Ended, Limits

_START = 180.0  # seconds for torch to be imported

_lock = threading.Lock()
_idle: dict[tuple[str, ...], list[_Server]] = {}


def prepare(command: tuple[str, ...], environment: Mapping[str, str]) -> None:
    """Start the server `command` unless one waits for a job, so that `run` need not wait for torch to be imported."""
    with _lock:
        servers = _idle.setdefault(command, [])
        if not servers:
            with contextlib.suppress(OSError):  # `run` meets it too, and says None
                servers.append(_Server(command, environment))


def run(
    command: tuple[str, ...], job: Path, out: Path, folder: Path, environment: Mapping[str, str], limits: Limits
) -> Ended | None:
    """How the job ended, run by a child of the server `command`; None where no server is to be had.

    Raises KeyboardInterrupt once `isolate.stop_all` was called.
    """
    with _lock:
        servers = _idle.setdefault(command, [])
        server = servers.pop() if servers else None
    try:
        server = server or _Server(command, environment)
        ended = server.run(job, out, folder, environment, limits)
    except (OSError, ValueError):
        if isolate.stopping():
            raise KeyboardInterrupt from None
        if server is not None:
            server.close()
        return None
    with _lock:
        _idle[command].append(server)
    if isolate.stopping():
        raise KeyboardInterrupt
    return ended


def close() -> None:
    """End all servers that wait for a job."""
    with _lock:
        for servers in _idle.values():
            for server in servers:
                server.close()
        _idle.clear()


class _Server:
    """One process that forks. `run` raises OSError or ValueError where it does not answer as it should."""

    def __init__(self, command: tuple[str, ...], environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            cwd="/",
            start_new_session=True,
        )
        self._ready = False
        isolate.watch(self._process)

    def run(self, job: Path, out: Path, folder: Path, environment: Mapping[str, str], limits: Limits) -> Ended:
        """Run one job in a child, and wait until it and all that it has started have ended."""
        if not self._ready and self._answer(_START) != "ready":
            raise ValueError("the runner does not start")
        self._ready = True
        log = folder / "log"
        request = {
            "job": str(job), "out": str(out), "log": str(log), "folder": str(folder),
            "environment": dict(environment), "memory": limits.memory,
        }  # fmt: skip
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        child = int(self._answer(_START))
        status = self._answer(limits.seconds)
        timed_out = not status
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(int(status or self._answer(_START)))
        try:
            output = log.read_text(encoding="utf-8", errors="replace")
        except OSError:
            output = ""
        return Ended("timed out" if timed_out else "crashed" if code < 0 else "ended", code, output)

    def close(self) -> None:
        """End the process."""
        isolate.forget(self._process)
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _answer(self, seconds: float) -> str:
        """The next line, "" where none comes in time. Raises ValueError where the process has ended."""
        assert self._process.stdout is not None
        deadline = time.monotonic() + seconds
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return ""
            more = os.read(self._process.stdout.fileno(), 1)
            if not more:
                raise ValueError("the runner has ended")
            line += more
        return line.decode().strip()
