"""SIGKILL `symfix probe` at half: is what it had answered kept, is nothing left behind, and does the next run finish?

    python tests/corpus/kill_probe.py [--python PYTHON] [GLOB…]        ('linalg.s*' by default)

A run that nothing disturbs says what each operator answers. Another, with a cache of its own, is killed with its
process group once it has kept half of them; a third, over that cache, must take what the second kept, ask the rest, and
give the same. After each, no process of it may run and no temporary file may lie there. Exit 1 where one does, or an
answer is another.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

END = 10.0
"""Seconds for what was killed to end."""
_KEPT = re.compile(r"([\d,]+) of [\d,]+ operators were answered by an earlier run")


def statuses(document: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """How each mode of each operator came out."""
    return {
        (subject["name"], mode): cell["status"]
        for subject in document["subjects"]
        for mode, cell in subject["modes"].items()
    }


def processes(folder: Path) -> list[int]:
    """The processes whose command line names `folder`, which their cache lies in."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            named = str(folder).encode() in (entry / "cmdline").read_bytes()
        except OSError:
            continue
        found += [int(entry.name)] if named else []
    return found


class Runs:
    """Runs of one command, whose caches and temporary files lie below a folder."""

    def __init__(self, folder: Path, arguments: Sequence[str]) -> None:
        self.folder = folder
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self._command = [str(Path(sys.executable).with_name("symfix")), "probe", "--no-source", "--format", "json",
                         *arguments]  # fmt: skip

    def run(self, cache: str, most: int = 0) -> tuple[dict[str, Any], str]:
        """The report and what went to stderr; an empty report of a run that was killed, once it had kept `most`."""
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / cache), "TMPDIR": str(self.temporary)}
        process = subprocess.Popen(
            self._command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        while most and process.poll() is None:
            if len(list(self.folder.glob(f"{cache}/symfix/probe/*/*.json"))) >= most:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                return {}, ""
            time.sleep(0.05)
        out, errors = process.communicate()
        document: dict[str, Any] = json.loads(out or b"{}")
        return document, errors.decode()

    def left(self) -> list[int]:
        """The processes that run on, once `END` is over."""
        deadline = time.monotonic() + END
        while processes(self.folder) and time.monotonic() < deadline:
            time.sleep(0.1)
        return processes(self.folder)


def main() -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("globs", nargs="*", default=["linalg.s*"], metavar="GLOB")
    parser.add_argument("--python", default=sys.executable, help="the interpreter whose torch is asked (this one)")
    options = parser.parse_args()
    arguments = ["--python", options.python, *(part for glob in options.globs for part in ("--op", glob))]
    with tempfile.TemporaryDirectory(prefix="symfix-corpus-") as scratch:
        runs = Runs(Path(scratch), arguments)
        whole, _ = runs.run("whole")
        runs.run("killed", max(1, len(whole["subjects"]) // 2))
        running = runs.left()
        again, said = runs.run("killed")
        running += runs.left()
        files = sorted(path.name for path in runs.temporary.iterdir())
    kept = _KEPT.search(said)
    expected, seen = statuses(whole), statuses(again)
    other = sorted(key for key in expected.keys() | seen.keys() if expected.get(key) != seen.get(key))
    print(f"{len(whole['subjects'])} operators; {kept[1] if kept else 0} were kept by the run that was killed")
    print(f"processes left: {len(running)}; temporary files left: {len(files)}; other answers: {len(other)}", *other)
    return 1 if running or files or other or kept is None else 0


if __name__ == "__main__":
    sys.exit(main())
