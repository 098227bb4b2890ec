"""What `symfix probe -- python PROGRAM` costs beside the program itself.

    python tests/benchmarks/probe_overhead.py [--runs 5] [--python PYTHON]

The program compiles a small transformer with dynamic shapes, forward and backward, and calls it with three sizes. It,
the same under `probe` and an import of torch alone take turns. Prints the median of processor time of each, and the
ratio of the probed to the plain run without what the import takes, so that compiling is compared with compiling.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, width)
        self.project = nn.Linear(width, 3 * width)
        self.mix = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        query, key, value = self.project(self.norm(x)).view(batch, length, 3, 4, -1).permute(2, 0, 3, 1, 4)
        heads = nn.functional.scaled_dot_product_attention(query, key, value)
        x = x + self.out(heads.transpose(1, 2).reshape(batch, length, width))
        return x + self.mix(x)


model = torch.compile(nn.Sequential(*(Block(32) for _ in range(6))), dynamic=True, backend="aot_eager")
for length in (5, 7, 9):
    model(torch.randn(2, length, 32)).sum().backward()
"""


def seconds(command: list[str], folder: str) -> float:
    """Seconds of processor time of one run, children included. Raises SystemExit where it ends with 2 or more."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode > 1:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print the medians and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="runs of each (5)")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has torch (this one)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "program.py").write_text(PROGRAM)
        plain = [arguments.python, "program.py"]
        commands = {
            "import torch": [arguments.python, "-c", "import torch, torch._dynamo"],
            "the program": plain,
            "probed": [sys.executable, "-m", "codemod.cli", "probe", "--no-source", "--", *plain],
        }
        taken: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(arguments.runs + 1):  # the first writes bytecode
            for name, command in commands.items():
                taken[name].append(seconds(command, folder))
    medians = {name: statistics.median(times[1:]) for name, times in taken.items()}
    for name, median in medians.items():
        print(f"{name:14} {median:6.2f} s")
    floor = medians["import torch"]
    print(f"{(medians['probed'] - floor) / (medians['the program'] - floor):.2f} times the program's own compiling")


if __name__ == "__main__":
    main()
