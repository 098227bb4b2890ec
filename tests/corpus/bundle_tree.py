"""`symfix bundle` on a whole tree: how many shards, how large, how fast, and does what lands add up?

    python tests/corpus/bundle_tree.py TREE OUT [--level review]
    python tests/corpus/bundle_tree.py TREE OUT --headers DIR [--std c++17]

TREE is a PyTorch source release. OUT, which must not exist, becomes a git repository with all its files. `symfix scan`
runs twice there, so that the second tells what a scan with a warm cache takes; `symfix bundle` then runs the proof of
the split and makes the branches. Beside that proof, `git am` takes the mailbox in a worktree, and the result is
compared with `symfix diff`. Times are by the clock and on the processors, which a busy machine changes less.
With `--headers` (the include folder of a build of the same version) each branch's changed sources are type-checked,
if they did so before, and for each changed header some that include it.
Exit 0 where everything adds up and nothing broke.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from corpus_compile import Compiler, digest
from corpus_includes import HEADERS, SOURCES, Includes
from corpus_trees import symfix

_IDENTITY = {f"GIT_{who}_{what}": "symfix@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """What a git command prints. Raises SystemExit with its message where it fails."""
    environment = {**os.environ, **_IDENTITY, "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, input=stdin, capture_output=True, check=False, env=environment
    )
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments[:3])}: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout


def make_repository(tree: Path, folder: Path) -> int:
    """Copy all of `tree` to `folder` and commit it; returns how many files that are."""
    shutil.copytree(tree, folder, symlinks=True)
    git(folder, "init", "-q", "-b", "main", ".")
    git(folder, "add", "-A", "-f", ".")
    git(folder, "commit", "-q", "-m", "start")
    return len(git(folder, "ls-files", "-z").split(b"\0")) - 1


def timed(arguments: Sequence[str], folder: Path) -> str:
    """How long symfix takes, by the clock and of all its processes on the processors."""
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    symfix(arguments, folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{time.monotonic() - begin:.1f} s ({used:.1f} s on the processors)"


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


def broken_alone(folder: Path, tree: Path, compiler: Compiler, at_most: int) -> tuple[int, int, list[str]]:
    """How many sources were checked on how many branches, and a line for each that only compiles without its branch.

    `folder` is left at main.
    """
    includes = Includes(tree)
    checked = on = 0
    lines = []
    for name in sorted(branches(folder)):
        git(folder, "checkout", "-q", "--detach", name)
        changed = git(folder, "diff", "-z", "--name-only", "main", name).decode().split("\0")[:-1]
        headers = [path for path in changed if path.endswith(HEADERS)]
        sources = {path for path in changed if path.endswith(SOURCES)}
        for header in headers:
            sources.update(includes.sources_of(header, at_most, lambda path: path.startswith("aten/src/ATen/native/")))
        known = sorted(path for path in sources if not compiler.check(tree, path, str(tree)))
        for path in known:
            state = digest(folder, includes.headers_of(path, headers))
            error = compiler.check(folder, path, f"{tree}+{state}" if state else str(tree))
            if error:
                lines.append(f"BROKEN {name}: {path}\n    {error}")
        checked += len(known)
        on += bool(known)
        print(f"{name}: {len(known)} sources", flush=True)
    git(folder, "checkout", "-q", "main")
    return checked, on, lines


def main() -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--level", default="safe", choices=("safe", "review"))
    parser.add_argument("--headers", type=Path, metavar="DIR")
    parser.add_argument("--std", default="c++17", help="default: %(default)s")
    parser.add_argument("--includers", type=int, default=4, help="sources per changed header, %(default)s")
    options = parser.parse_args()
    tree, folder = options.tree.resolve(), options.out.resolve()
    os.environ.update(_IDENTITY)
    print(f"{make_repository(tree, folder):,} files", flush=True)
    level = ["--level", options.level]
    symfix(["scan", "--format", "csv"], folder)
    scan = timed(["scan", "--format", "csv"], folder)
    bundle = timed(["bundle", *level], folder)
    again = timed(["bundle", *level], folder)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    made = branches(folder)
    small = sum(len(files) <= 3 for _, files in made.values())
    print(f"{len(made)} shards, {small} of them ({100 * small / max(1, len(made)):.0f}%) touch at most 3 files")
    print(f"warm scan {scan}, bundle {bundle}, again {again}, both with that scan; {peak:.0f} MB at most", flush=True)
    fits = lands(folder, symfix(["bundle", "--format", "mbox", *level], folder).stdout, options.level)
    print(
        "git am of the mailbox is what symfix diff says" if fits else "git am of the mailbox DIFFERS from symfix diff"
    )
    if options.headers is None:
        return 0 if fits else 1
    headers = options.headers.resolve()
    compiler = Compiler(options.std, (headers, headers / "torch/csrc/api/include"), ("-DAT_PER_OPERATOR_HEADERS",))
    checked, on, lines = broken_alone(folder, tree, compiler, options.includers)
    print("\n".join([*lines, f"{checked - len(lines)} of {checked} sources on {on} branches compile as before"]))
    return 0 if fits and not lines else 1


if __name__ == "__main__":
    raise SystemExit(main())
