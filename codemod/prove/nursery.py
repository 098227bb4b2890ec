"""Server processes of the target that have imported torch: a job forked from one starts seconds sooner."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path

from codemod.prove import isolate
from codemod.prove.isolate import Ended, Limits, ManagedProcess
from codemod.prove.run_folder import LOCK

_NONE = Limits(seconds=0, memory=0, file=0, processes=0)  # each job has limits of its own

_lock = threading.Lock()
_servers: dict[tuple[str, ...], _Server] = {}


def prepare(command: tuple[str, ...], environment: Mapping[str, str]) -> None:
    """Start the server `command` unless it runs, so that `run` need not wait for torch to be imported."""
    with contextlib.suppress(OSError):  # `run` meets it too, and returns None
        _server(command, environment)


def run(
    command: tuple[str, ...], job: Path, out: Path, folder: Path, environment: Mapping[str, str], limits: Limits
) -> Ended | None:
    """How the job ended, run by a child of the server `command`; None where no server can be started.

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
        with theirs:
            self.process = ManagedProcess(
                command, _NONE, environment, Path("/"), None, theirs.fileno(), subprocess.DEVNULL
            )
        self._requests = ours

    def run(self, job: Path, out: Path, folder: Path, environment: Mapping[str, str], limits: Limits) -> Ended:
        """Run one job in a child, and wait until it and all that it has started have ended.

        Raises OSError or ValueError where the process does not answer as it should.
        """
        log = folder / "log"
        request = {
            "job": str(job), "out": str(out), "log": str(log), "folder": str(folder), "environment": dict(environment),
            **isolate.request(limits, folder / LOCK),
        }  # fmt: skip
        place, theirs = socket.socketpair()
        with place:
            with theirs:
                socket.send_fds(self._requests, [b"+"], [theirs.fileno()])
            place.sendall(json.dumps(request).encode("ascii") + b"\n")
            how, answer = isolate.follow(place, limits.seconds)
        return isolate.ended(how, answer, isolate.last_bytes(log))

    def close(self) -> None:
        """End the process, and what it runs."""
        self.process.close()
        self._requests.close()
