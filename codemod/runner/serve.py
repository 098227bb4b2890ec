"""`PYTHON path/to/runner --serve CACHE`: import torch once, and run each job in a child of its own that has it already.

Stdin is a Unix socket. Each message on it carries one end of another, for one job. A line with a request comes in
there, {"job", "out", "log", "folder", "environment", "limits", "held"}, and the lines of `keeper` go out. The job is
killed, and nothing more goes out, when this process ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import tempfile
from typing import Any

from . import contain, keeper


def main(cache: str) -> int:
    """Serve requests until stdin ends, with the index of samples in the folder `cache`; returns the exit code.

    With "" no index is loaded: operators of a library are none that PyTorch's samples call.
    """
    requests = socket.socket(fileno=os.dup(0))
    keeper.release_stdin()
    way = contain.find_way(network=False)  # a fork takes longer once torch is there
    warm(cache)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for keepers
    ending, serving = os.pipe()  # the first ends with this process
    while True:
        message, received, _, _ = socket.recv_fds(requests, 1, 1)
        if not message:
            return 0
        with socket.socket(fileno=received[0]) as place:
            if os.fork() == 0:
                requests.close()
                os.close(serving)
                keep(place, way, ending)


def warm(cache: str) -> None:
    """Import what every job needs, load the index of samples, and compile, with a gradient: that imports much more."""
    import torch
    import torch._dynamo

    from . import job, opinfo  # noqa: F401

    torch.set_num_threads(1)
    if cache:
        opinfo.entries()
        opinfo.Index(cache).open("forward")
    else:
        with contextlib.suppress(ImportError):
            import torch.testing._internal.optests  # what `torch.library.opcheck` imports once it is called
    torch.compile(torch.sin, backend="aot_eager", dynamic=True)(torch.ones(3, requires_grad=True))
    torch._dynamo.reset()


def keep(place: socket.socket, way: contain.Way, ending: int) -> None:
    """Run the request that comes in at `place` as `keeper` does; ends this process."""
    try:
        os.setsid()  # what is sent to the server's group leaves this to end the job
        with place.makefile("r", encoding="ascii") as lines:
            request = json.loads(lines.readline())
        keeper.keep(place, request, lambda: work(request), way, ending)
    finally:
        os._exit(0)


def work(request: dict[str, Any]) -> int:
    """Do a request's job in this process; returns the exit code."""
    try:
        log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.environ.update(request["environment"])
        tempfile.tempdir = None  # read from the environment again
        os.chdir(request["folder"])
        from . import job

        return job.main([request["job"], request["out"]])
    except BaseException:
        import traceback

        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
