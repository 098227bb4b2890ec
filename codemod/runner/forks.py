"""Work that may end the process it runs in: done in forked children, item by item, and resumed after a crash."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import IO, Any

Work = Callable[[int], Iterator[tuple[int, Any]]]
"""From the number of the first item: yields (number, None) before an item is worked on, (number, result) after.
Results are JSON."""
CRASHES = 25
"""After so many items that ended their process the rest is skipped."""
FAILED = 1
"""The exit code of a child whose work raised."""
GIVEN_UP = frozenset({signal.SIGALRM.name, signal.SIGPROF.name})
"""What ends a process that `limit` was called in."""
_WAITING = 5


def limit(seconds: int) -> None:
    """End this process unless it is called again before `seconds` of processor time, or many more by the clock.

    On a busy machine seconds pass in which it does nothing.
    """
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(_WAITING * seconds)


def survive(work: Work, ended: list[str] | None = None) -> Iterator[Any]:
    """The results of `work`, in order, without the items that end their process.

    For each process so ended, its last printed line or its signal is added to `ended`.
    """
    first = 0
    for _ in range(CRASHES):
        reader, writer = os.pipe()
        with tempfile.TemporaryFile() as printed:
            child = os.fork()
            if not child:
                os.close(reader)
                _child(work, first, writer, printed.fileno())
            os.close(writer)
            try:
                with os.fdopen(reader, encoding="ascii") as lines:
                    for line in lines:
                        number, result = json.loads(line)
                        first = number + 1
                        if result is not None:
                            yield result
            finally:  # also where the caller stops early: the pipe is closed then, and the child ends at its next line
                _, status = os.waitpid(child, 0)
            code = os.waitstatus_to_exitcode(status)
            if code in (0, FAILED):
                return
            if ended is not None:
                ended.append(signal.Signals(-code).name if code < 0 else _last_line(printed) or f"exit code {code}")


def _last_line(printed: IO[bytes]) -> str:
    printed.seek(0)
    lines = printed.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines else ""


def _child(work: Work, first: int, writer: int, printed: int) -> None:
    """Write the results of `work` to the pipe, and end the process without the parent's exit handlers."""
    try:
        sys.stdout.flush()
        os.dup2(printed, 2)
        for number, result in work(first):
            os.write(writer, json.dumps([number, result]).encode("ascii") + b"\n")
    except BaseException:  # the pipe is closed, or the work failed: the parent has the results so far
        os._exit(FAILED)
    os._exit(0)
