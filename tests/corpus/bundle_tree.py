"""`symfix bundle` on a whole tree: how many shards, how large, how fast, and does what lands add up?

    python tests/corpus/bundle_tree.py TREE OUT [--level review]
    python tests/corpus/bundle_tree.py TREE OUT --python PYTHON

TREE is a PyTorch source release. OUT, which must not exist, becomes a git repository with all its files. `symfix scan`
runs twice there, so that the second tells what a scan with a warm cache takes; `symfix bundle` then runs the proof of
the split and makes the branches. Beside that proof, `git am` takes the mailbox in a worktree, and the result is
compared with `symfix diff`. Times are by the clock and on the processors, which a busy machine changes less.
With `--python` each shard is then also compiled alone over the torch of that interpreter, which takes minutes, and once
more with the results that were kept; without, no compiler is used.
Exit 0 where everything adds up, and every shard passes the proof.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from corpus_trees import IDENTITY, commit_all, git, symfix


def make_repository(tree: Path, folder: Path) -> int:
    """Copy all of `tree` to `folder` and commit it; returns how many files that are."""
    shutil.copytree(tree, folder, symlinks=True)
    commit_all(folder)
    return len(git(folder, "ls-files", "-z").split(b"\0")) - 1


def timed(arguments: Sequence[str], folder: Path) -> tuple[str, str]:
    """How long symfix takes, by the clock and of all its processes on the processors; and what it says on stderr."""
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    said = symfix(arguments, folder).stderr.decode("utf-8", "replace")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{time.monotonic() - begin:.1f} s ({used:.1f} s on the processors)", said


def _peak() -> float:
    """The memory of the largest process so far that was waited for, in MB."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def branches(folder: Path) -> dict[str, tuple[str, list[str]]]:
    """Each branch below symfix/ with the commit it stands on and the files that it changes there."""
    names = git(folder, "for-each-ref", "--format=%(refname:short)", "refs/heads/symfix/").decode().split()
    found = {}
    for name in names:
        changed = git(folder, "diff-tree", "-r", "-z", "--name-only", f"{name}^", name).decode().split("\0")[:-1]
        found[name] = (git(folder, "rev-parse", f"{name}^").decode().strip(), changed)
    return found


def lands(folder: Path, mailbox: bytes, level: str) -> bool:
    """Whether `git am` of the mailbox gives exactly what applying `symfix diff` does."""
    place = folder.with_name(folder.name + ".landing")
    git(folder, "worktree", "add", "-q", "--detach", str(place), "main")
    git(place, "am", "-q", "--keep-non-patch", "--keep-cr", stdin=mailbox)
    landed = git(place, "rev-parse", "HEAD^{tree}")
    git(place, "reset", "-q", "--hard", "main")
    git(place, "apply", "--index", stdin=symfix(["diff", "--level", level], folder).stdout)
    whole = git(place, "write-tree")
    git(folder, "worktree", "remove", "--force", str(place))
    return landed == whole


def compiled(folder: Path, level: Sequence[str], python: Path) -> None:
    """Print what compiling each shard alone over the torch of `python` shows, at first and with what is kept then."""
    for kept in ("none", "all"):
        took, said = timed(["bundle", *level, "--python", str(python)], folder)
        print(f"the proof with a compiler, {kept} of its results kept: {took}; {_peak():.0f} MB at most")
        print("\n".join(line for line in said.splitlines() if "source" in line), flush=True)


def main() -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--level", default="safe", choices=("safe", "review"))
    parser.add_argument("--python", type=Path, metavar="PYTHON", help="compile over the torch of this interpreter")
    options = parser.parse_args()
    tree, folder = options.tree.resolve(), options.out.resolve()
    os.environ.update(IDENTITY)
    compiler = os.environ.get("CXX", "")
    os.environ["CXX"] = os.devnull  # the split alone is timed at first
    print(f"{make_repository(tree, folder):,} files", flush=True)
    level = ["--level", options.level]
    symfix(["scan", "--format", "csv"], folder)
    scan, _ = timed(["scan", "--format", "csv"], folder)
    bundle, _ = timed(["bundle", *level], folder)
    again, _ = timed(["bundle", *level], folder)
    peak = _peak()
    made = branches(folder)
    small = sum(len(files) <= 3 for _, files in made.values())
    print(f"{len(made)} shards, {small} of them ({100 * small / max(1, len(made)):.0f}%) touch at most 3 files")
    print(f"warm scan {scan}, bundle {bundle}, again {again}, both with that scan; {peak:.0f} MB at most", flush=True)
    fits = lands(folder, symfix(["bundle", "--format", "mbox", *level], folder).stdout, options.level)
    print(
        "git am of the mailbox is what symfix diff says" if fits else "git am of the mailbox DIFFERS from symfix diff"
    )
    if options.python is not None:
        os.environ["CXX"] = compiler
        compiled(folder, level, options.python.absolute())
    return 0 if fits else 1


if __name__ == "__main__":
    raise SystemExit(main())
