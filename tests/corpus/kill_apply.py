"""SIGKILL `symfix apply` at random moments: is every file its old or its new self, and does the next run finish?

    python tests/corpus/kill_apply.py TREE [--kills 100] [--level review] [--seed 1]

An uninterrupted run in one copy of TREE says what the new files are, how long a run takes, and when it writes. In
another copy every round starts `apply`, kills it (with its workers) after a random time, every second one while it
writes, compares each source file with both selves, and lets a last `apply` run through: it must end at the same
bytes. Exit 1 where one round does not.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

from corpus_trees import apply_in, changed_files, copy_tree

SHORTEST = 0.05  # seconds; file times are too coarse to show how short the writing of a few files is


def killed_apply(folder: Path, level: str, seconds: float, writing: Collection[Path]) -> bool:
    """Start `apply` in `folder` and SIGKILL its process group; returns whether it was still running then.

    It is killed after `seconds`, from its start or, where `writing` names folders, from the first change in one.
    """
    command = [str(Path(sys.executable).with_name("symfix")), "apply", "--no-check", "--allow-no-vcs", "--level", level]
    before = {place: place.stat().st_mtime_ns for place in writing}
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    while before and process.poll() is None and all(place.stat().st_mtime_ns == then for place, then in before.items()):
        time.sleep(0.0005)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def timed_apply(folder: Path, level: str, paths: Collection[str]) -> tuple[float, float]:
    """Run `apply` in `folder`; returns its seconds, and those between the first and the last of `paths` written."""
    begun = time.perf_counter()
    apply_in(folder, level)
    written = [(folder / path).stat().st_ctime_ns for path in paths]
    return time.perf_counter() - begun, (max(written) - min(written)) / 1e9


def states(folder: Path, old: Path, new: Mapping[str, bytes]) -> dict[str, str]:
    """For each path of `new`: "old", "new" or "torn" in `folder`; also every other file that changed, as "torn"."""
    found = {}
    for path, content in new.items():
        data = (folder / path).read_bytes() if (folder / path).is_file() else b""
        found[path] = "new" if data == content else "old" if data == (old / path).read_bytes() else "torn"
    return found


def main() -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--level", default="review", choices=("safe", "review"))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    tree = options.tree.resolve()
    outcomes: Counter[str] = Counter()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="symfix-corpus-") as scratch:
        whole = copy_tree(tree, Path(scratch) / "whole")
        apply_in(whole, options.level)
        new = {path: (whole / path).read_bytes() for path in changed_files(tree, whole)}
        if not new:
            print(f"{tree}: symfix changes nothing here, so nothing is shown by killing it")
            return 1
        victim = copy_tree(tree, Path(scratch) / "victim")
        length, window = timed_apply(victim, options.level, new)
        print(f"{len(new)} files change; an apply takes {length:.2f} s, its writes {window * 1000:.0f} ms")
        folders = {(victim / path).parent for path in new}
        for number in range(1, options.kills + 1):
            for path in new:
                shutil.copyfile(tree / path, victim / path)
            writing = number % 2 == 1
            seconds = chance.uniform(0, max(window * 1.5, SHORTEST) if writing else length)
            running = killed_apply(victim, options.level, seconds, folders if writing else ())
            found = states(victim, tree, new)
            torn = [path for path, state in found.items() if state == "torn"]
            seen = "torn" if torn else "/".join(sorted(set(found.values()))) if running else "ended before the kill"
            outcomes[seen] += 1
            length, _ = timed_apply(victim, options.level, new)
            left = [path for path, content in new.items() if (victim / path).read_bytes() != content]
            extra = sorted(set(changed_files(tree, victim)) - set(new))
            if torn or left or extra:
                bad += 1
                print(f"round {number}: torn {torn}, not finished by the next run {left}, more changed {extra}")
    print(", ".join(f"{count} x {state}" for state, count in sorted(outcomes.items())))
    print(f"{options.kills - bad} of {options.kills} rounds: every file old or new, and the next run finished the work")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
