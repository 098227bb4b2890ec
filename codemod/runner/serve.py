"""`PYTHON path/to/runner --serve CACHE`: import torch once, and run each job in a child of its own that has it already.

Stdin is a Unix socket. Each message on it carries one end of another, for one job. A line with a request comes in
there, {"job", "out", "log", "folder", "environment", "memory"}, and two go out: the process id of the child, which is
that of its group, and its status as os.waitpid tells it. Once the other end is shut, the group is killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import socket
import sys
import tempfile
from typing import Any

PAUSE = 0.01
"""Seconds between two looks at whether a child has ended."""


def main(cache: str) -> int:
    """Serve requests until stdin ends, with what is kept in the folder `cache`; returns the exit code."""
    requests = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    warm(cache)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for keepers
    while True:
        message, received, _, _ = socket.recv_fds(requests, 1, 1)
        if not message:
            return 0
        with socket.socket(fileno=received[0]) as place:
            if os.fork() == 0:
                requests.close()
                keep(place)


def warm(cache: str) -> None:
    """Import what every job needs, compile once: much is imported only then; and see what calls what."""
    import torch
    import torch._dynamo

    from . import job, opinfo  # noqa: F401

    torch.set_num_threads(1)
    opinfo.entries()
    opinfo.Index(cache).open("forward")
    torch.compile(torch.sin, backend="aot_eager", dynamic=True)(torch.ones(3))
    torch._dynamo.reset()


def keep(place: socket.socket) -> None:
    """Run the request that comes in at `place` in a child, for as long as the other end and the server are there.

    Ends this process.
    """
    server = os.getppid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()  # what kills the server's group leaves this to end the child
    try:
        with place.makefile("r", encoding="ascii") as lines:
            request = json.loads(lines.readline())
        child = os.fork()
        if child == 0:
            place.close()
            work(request)
        with contextlib.suppress(OSError):  # the child does so too, whichever comes first
            os.setpgid(child, child)
        served = True
        with contextlib.suppress(OSError):
            place.sendall(b"%d\n" % child)
            while served and os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                if select.select([place], [], [], PAUSE)[0]:
                    break
                served = os.getppid() == server
        with contextlib.suppress(OSError):  # before it is waited for: until then the number is its own
            os.killpg(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        if served:  # else the job did not end by itself, and there is nothing to say of it
            place.sendall(b"%d\n" % status)
    finally:
        os._exit(0)


def work(request: dict[str, Any]) -> None:
    """Do a request's job in this process, and end it."""
    code = 1
    try:
        os.setpgid(0, 0)
        log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.environ.update(request["environment"])
        tempfile.tempdir = None  # told by the environment anew
        os.chdir(request["folder"])
        resource.setrlimit(resource.RLIMIT_DATA, (request["memory"], request["memory"]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        from . import job

        code = job.main([request["job"], request["out"]])
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
