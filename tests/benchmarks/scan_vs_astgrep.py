"""How long a cold and a warm `symfix scan` take beside `ast-grep` searching the same patterns in the same files.

    python tests/benchmarks/scan_vs_astgrep.py FOLDER [--runs 5]

FOLDER is a folder of C++ inside a checkout, such as aten/src/ATen. ast-grep (`pip install ast-grep-cli`) searches
the five accessor patterns once as one rule with `any`, and once as five runs. Each is a whole process, output
thrown away; the runs alternate, and the medians of their ratios are printed. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import DEVNULL

PATTERNS = ("$X.numel()", "$X.sizes()", "$X.size($D)", "$X.stride($D)", "$X.strides()")
SUFFIXES = (".cpp", ".cc", ".h", ".hpp", ".cu", ".cuh")


def wall_seconds(command: list[str], environment: dict[str, str] | None = None) -> float:
    """The wall time of one run of `command`, its output thrown away."""
    begun = time.perf_counter()
    code = subprocess.run(command, stdout=DEVNULL, stderr=DEVNULL, env=environment, check=False).returncode
    if code not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: exit code {code}")
    return time.perf_counter() - begun


def peak_megabytes(command: list[str], environment: dict[str, str] | None = None) -> float:
    """The most memory that `command` and its workers held together: their proportional set sizes, sampled."""
    process = subprocess.Popen(command, stdout=DEVNULL, stderr=DEVNULL, env=environment, start_new_session=True)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(_proportional_kilobytes(pid) for pid in _session(process.pid)))
        time.sleep(0.02)
    return peak / 1024


def _session(leader: int) -> Iterator[int]:
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
        except OSError:  # ended meanwhile
            continue
        if int(fields[3]) == leader:
            yield int(name)


def _proportional_kilobytes(pid: int) -> int:
    try:
        lines = Path("/proc", str(pid), "smaps_rollup").read_text().splitlines()
    except OSError:  # ended meanwhile
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def rule_text() -> str:
    """The ast-grep rule that any of the patterns meets."""
    lines = ["id: concrete-accessor", "language: cpp", "rule:", "  any:"]
    return "\n".join([*lines, *(f"    - pattern: {pattern}" for pattern in PATTERNS)]) + "\n"


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    scripts = Path(sys.executable).parent
    ast_grep = shutil.which("ast-grep", path=str(scripts)) or shutil.which("ast-grep")
    if ast_grep is None:
        parser.error("ast-grep is not installed; pip install ast-grep-cli")
    folder = options.folder.resolve()
    files = [path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"{len(files)} files, {size:.1f} MB, {os.cpu_count()} processors, medians of {options.runs} paired runs")

    one_rule: list[float] = []
    five_runs: list[float] = []
    cold: list[float] = []
    warm: list[float] = []
    with tempfile.TemporaryDirectory(prefix="symfix-bench-") as scratch:
        rule = Path(scratch) / "rule.yml"
        rule.write_text(rule_text(), encoding="utf-8")
        for run in range(options.runs):
            # ast-grep leaves out what .gitignore names; symfix outside git does not, so neither may.
            rule_scan = [ast_grep, "scan", "--no-ignore", "vcs", "--rule", str(rule), str(folder)]
            one_rule.append(wall_seconds(rule_scan))
            search = [ast_grep, "run", "--no-ignore", "vcs", "--lang", "cpp", "--pattern"]
            five_runs.append(sum(wall_seconds([*search, pattern, str(folder)]) for pattern in PATTERNS))
            environment = {**os.environ, "XDG_CACHE_HOME": str(Path(scratch) / f"cache{run}")}
            scan = [str(scripts / "symfix"), "scan", str(folder)]
            cold.append(wall_seconds(scan, environment))
            warm.append(wall_seconds(scan, environment))
        theirs = peak_megabytes(rule_scan)
        ours = peak_megabytes(scan, {**os.environ, "XDG_CACHE_HOME": str(Path(scratch) / "cache")})

    def ratio(mine: list[float], other: list[float]) -> str:
        pairs = [a / b for a, b in zip(mine, other, strict=True)]
        return f"{statistics.median(pairs):.2f} (from {min(pairs):.2f} to {max(pairs):.2f})"

    middle = statistics.median
    print(f"ast-grep, one rule of five patterns: {middle(one_rule):.2f} s, peak {theirs:.0f} MB")
    print(f"ast-grep, five runs:                 {middle(five_runs):.2f} s")
    print(f"symfix scan, cold:                   {middle(cold):.2f} s, peak {ours:.0f} MB with its workers")
    print(f"symfix scan, warm:                   {middle(warm):.2f} s")
    print(f"cold / one rule:  {ratio(cold, one_rule)}")
    print(f"cold / five runs: {ratio(cold, five_runs)}")


if __name__ == "__main__":
    main()
