"""Isolation of a process (Linux namespaces) and limits on what it uses. Standard library only."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

PROCESSES, NETWORK = "processes", "network"
"""What can be isolated: the processes, which then all end with the first of them; the network, which is then absent."""

# linux/sched.h, linux/prctl.h, sys/mount.h, linux/capability.h
_NEWNS, _NEWUSER, _NEWPID, _NEWNET = 0x00020000, 0x10000000, 0x20000000, 0x40000000
_SET_PDEATHSIG, _SET_CHILD_SUBREAPER, _SET_NO_NEW_PRIVS = 1, 36, 38
_NOSUID, _NODEV, _NOEXEC, _REC, _PRIVATE = 2, 4, 8, 0x4000, 1 << 18
_CAPABILITY_VERSION = 0x20080522
_FILES = 4096  # that a process may have open


@dataclass(frozen=True)
class Limits:
    """What a job may use, 0 for any amount: bytes of memory and of each file, processes at a time."""

    memory: int = 0
    file: int = 0
    processes: int = 0
    network: bool = False
    """Whether it has the network that this process has."""


def adopt() -> bool:
    """Have orphans below this process become its children, however they left it; False where the system cannot."""
    return _prctl(_SET_CHILD_SUBREAPER, 1)


def die_with_parent(signal: int) -> None:
    """Have the system send this process `signal` when its parent ends, where it can."""
    _prctl(_SET_PDEATHSIG, signal)


@dataclass(frozen=True)
class Way:
    """How the next fork is isolated: from what, and whether it takes a user namespace of its own."""

    apart: frozenset[str] = frozenset()
    user: bool = False


def find_way(network: bool) -> Way:
    """The way to isolate a job from other processes and (unless `network`) from the network, as far as the system can.

    Each is tried in a process of its own: systems refuse them in many ways.
    """
    for apart in [{PROCESSES}] if network else [{PROCESSES, NETWORK}, {NETWORK}, {PROCESSES}]:
        for user in (False, True):
            way = Way(frozenset(apart), user)
            # A root without power over namespaces would lose, in a user namespace, its power over others' files.
            if (not user or os.geteuid()) and _succeeds(partial(_try, way)):
                return way
    return Way()


def leave(way: Way) -> None:
    """Leave the namespaces that the next fork shall not be in; it has to call `settle`. Raises OSError."""
    if not way.apart:
        return
    ids = os.geteuid(), os.getegid()
    libc = _libc()
    if libc is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    kinds = (PROCESSES in way.apart and _NEWPID, NETWORK in way.apart and _NEWNET, way.user and _NEWUSER)
    _check(libc.unshare(sum(kinds)))
    if way.user:
        maps = {"setgroups": "deny", "uid_map": f"{ids[0]} {ids[0]} 1", "gid_map": f"{ids[1]} {ids[1]} 1"}
        for name, text in maps.items():
            with open(f"/proc/self/{name}", "w", encoding="ascii") as place:
                place.write(text)


def settle(way: Way, memory: int) -> None:
    """In the first process after `leave`: see no others in /proc, and have a /dev/shm of at most `memory` bytes.

    Raises OSError where /proc cannot be mounted.
    """
    libc = _libc()
    if PROCESSES not in way.apart or libc is None:
        return
    _check(libc.unshare(_NEWNS))
    _mount(None, "/", None, _REC | _PRIVATE)
    _mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    if memory:
        with contextlib.suppress(OSError):
            _mount("tmpfs", "/dev/shm", "tmpfs", _NOSUID | _NODEV, f"size={memory},mode=1777")


def confine(limits: Limits) -> None:
    """Limit this process and what it will start, and drop the capabilities that a user namespace gave it."""
    if not limits.network:  # else it is a tool of the user's
        _prctl(_SET_NO_NEW_PRIVS, 1)
    if os.geteuid() and (libc := _libc()) is not None:
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
        libc.capset(header, (ctypes.c_uint32 * 6)())
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as place:
        place.write("500")  # where memory runs out, this is what to end
    bounds = {"DATA": limits.memory, "FSIZE": limits.file}
    for name, most in {**{name: most for name, most in bounds.items() if most}, "NOFILE": _FILES, "CORE": 0}.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is not None:
            hard = resource.getrlimit(kind)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(kind, (most, most))


def _try(way: Way) -> None:
    """Leave, and settle in a process of its own. Raises OSError where that cannot be done."""
    leave(way)
    if not _succeeds(partial(settle, way, 0)):
        raise OSError


def _succeeds(attempt: Callable[[], object]) -> bool:
    """Whether `attempt` raises no OSError, in a process of its own."""
    try:
        child = os.fork()
    except OSError:
        return False
    if not child:
        try:
            attempt()
            os._exit(0)
        except BaseException:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def _libc() -> ctypes.CDLL | None:
    return ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def _prctl(option: int, value: int) -> bool:
    libc = _libc()
    return libc is not None and libc.prctl(option, ctypes.c_ulong(value), *(ctypes.c_ulong(0),) * 3) == 0


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    libc = _libc()
    if libc is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    texts = [None if text is None else text.encode() for text in (source, target, kind)]
    _check(libc.mount(*texts, ctypes.c_ulong(flags), data.encode() or None))


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
