"""Does a scan after an edit, which keeps what earlier ones found, find what one finds that keeps nothing?

    python tests/corpus/rescans.py TREE [--rounds 20] [--seed 0]

A copy of TREE is edited at random, one file or a few at a time (lines moved, words swapped, files added, taken away and
put back), and scanned after each round with and without the cache. Prints a line per round: the change, both times,
and whether the same was printed. Exits with 1 where it was not.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from corpus_trees import copy_tree, source_files, symfix
from fuzz_mutations import mutations_of

_EDITS = ("comment", "lines dropped", "lines twice", "lines swapped", "words swapped", "operators swapped", "cut off")
_ALL = ("--level", "manual", "--scope", "all", "--format", "json")


Scan = Callable[[Path, bool], object]
"""What is found in a tree, with or without what earlier scans found."""


class Round(NamedTuple):
    """One edit of the copy, and the scans after it."""

    change: str
    kept: float
    """Seconds, with what earlier scans found."""
    fresh: float
    """Seconds, without a cache."""
    same: bool


def rounds(tree: Path, folder: Path, number: int, seed: int, scan: Scan) -> Iterator[Round]:
    """`number` rounds over a copy of `tree` in `folder`."""
    copy, chance = copy_tree(tree, folder / "tree"), random.Random(seed)
    changes = Changes(copy, chance)
    scan(copy, True)
    for _ in range(number):
        made = "; ".join(changes.make() for _ in range(chance.choice((1, 1, 1, 3))))
        begin = time.perf_counter()
        kept = scan(copy, True)
        between = time.perf_counter()
        fresh = scan(copy, False)
        yield Round(made, between - begin, time.perf_counter() - between, kept == fresh)


class Changes:
    """What is done to a copy of a tree."""

    def __init__(self, copy: Path, chance: random.Random) -> None:
        self._copy, self._chance = copy, chance
        self._gone: dict[str, bytes] = {}

    def make(self) -> str:
        """Change one file, and say how."""
        path = self._chance.choice(sorted(source_files(self._copy)))
        file = self._copy / path
        kind = self._chance.choice((*_EDITS * 2, "taken away", "put back", "added"))
        if kind == "put back" and self._gone:
            path, source = self._gone.popitem()
            (self._copy / path).write_bytes(source)
        elif kind == "taken away":
            self._gone[path] = file.read_bytes()
            file.unlink()
        elif kind == "added":
            path = str(Path(path).with_name(f"added_{Path(path).name}"))
            (self._copy / path).write_bytes(file.read_bytes())
        else:
            kind = kind if kind in _EDITS else "comment"
            self._edit(file, kind)
        return f"{kind} {path}"

    def _edit(self, file: Path, kind: str) -> None:
        source = file.read_bytes()
        if kind == "comment":
            lines = source.splitlines(keepends=True)
            mark = b"# noted\n" if file.suffix in (".py", ".yaml") else b"// noted\n"
            lines.insert(self._chance.randrange(len(lines) + 1), mark)
            file.write_bytes(b"".join(lines))
        else:
            file.write_bytes(mutations_of(file.name)[kind](source, self._chance))


def _scanned(copy: Path, cached: bool) -> bytes:
    """What a scan of everything prints."""
    return symfix(["scan", "--exit-zero", *_ALL, *([] if cached else ["--no-cache"])], copy).stdout


def main() -> None:
    """The command that the head of this file describes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        for made in rounds(options.tree.resolve(), Path(folder), options.rounds, options.seed, _scanned):
            differ += not made.same
            print(
                f"{'same' if made.same else 'DIFFERS'} {made.kept:5.1f} s {made.fresh:5.1f} s  {made.change}",
                flush=True,
            )
    print(f"{options.rounds} rounds: {differ} differ")
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
