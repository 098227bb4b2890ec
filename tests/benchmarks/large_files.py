"""What `symfix scan` and `symfix diff --level review` take of one large generated file, and how that grows.

    python tests/benchmarks/large_files.py [COUNT…] [--same]

For each COUNT (2000 and 8000) a file of as many small functions that ask for a size; with `--same` all have one name.
Prints seconds of processor time, the most memory, and the ratio to the smaller file beside that of the counts; what
symfix takes of an empty file is named first, for it is in all of them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HEAD = "import torch\nfrom torch import Tensor\n"
FUNCTION = "\n\n@torch.compile\ndef {}(x: Tensor):\n    if x.numel() == 0:\n        return x\n    return x + {}\n"
RUNS = (("scan",), ("diff", "--level", "review"))


def measure(arguments: tuple[str, ...], folder: Path) -> tuple[float, int]:
    """Seconds of processor time and the most memory, in MB, of one run with an empty cache."""
    command = [sys.executable, "-m", "codemod.cli", *arguments, "--exit-zero", "--no-cache", "--jobs", "1"]
    with open(os.devnull, "wb") as null, tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache}
        process = subprocess.Popen(command, cwd=folder, stdout=null, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def main() -> int:
    """Print a line for each run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("counts", metavar="COUNT", nargs="*", type=int, default=[2000, 8000])
    parser.add_argument("--same", action="store_true")
    options = parser.parse_args()
    last: dict[tuple[str, ...], tuple[int, float]] = {}
    for count in (0, *sorted(options.counts)):
        with tempfile.TemporaryDirectory() as folder:
            names = ("f" if options.same else f"f{index}" for index in range(count))
            text = HEAD + "".join(FUNCTION.format(name, index) for index, name in enumerate(names))
            Path(folder, "large.py").write_text(text, encoding="utf-8")
            for arguments in RUNS:
                seconds, memory = measure(arguments, Path(folder))
                line = f"{count:6} functions  {' '.join(arguments):20} {seconds:6.1f} s {memory:5} MB"
                if arguments in last and last[arguments][0]:
                    before, took = last[arguments]
                    line += f"  {count / before:.1f} times the functions, {seconds / took:.1f} times the time"
                last[arguments] = (count, seconds)
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
