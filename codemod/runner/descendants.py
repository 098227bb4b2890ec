"""All processes that descend from a process, as /proc shows them. Standard library only."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections import defaultdict
from pathlib import Path

from .contain import Limits

_PROC = Path("/proc")
_AT_ONCE = 200  # rounds without a pause, to catch a process that forks and ends quickly
_PAUSE = 0.01
_PARENT = re.compile(r".*\) \S (\d+) ", re.S)
_GIB = 1 << 30


def of(pid: int) -> list[int]:
    """The descendants of `pid`; some may have ended, and others begun, by the time this returns."""
    descendants: list[int] = []
    left = [pid]
    table: dict[int, list[int]] | None = None
    while left:
        parent = left.pop()
        children = _children(parent) if table is None else table[parent]
        if children is None:
            table = _table()
            children = table[parent]
        descendants += children
        left += children
    return descendants


def over(limits: Limits, pid: int) -> str:
    """The limit that the descendants of `pid` together exceed, in words; "" where they keep to `limits`.

    What several of them share in memory counts once.
    """
    if not limits.processes and not limits.memory:
        return ""
    pids = of(pid)
    if limits.processes and len(pids) > limits.processes:
        return f"more than {limits.processes} processes"
    if limits.memory and sum(map(_resident, pids)) > limits.memory and sum(map(_share, pids)) > limits.memory:
        return f"more than {limits.memory / _GIB:.3g} GiB of memory"
    return ""


def end_all() -> None:
    """Kill the descendants of this process, which adopts orphans, and wait until none is left."""
    rounds = 0
    while True:
        for pid in of(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:  # an orphan would be a child
            return
        rounds += 1
        if rounds > _AT_ONCE:
            time.sleep(_PAUSE)


def _children(pid: int) -> list[int] | None:
    """The children of `pid`; None where the kernel does not list them."""
    try:
        threads = os.listdir(_PROC / str(pid) / "task")
    except OSError:
        return None if not _PROC.joinpath("self/task").exists() else []
    children: list[int] = []
    for thread in threads:
        try:
            children += map(int, (_PROC / str(pid) / "task" / thread / "children").read_text().split())
        except FileNotFoundError:
            if not _PROC.joinpath(f"self/task/{os.getpid()}/children").exists():
                return None
        except OSError:
            continue
    return children


def _table() -> dict[int, list[int]]:
    """The children of each process."""
    table: defaultdict[int, list[int]] = defaultdict(list)
    for name in os.listdir(_PROC) if _PROC.is_dir() else ():
        if name.isdigit():
            with contextlib.suppress(OSError):
                parent = _PARENT.match((_PROC / name / "stat").read_text(errors="replace"))
                if parent is not None:
                    table[int(parent[1])].append(int(name))
    return table


def _resident(pid: int) -> int:
    """Bytes of memory and of swap that `pid` holds, those that it shares included."""
    return _sum(pid, "status", ("VmRSS:", "VmSwap:")) or 0


def _share(pid: int) -> int:
    """The same, with its share of what is shared; all of that where the kernel reports no share."""
    share = _sum(pid, "smaps_rollup", ("Pss:", "SwapPss:"))
    return _resident(pid) if share is None else share


def _sum(pid: int, name: str, fields: tuple[str, ...]) -> int | None:
    try:
        lines = (_PROC / str(pid) / name).read_text(errors="replace").splitlines()
    except OSError:
        return None
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(fields))
