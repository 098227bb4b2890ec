"""`PYTHON path/to/runner --serve CACHE`: import torch once, and run each job in a child of its own that has it already.

A line on stdin is a request: {"job", "out", "log", "folder", "environment", "memory"}. For each, two lines go to
stdout: the child's process id, which is that of its group as well, and its status as os.waitpid tells it.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
from typing import Any


def main(cache: str) -> int:
    """Serve requests until stdin ends, with what is kept in the folder `cache`; returns the exit code."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what torch prints is no answer
    warm(cache)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            work(request)
        print(pid, file=answers, flush=True)
        print(os.waitpid(pid, 0)[1], file=answers, flush=True)
    return 0


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


def work(request: dict[str, Any]) -> None:
    """Do a request's job in this process, and end it."""
    code = 1
    try:
        os.setsid()
        log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
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
