"""Runs the command `symfix` many times, each in a process of its own that is forked from one that has its modules.

`Server` is what a program uses. This file, run as a script, is the process behind it: it reads a line of JSON for
each run and answers with one. Run N of a tree so costs what the command does, not what Python's start costs.
"""

from __future__ import annotations

import json
import math
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from fuzz_trees import EXAMPLES

_GUARD = 2 << 30  # bytes of memory and of a written file that no process may pass, so that the machine lives on
_GRACE = 2.0  # seconds in which what a run started may end after it
_WARM = (
    ("scan", "--no-cache", "--jobs", "1"),
    ("scan", "--format", "json"),
    ("diff",),
    ("review", "--html", "page.html"),
    ("review", "--accept", "level:safe"),
    ("apply", "--allow-no-vcs", "--no-check"),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to."""

    arguments: tuple[str, ...]
    code: int
    """The exit code; minus the signal that ended it."""
    out: bytes
    err: bytes
    seconds: float
    processor: float
    """Seconds of the processor, with those of the processes it waited for."""
    megabytes: int
    """The most memory that it, or one process it waited for, held at a time."""
    process: int
    """The number of its first process."""
    timed_out: bool = False
    orphaned: bool = False
    """Whether a process of it was still running afterwards."""


class Server:
    """Starts runs of the command, from a process that has the modules which the commands load on `examples/`.

    What they load is tried in `scratch`, with the programs of `tools`. The process, and so every run, is started by the
    command `tracer`, if any.
    """

    def __init__(self, scratch: Path, tools: Path, tracer: Sequence[str] = ()) -> None:
        self._lock = threading.Lock()
        warm = Path(tempfile.mkdtemp(prefix="warm-", dir=scratch))
        shutil.copytree(EXAMPLES, warm / "tree", ignore=shutil.ignore_patterns("__pycache__"))
        environment = {**os.environ, "XDG_CACHE_HOME": str(warm / "cache"), "PATH": str(tools), "HOME": str(warm)}
        self._process = subprocess.Popen(
            [*tracer, sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        for arguments in _WARM:
            self._request({"folder": str(warm / "tree"), "arguments": list(arguments), "warm": True})

    def run(self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path,
            limit: float, processor: float) -> Outcome:  # fmt: skip
        """Run the command in `folder`, with its output in `log`.out and .err.

        It is killed once it does nothing for `limit` seconds, or when one of its processes has had `processor` seconds
        of a processor.
        """
        out, err = Path(f"{log}.out"), Path(f"{log}.err")
        answer = self._request({
            "arguments": list(arguments), "folder": str(folder), "environment": dict(environment),
            "out": str(out), "err": str(err), "limit": limit,
            "processor": math.ceil(processor),
        })  # fmt: skip
        return Outcome(tuple(arguments), out=out.read_bytes(), err=err.read_bytes(), **answer)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def _request(self, question: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps(question).encode("ascii") + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line:
            raise SystemExit("fuzz_server: the process that starts the runs died")
        answer: dict[str, Any] = json.loads(line)
        return answer


def serve() -> None:
    """Answer the lines of stdin until it ends. Returns in a child, which then is to run the command."""
    os.environ["GIT_PYTHON_REFRESH"] = "quiet"
    answers = os.fdopen(os.dup(1), "wb")
    questions = os.fdopen(os.dup(0), "rb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    for line in questions:
        question = json.loads(line)
        if question.get("warm"):
            _load_what_it_loads(question)
            answer = {}
        else:
            begun = time.monotonic()
            pid = os.fork()
            if not pid:
                answers.close()
                questions.close()
                _become(question)
                return
            answer = wait(pid, begun, question["limit"])
        answers.write(json.dumps(answer).encode("ascii") + b"\n")
        answers.flush()
    os._exit(0)


def _become(question: Mapping[str, Any]) -> None:
    os.setsid()
    os.chdir(question["folder"])
    os.environ.clear()
    os.environ.update(question["environment"])
    for number, name in ((1, "out"), (2, "err")):
        handle = os.open(question[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, number)
        os.close(handle)
    for kind in (resource.RLIMIT_DATA, resource.RLIMIT_FSIZE):
        resource.setrlimit(kind, (_GUARD, _GUARD))
    resource.setrlimit(resource.RLIMIT_CPU, (question["processor"], question["processor"] + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.argv = ["symfix", *question["arguments"]]


def wait(pid: int, begun: float, limit: float) -> dict[str, Any]:
    """How the child `pid`, the first of a group of processes, ends: killed once it does nothing for `limit` seconds."""
    handle = os.pidfd_open(pid)
    used, before = 0.0, -1.0
    # On a busy machine it may be slow without end; what hangs does nothing meanwhile.
    while not (ended := bool(select.select([handle], [], [], limit)[0])) and used > before:
        used, before = _processor(pid), used
    os.close(handle)
    if not ended:
        os.killpg(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    return {
        "process": pid,
        "code": os.waitstatus_to_exitcode(status),
        "seconds": time.monotonic() - begun,
        "processor": usage.ru_utime + usage.ru_stime,
        "megabytes": usage.ru_maxrss >> 10,
        "timed_out": not ended or os.waitstatus_to_exitcode(status) == -signal.SIGXCPU,
        "orphaned": ended and not _gone(pid),
    }


def _gone(group: int) -> bool:
    """Whether the processes of the group `group` end soon; those that do not are killed."""
    deadline = time.monotonic() + _GRACE
    while True:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        if time.monotonic() > deadline:
            runs = any(_runs_in(group, entry) for entry in os.listdir("/proc") if entry.isdigit())
            os.killpg(group, signal.SIGKILL)
            return not runs
        time.sleep(0.01)


def _runs_in(group: int, process: str) -> bool:
    stat = _stat(process)
    # A zombie is dead, and not yet reaped by whoever inherited it.
    return bool(stat) and int(stat[2]) == group and stat[0] != "Z"


def _processor(group: int) -> float:
    """Seconds of the processor that the processes of the group `group`, and those that they waited for, have had."""
    stats = [_stat(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    ticks = sum(sum(map(int, stat[11:15])) for stat in stats if stat and int(stat[2]) == group)
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(process: str) -> list[str]:
    """The fields of /proc/PID/stat from the state on (man 5 proc, field 3); none where it is gone."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return stat.rpartition(")")[2].split()


def _load_what_it_loads(question: Mapping[str, Any]) -> None:
    """Load here the modules that a run of the command loads there; what it keeps in them stays there."""
    here, there = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(here)
        _run_and_tell(question, there)
    os.close(there)
    with os.fdopen(here, "rb") as file:
        names = file.read().decode().split()
    os.waitpid(pid, 0)
    for name in names:
        try:
            __import__(name)
        except Exception:  # a module that only its parent can load
            continue


def _run_and_tell(question: Mapping[str, Any], there: int) -> NoReturn:
    from codemod.cli import main

    os.dup2(os.open(os.devnull, os.O_RDWR), 2)
    os.chdir(question["folder"])
    try:
        main(question["arguments"])
    except SystemExit:
        pass
    finally:
        with os.fdopen(there, "wb") as file:
            file.write("\n".join(name for name in list(sys.modules) if name != "__main__").encode())
        os._exit(0)


if __name__ == "__main__":
    serve()
    from codemod.cli import main

    main()
