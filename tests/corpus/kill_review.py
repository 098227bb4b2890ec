"""SIGKILL `symfix review` at random moments: is every decision kept that was on the screen, and none that was not made?

    python tests/corpus/kill_review.py TREE [--kills 50] [--seed 1]

Every round starts a review of a copy of TREE under tmux, presses y and n at random, faster than they are answered, and
kills the review after a random time. What is kept must be what the keys said, in their order; at least as much as the
screen showed just before, and at most as much as was pressed. Exit 1 where one round is otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from corpus_trees import copy_tree, symfix
from review_session import Tmux, git

LONGEST = 0.6  # seconds from the first key to the kill
CHOICES = {"accept": "y", "reject": "n"}


def killed_review(folder: Path, keys: str, seconds: float) -> int:
    """Press `keys` in a review of `folder` and kill it after `seconds`; returns how many it showed as decided."""
    program = Path(sys.executable).with_name("symfix")
    terminal = Tmux(folder, f"exec {program} review")
    try:
        total = int(terminal.await_line(r" \d+ to decide$").split()[-3])
        end = time.monotonic() + seconds
        for key in keys:
            terminal.press(key)
            if time.monotonic() > end:
                break
        left = next((line for line in terminal.screen() if re.search(r" \d+ to decide$", line)), f"{total} to decide")
        os.kill(terminal.pid(), signal.SIGKILL)
        return total - int(left.split()[-3])
    finally:
        terminal.close()


def kept(folder: Path) -> str:
    """The decisions that were kept, as the keys that made them."""
    path = folder / ".git/symfix/decisions.json"
    if not path.exists():
        return ""
    return "".join(CHOICES[decision["choice"]] for decision in json.loads(path.read_bytes())["decisions"])


def main() -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    bad = 0
    ahead: Counter[int] = Counter()
    with tempfile.TemporaryDirectory(prefix="symfix-corpus-") as scratch:
        folder = copy_tree(options.tree.resolve(), Path(scratch) / Path(scratch).name)
        git(folder, "init", "-q", ".")
        for number in range(1, options.kills + 1):
            symfix(["review", "--forget", "--all"], folder)
            keys = "".join(chance.choice("yn") for _ in range(20))
            shown = killed_review(folder, keys, chance.uniform(0, LONGEST))
            made = kept(folder)
            ahead[len(made) - shown] += 1
            if not keys.startswith(made) or len(made) < shown:
                bad += 1
                print(f"round {number}: pressed {keys}, {shown} on the screen, kept {made}")
    print(
        "kept beyond what the screen showed: "
        + ", ".join(f"{n} in {count} rounds" for n, count in sorted(ahead.items()))
    )
    print(f"{options.kills - bad} of {options.kills} rounds: every decision shown was kept, and none but those made")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
