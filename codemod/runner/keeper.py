"""The supervisor of one process, which ends it with all its descendants: `PYTHON path/to/runner --keep FD`.

FD is a Unix socket. A line with a request comes in there, {"command", "environment", "folder", "limits", "held"};
`held` names a file to lock for as long as anything runs, or is "". Two lines go out: {"apart"} as it starts, with what
it is isolated from (names of `contain`), and {"status", "over"} once nothing of it is left: the status as os.waitpid
returns it, and the limit that it exceeded, for which it was ended; or {"errno"} where it could not be started. Once the
other end is shut, all is killed.

Where the system gives namespaces, the kernel ends what is in them with the first process there. Elsewhere this process
is the one that orphans fall to, so that whatever the job starts stays below it, and is found there and killed. Where
the system is not Linux, what is ended is the job's process group.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import select
import signal
import socket
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from . import contain, descendants

_LOOK = 0.25
"""Seconds between two measurements of what a job uses."""
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(arguments: Sequence[str]) -> int:
    """Supervise the command of the request on the socket of number `arguments[0]`; returns the exit code."""
    control = socket.socket(fileno=int(arguments[0]))
    control.set_inheritable(False)
    with control.makefile("r", encoding="ascii") as lines:
        request = json.loads(lines.readline())
    way = contain.find_way(request["limits"]["network"])
    keep(control, request, lambda: _execute(request), way)
    return 0


def keep(
    control: socket.socket,
    request: Mapping[str, Any],
    work: Callable[[], int],
    way: contain.Way,
    server: int = -1,
) -> None:
    """Have `work` done in a process that ends with its result, and answer at `control` as the module says.

    `server` is a descriptor that ends when all is to be ended; then nothing is answered.
    """
    limits = contain.Limits(**request["limits"])
    held = _hold(request["held"])
    for number in _ENDING:
        signal.signal(number, _interrupted)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    job = _Job(grouped=not contain.adopt())
    answer: dict[str, Any] | None = None
    try:
        contain.leave(way)
        read, write = os.pipe()
        job.first = os.fork()
        if not job.first:
            for unused in (read, control.fileno(), held, server):
                if unused >= 0:
                    os.close(unused)
            _first(work, write, limits, way, job.grouped)
        os.close(write)
        release_stdin()
        control.sendall(json.dumps({"apart": sorted(way.apart)}).encode("ascii") + b"\n")
        with os.fdopen(read, "rb", buffering=0) as reports:
            answer = _watch(job, control, reports, server, limits)
    except (KeyboardInterrupt, BrokenPipeError, ConnectionResetError):
        pass
    finally:
        for number in _ENDING:
            signal.signal(number, signal.SIG_IGN)
        job.end()
    if answer is not None:
        with contextlib.suppress(OSError):
            control.sendall(json.dumps(answer).encode("ascii") + b"\n")


@dataclass
class _Job:
    """The state of a job: the ids of the process that waits for it and of its own, 0 for none, and how it ended.

    `grouped` says that there is nothing but its group by which to end what it started.
    """

    grouped: bool
    first: int = 0
    number: int = 0
    status: int | None = None
    errno: int | None = None

    def hear(self, pipe: Any) -> bool:
        """Read the next line of `_first` from `pipe`; whether that was the last."""
        kind, _, value = _line(pipe).partition(b" ")
        if kind == b"job":
            self.number = int(value)
        elif kind == b"errno":
            self.errno = int(value)
        elif kind == b"status":
            self.status = int(value)
        return not kind or self.status is not None

    def answer(self) -> dict[str, Any]:
        """How it ended: by SIGKILL where no status came, for the job may kill the process that reports it."""
        if self.errno is not None or not self.number:
            return {"errno": self.errno or errno.EAGAIN}
        return {"status": int(signal.SIGKILL) if self.status is None else self.status, "over": ""}

    def reap(self) -> None:
        """Wait for orphans that have ended."""
        if self.grouped:
            return
        with contextlib.suppress(ChildProcessError):
            while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                if ended.si_pid == self.first:
                    return
                os.waitpid(ended.si_pid, 0)

    def end(self) -> None:
        """Kill it, and all its descendants."""
        with contextlib.suppress(OSError):
            if self.grouped and self.number and self.status is None:  # else its number may be another's
                os.killpg(self.number, signal.SIGKILL)
        with contextlib.suppress(OSError):
            if self.first:
                os.kill(self.first, signal.SIGKILL)
        descendants.end_all()


def _watch(job: _Job, control: socket.socket, pipe: Any, server: int, limits: contain.Limits) -> dict[str, Any] | None:
    """The answer, once the job has ended or must; None where nobody waits for one."""
    servers = [server] if server >= 0 else []
    while True:
        ready = select.select([pipe, control, *servers], [], [], _LOOK)[0]
        if server in ready:
            return None
        if control in ready:
            return {"status": int(signal.SIGKILL), "over": ""}
        if pipe in ready:
            if job.hear(pipe):
                return job.answer()
            continue
        job.reap()
        over = descendants.over(limits, os.getpid())
        if over:
            return {"status": int(signal.SIGKILL), "over": over}


def _first(work: Callable[[], int], write: int, limits: contain.Limits, way: contain.Way, grouped: bool) -> NoReturn:
    """Start the job, report its process id, wait for it and for orphans, and report how it ended.

    In a namespace this is the first process, which signals from there do not reach, and the others end with it.
    """
    try:
        contain.die_with_parent(signal.SIGKILL)
        for number in _ENDING:
            signal.signal(number, signal.SIG_DFL)
        contain.settle(way, limits.memory)
        child = os.fork()
        if not child:
            _work(work, write, limits)
        os.write(write, b"job %d\n" % child)
        release_stdin()
        ended = status = 0
        while ended != child:
            ended, status = os.waitpid(-1, 0)
        with contextlib.suppress(OSError):
            if grouped:
                os.killpg(child, signal.SIGKILL)
        os.write(write, b"status %d\n" % status)
    finally:
        os._exit(0)


def _work(work: Callable[[], int], write: int, limits: contain.Limits) -> NoReturn:
    """Do the work, and end with its result; an error of the system before a command has begun is reported."""
    code = 1
    try:
        contain.die_with_parent(signal.SIGKILL)
        os.setsid()
        contain.confine(limits)
        code = work()
    except OSError as error:
        os.write(write, b"errno %d\n" % (error.errno or errno.EIO))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _execute(request: Mapping[str, Any]) -> int:
    """Become the command. Raises OSError where that cannot be done."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
        signal.signal(number, signal.SIG_DFL)
    if request["folder"]:
        os.chdir(request["folder"])
    os.execvpe(request["command"][0], request["command"], request["environment"])


def _hold(path: str) -> int:
    """A descriptor with a shared lock of the file, which shows others that it is in use; -1 where there is none."""
    if not path:
        return -1
    try:
        held = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return -1
    return held


def release_stdin() -> None:
    """Put the null device in the place of stdin, which is the job's or carries requests."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)


def _line(pipe: Any) -> bytes:
    """The next line, "" where no more come."""
    line = b""
    while not line.endswith(b"\n"):
        more = pipe.read(1)
        if not more:
            return b""
        line += more
    return line


def _interrupted(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt
