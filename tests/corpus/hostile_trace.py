"""What a command runs, opens and writes, as strace sees it with all its processes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fuzz_server import Server
from fuzz_trees import make_tools

STRACE = shutil.which("strace")

_CALLS = ("execve,execveat,open,openat,openat2,creat,truncate,rename,renameat,renameat2,link,linkat,symlink,symlinkat,"
          "unlink,unlinkat,chmod,fchmodat,chown,lchown,fchownat,mkdir,mkdirat,rmdir,chdir,fork,vfork,clone,"
          "clone3")  # fmt: skip
_MEMORY_KB = 3 << 19  # what one process may map, so that reading /dev/zero ends
_LINE = re.compile(r"^(\d+) +(.*)$")
_CALL = re.compile(r"^(\w+)\((.*)\) += +(-?\d+|\?)(?:<(.*)>)?(?: .*)?$", re.S)
_RESUMED = re.compile(r"^<\.\.\. \w+ resumed>(.*)$", re.S)
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_FOLDER = re.compile(r"^(?:AT_FDCWD|\d+)<([^>]*)>")
_ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|[0-7]{1,3}|.)", re.S)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "a": "\a", "b": "\b"}
_WRITING = re.compile(r"\bO_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)\b")


class Event(NamedTuple):
    """A call that succeeded: `kind` is "run", "read" or "write", `path` is absolute with links followed."""

    kind: str
    path: str
    call: str


@dataclass(frozen=True, slots=True)
class TracedRun:
    """What a command printed, how it ended, and what it did; `events` is None where nobody watched."""

    code: int
    out: bytes
    err: bytes
    timed_out: bool
    events: tuple[Event, ...] | None


Run = Callable[[Sequence[str], Path, Mapping[str, str], Path, float], TracedRun]
"""Runs a command in a folder and an environment, with its log at a path, for so many seconds."""


def watched(command: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path, limit: float) -> TracedRun:
    """Run `command` in `folder` under strace, where there is one; killed with all it started after `limit` seconds."""
    limited = ["/bin/sh", "-c", f'ulimit -c 0; ulimit -v {_MEMORY_KB}; exec "$@"', "sh", *_tracer(log), *command]
    process = subprocess.Popen(
        limited, cwd=folder, env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    timed_out = False
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        timed_out = True
        os.killpg(process.pid, 9)
        out, err = process.communicate()
    if STRACE is None:
        return TracedRun(process.returncode, out, err, timed_out, None)
    # The first is strace's own start of the command.
    return TracedRun(process.returncode, out, err, timed_out, tuple(events(_lines(log), str(folder)))[1:])


class WarmRuns:
    """Runs of the command `symfix` as `watched` makes them, without Python's start: forks of a process under strace."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "trace"
        self._server = Server(folder, make_tools(folder / "tools"), _tracer(self._log))

    def watched(
        self, command: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path, limit: float
    ) -> TracedRun:
        """Run the arguments of `command`; see `watched`. It is killed once it does nothing for `limit` seconds."""
        run = self._server.run(command[1:], folder, environment, log, limit, limit)
        if STRACE is None:
            return TracedRun(run.code, run.out, run.err, run.timed_out, None)
        seen = events(_lines(self._log), str(folder), str(run.process))
        self._log.write_bytes(b"")
        # The first open what it prints to.
        return TracedRun(run.code, run.out, run.err, run.timed_out, tuple(seen)[2:])

    def close(self) -> None:
        """End the process."""
        self._server.close()


def _tracer(log: Path) -> list[str]:
    """How strace starts a command, empty where there is none; it appends, so that the log may be emptied meanwhile."""
    how = ["-f", "--seccomp-bpf", "-qq", "-y", "-s", "4096", "-A", "-o", str(log), "-e", f"trace={_CALLS}"]
    return [] if STRACE is None else [STRACE, *how]


def _lines(log: Path) -> list[str]:
    text = log.read_text(encoding="utf-8", errors="surrogateescape") if log.exists() else ""
    return text.split("\n")


def events(lines: Iterable[str], folder: str, first: str = "") -> list[Event]:
    """The calls in the `lines` of `strace -f -y` that succeeded; relative paths start from `folder`, else a chdir.

    Those of all processes, or of the process `first` and what it started.
    """
    calls: list[Event] = []
    folders: dict[str, str] = {first: folder} if first else {}
    # What a process does is often logged before the call that began it: vfork returns once the child runs its program.
    early: defaultdict[str, list[_Call]] = defaultdict(list)
    for logged in _completed(lines):
        pending = [logged]
        while pending:
            call = pending.pop(0)
            if first and call.process not in folders:
                early[call.process].append(call)
                continue
            here = folders.setdefault(call.process, folder)
            if call.name in ("fork", "vfork", "clone", "clone3"):
                folders.setdefault(call.result, here)
                pending += early.pop(call.result, [])
            elif call.name == "chdir":
                folders[call.process] = os.path.realpath(os.path.join(here, _paths(call.arguments, here)[0]))
            else:
                calls += _events_of(call.name, call.arguments, call.opened, here)
    return calls


class _Call(NamedTuple):
    """A call that succeeded; `opened` is the file of the descriptor that it gives."""

    process: str
    name: str
    arguments: str
    result: str
    opened: str | None


def _completed(lines: Iterable[str]) -> Iterator[_Call]:
    begun: dict[str, str] = {}
    for line in lines:
        match = _LINE.match(line)
        if not match:
            continue
        process, rest = match.groups()
        if rest.endswith("<unfinished ...>"):
            begun[process] = rest.removesuffix("<unfinished ...>").rstrip()
            continue
        resumed = _RESUMED.match(rest)
        if resumed:
            rest = begun.pop(process, "") + resumed[1]
        call = _CALL.match(rest)
        if call and not call[3].startswith(("-", "?")):
            yield _Call(process, *call.groups())


def _events_of(name: str, arguments: str, opened: str | None, here: str) -> list[Event]:
    if name.startswith("exec"):
        return [Event("run", os.path.realpath(_paths(arguments, here)[0]), name)]
    if name in ("open", "openat", "openat2", "creat"):
        path = _unescaped(opened or "").removesuffix(" (deleted)")
        writes = name == "creat" or _WRITING.search(_TEXT.sub("", arguments))
        return [Event("write" if writes else "read", path, name)]
    paths = _paths(arguments, here)
    if name.startswith(("link", "symlink")):
        paths = paths[-1:]
    follows = name in ("chmod", "chown", "truncate", "fchmodat")
    return [Event("write", os.path.realpath(path) if follows else _resolved(path), name) for path in paths]


def _paths(arguments: str, here: str) -> list[str]:
    """The paths among the arguments of a call, absolute by the folder that stands before each, else by `here`."""
    paths = []
    at = 0
    for match in _TEXT.finditer(arguments):
        folder = _FOLDER.match(arguments[at : match.start()].lstrip(", "))
        paths.append(os.path.join(_unescaped(folder[1]) if folder else here, _unescaped(match[1])))
        at = match.end()
    return paths


def _resolved(path: str) -> str:
    """`path` with the links of its folder followed, but not a link that it is itself."""
    folder, name = os.path.split(os.path.normpath(path))
    return os.path.join(os.path.realpath(folder), name)


def _unescaped(text: str) -> str:
    def byte(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] == "x":
            return chr(int(code[1:], 16))
        return chr(int(code, 8)) if code.isdigit() else _PLAIN.get(code, code)

    if "\\" not in text:
        return text
    return _ESCAPE.sub(byte, text).encode("latin-1", "replace").decode("utf-8", "surrogateescape")
