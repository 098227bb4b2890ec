"""How long `bundle`, `review --html` and `prove` take after a scan: first, and again with what they kept.

    python tests/benchmarks/commands.py TREE [--op cross_entropy_loss] [--python PYTHON]

TREE is a folder without git, such as a source release of PyTorch; a copy of it becomes a repository of one commit, and
nothing is kept but what a scan keeps. bundle compiles nothing: $CXX is /dev/null there. prove is left out without a
C++ compiler. Prints seconds of wall clock and of processor time, and the memory of the largest process; no time is
asserted.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "corpus"))
from corpus_trees import IDENTITY, commit_all


def timed(arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    """What one run of symfix takes. Raises SystemExit where it ends with 2 or more."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "codemod.cli", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"symfix {' '.join(arguments)} ended with {process.returncode}")
    seconds, used = time.perf_counter() - begun, usage.ru_utime + usage.ru_stime
    return f"{seconds:6.1f} s, processor time {used:6.1f} s, {usage.ru_maxrss // 1024} MB"


def main() -> None:
    """Print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("--op", default="cross_entropy_loss", help="what prove proves (%(default)s)")
    parser.add_argument("--python", type=Path, metavar="PYTHON", help="the interpreter that has torch (this one)")
    options = parser.parse_args()
    os.environ.update(IDENTITY)
    with tempfile.TemporaryDirectory(prefix="symfix-bench-") as scratch:
        folder, page = Path(scratch, options.tree.resolve().name), str(Path(scratch, "page.html"))
        shutil.copytree(options.tree, folder, symlinks=True)
        commit_all(folder)
        kept = {"XDG_CACHE_HOME": str(Path(scratch, "cache"))}
        prove = ["prove", "--op", options.op, *(["--python", str(options.python)] if options.python else [])]
        runs: list[tuple[str, list[str], dict[str, str]]] = [
            ("scan", ["scan"], kept),
            ("review --html", ["review", "--html", page], kept),
            ("bundle", ["bundle"], {**kept, "CXX": os.devnull}),
        ]
        if any(map(shutil.which, [os.environ.get("CXX", "g++"), "c++", "clang++"])):
            runs.append((f"prove {options.op}", prove, kept))
        for label, arguments, environment in runs:
            for when in ("first", "again"):
                print(f"{label}, {when}: {timed(arguments, folder, environment)}", flush=True)


if __name__ == "__main__":
    main()
