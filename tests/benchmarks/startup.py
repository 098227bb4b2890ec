"""How long `symfix --version`, every `symfix COMMAND --help` and a completion by the shell take.

    python tests/benchmarks/startup.py [--runs 15]

Beside them `python -c pass` and `import click`, below which nothing of them can come. All take turns, so that other
work on the machine slows down each alike; Python's bytecode is kept, as after an installation, and the first turn,
which writes it, is not counted. Prints the median and the least of the seconds that pass, the median of processor
time, and the ratios of the latter to the two floors; no time is asserted.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence

import click

from codemod.cli.root import group

FLOORS = {"python -c pass": "pass", "import click": "import click"}
SYMFIX = "from codemod.cli import main; main()"
COMPLETION = {"_SYMFIX_COMPLETE": "bash_complete", "COMP_WORDS": "symfix scan --", "COMP_CWORD": "2"}


def measure(command: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Seconds that pass and seconds of processor time of one run."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return time.perf_counter() - begun, usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15, metavar="N", help="runs of each (15)")
    runs = parser.parse_args().runs
    helps = [(name, "--help") for name in group.list_commands(click.Context(group))]
    commands = {name: [sys.executable, "-c", code] for name, code in FLOORS.items()}
    for arguments in [("--version",), ("--help",), *helps]:
        commands[" ".join(("symfix", *arguments))] = [sys.executable, "-c", SYMFIX, *arguments]
    completed = f"{COMPLETION['COMP_WORDS']}<TAB>"
    commands[completed] = [sys.executable, "-c", SYMFIX]
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for turn in range(runs + 1):
            for name, command in commands.items():
                seconds = measure(command, {**environment, **(COMPLETION if name == completed else {})})
                if turn:
                    taken[name].append(seconds)
    busy = {name: statistics.median(processor for _, processor in turns) for name, turns in taken.items()}
    print(f"{'':24} median  least  processor  / pass  / click")
    for name, turns in taken.items():
        wall = [seconds for seconds, _ in turns]
        ratios = "  ".join(f"{busy[name] / busy[floor]:6.2f}" for floor in FLOORS)
        print(f"{name:24} {statistics.median(wall):6.3f} {min(wall):6.3f} {busy[name]:10.3f}  {ratios}")


if __name__ == "__main__":
    main()
