"""How long `symfix scan` takes on the Python of a torch package, cold and warm, and how much memory.

    python tests/benchmarks/python_scan.py [FOLDER]

FOLDER defaults to the installed torch, which is only read.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def main() -> int:
    """Print seconds of wall clock and of processor time for both runs."""
    spec = importlib.util.find_spec("torch")
    if len(sys.argv) < 2 and (spec is None or spec.origin is None):
        print("torch is not installed; name the folder of a torch package", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(str(spec and spec.origin)).parent
    files = list(folder.rglob("*.py"))
    print(f"{len(files)} files, {sum(file.stat().st_size for file in files) / 1e6:.0f} MB, {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as cache:
        for label in ("cold", "warm"):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            started = time.perf_counter()
            subprocess.run(
                [Path(sys.executable).with_name("symfix"), "scan", "--exit-zero", "--mode", "2", folder],
                env={**os.environ, "XDG_CACHE_HOME": cache},
                stdout=subprocess.DEVNULL,
                check=True,
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            seconds = time.perf_counter() - started
            print(f"{label}: {seconds:.1f} s, processor time {used:.1f} s, {after.ru_maxrss // 1024} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
