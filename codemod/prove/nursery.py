"""Processes of the target that have imported torch already: a job is run in a child of one, seconds sooner."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path

from codemod.prove import isolate
from codemod.prove.isolate import Ended, Limits

_START = 180.0  # seconds for torch to be imported
_END = 60.0  # seconds for a group that is killed to end

_lock = threading.Lock()
_servers: dict[tuple[str, ...], _Server] = {}


def prepare(command: tuple[str, ...], environment: Mapping[str, str]) -> None:
    """Start the server `command` unless it runs, so that `run` need not wait for torch to be imported."""
    with contextlib.suppress(OSError):  # `run` meets it too, and says None
        _server(command, environment)


def run(
    command: tuple[str, ...], job: Path, out: Path, folder: Path, environment: Mapping[str, str], limits: Limits
) -> Ended | None:
    """How the job ended, run by a child of the server `command`, beside others; None where no server is to be had.

    Raises KeyboardInterrupt once `isolate.stop_all` was called.
    """
    server = None
    try:
        server = _server(command, environment)
        ended = server.run(job, out, folder, environment, limits)
    except (OSError, ValueError):
        if server is not None:
            _drop(command, server)
        ended = None
    if isolate.stopping():
        raise KeyboardInterrupt
    return ended


def close() -> None:
    """End all servers."""
    with _lock:
        for server in _servers.values():
            server.close()
        _servers.clear()


def _server(command: tuple[str, ...], environment: Mapping[str, str]) -> _Server:
    """The server `command`, started where it does not run. Raises OSError where it cannot be."""
    with _lock:
        if command not in _servers:
            _servers[command] = _Server(command, environment)
        return _servers[command]


def _drop(command: tuple[str, ...], server: _Server) -> None:
    """End a server that does not answer: the next job gets another."""
    with _lock:
        if _servers.get(command) is server:
            del _servers[command]
            server.close()


class _Server:
    """One process that forks, see runner/serve.py."""

    def __init__(self, command: tuple[str, ...], environment: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self._process = subprocess.Popen(
                command,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=dict(environment),
                cwd="/",
                start_new_session=True,
            )
            self._requests = ours.dup()
        isolate.watch(self._process)

    def run(self, job: Path, out: Path, folder: Path, environment: Mapping[str, str], limits: Limits) -> Ended:
        """Run one job in a child, and wait until it and all that it has started have ended.

        Raises OSError or ValueError where the process does not answer as it should.
        """
        log = folder / "log"
        request = {
            "job": str(job), "out": str(out), "log": str(log), "folder": str(folder),
            "environment": dict(environment), "memory": limits.memory,
        }  # fmt: skip
        place, theirs = socket.socketpair()
        with place:
            with theirs:
                socket.send_fds(self._requests, [b"+"], [theirs.fileno()])
            place.sendall(json.dumps(request).encode("ascii") + b"\n")
            _answer(place, _START)
            timed_out = False
            try:
                status = _answer(place, limits.seconds)
            except TimeoutError:
                timed_out = True
                place.shutdown(socket.SHUT_WR)
                status = _answer(place, _END)
        code = os.waitstatus_to_exitcode(status)
        try:
            output = log.read_text(encoding="utf-8", errors="replace")
        except OSError:
            output = ""
        return Ended("timed out" if timed_out else "crashed" if code < 0 else "ended", code, output)

    def close(self) -> None:
        """End the process, and what it runs."""
        isolate.forget(self._process)
        self._requests.close()


def _answer(place: socket.socket, seconds: float) -> int:
    """The number in the next line. Raises TimeoutError where none comes in time, ValueError where none will come."""
    place.settimeout(seconds)
    line = b""
    while not line.endswith(b"\n"):
        more = place.recv(1)
        if not more:
            raise ValueError("the runner has ended")
        line += more
    return int(line)
