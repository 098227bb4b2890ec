"""Where the real PyTorch trees lie, copies and repositories of them, and what `symfix apply` changed in a copy."""

from __future__ import annotations

import filecmp
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

SOURCE_SUFFIXES = (".cpp", ".cc", ".cxx", ".h", ".hpp", ".cuh", ".cu", ".py", ".yaml")
# An accessor that answers with symbols, as a call on a receiver.
_SYMBOLIC = re.compile(rb"(?:\.|->)\s*sym_(?:numel|sizes?|strides?|storage_offset|nbytes)\s*\(")
# What `symfix` changes belongs to the tree; what it reads of these folders is nothing.
_SKIPPED = ("third_party", "docs", "android", "ios", ".git", "build")

IDENTITY = {f"GIT_{who}_{what}": "symfix@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
"""The environment in which commits of a copy are made, whoever makes them."""
_DATES = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "@1600000000 +0000")


def trees_folder() -> Path:
    """The folder with pytorch-1.13.1, pytorch-2.6.0 and headers-2.6.0: $SYMFIX_TREES, else below the user's cache."""
    given = os.environ.get("SYMFIX_TREES")
    if given:
        return Path(given)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "symfix" / "trees"


def find_tree(name: str) -> Path | None:
    """The folder of the tree `name`, or None where it is absent."""
    folder = trees_folder() / name
    return folder if folder.is_dir() else None


def copy_tree(tree: Path, target: Path) -> Path:
    """Copy `tree` to `target` (which must not exist) without the folders no operator lives in; returns `target`."""

    def skipped(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if Path(folder) == tree and name in _SKIPPED]

    shutil.copytree(tree, target, symlinks=True, ignore=skipped)
    return target


def copy_kernels(tree: Path, target: Path) -> Path:
    """Copy the operators of PyTorch's `tree` that all backends share to `target` (which must not exist).

    They are most of what is changed, and take a third of the time to analyse: aten/src/ATen without the folders of its
    `native`, and their formulas. Returns `target`.
    """
    aten = tree / "aten/src/ATen"
    backends = [path for path in (aten / "native").iterdir() if path.is_dir()]

    def skipped(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if Path(folder, name) in backends]

    for folder in (aten, tree / "tools/autograd", tree / "torch/csrc/autograd"):
        shutil.copytree(folder, target / folder.relative_to(tree), symlinks=True, ignore=skipped)
    return target


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """What a git command prints, run in `folder` without the user's configuration and with a fixed date.

    Raises SystemExit with its message where it fails.
    """
    environment = {**os.environ, **IDENTITY, **_DATES, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, input=stdin, capture_output=True, check=False, env=environment
    )
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments[:3])}: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout


def commit_all(folder: Path) -> str:
    """Make `folder` a git repository with all its files in one commit; returns the id of the commit's tree."""
    git(folder, "init", "-q", "-b", "main", ".")
    git(folder, "config", "gc.auto", "0")  # it would go on in the background, and the folder may be removed by then
    git(folder, "add", "-A", "-f", ".")
    git(folder, "commit", "-q", "--allow-empty", "-m", "start")
    return git(folder, "rev-parse", "HEAD^{tree}").decode().strip()


def symfix(arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Run the `symfix` of this environment in `folder`; raises SystemExit with its message where it fails."""
    command = Path(sys.executable).with_name("symfix")
    if not command.exists():
        raise SystemExit(f"{command}: not found; install symfix into this environment first")
    result = subprocess.run([str(command), *arguments], cwd=folder, capture_output=True, check=False)
    message = result.stderr.decode("utf-8", "replace").strip() or f"exit code {result.returncode}"
    # An uncaught exception leaves with 1, as findings do.
    if result.returncode not in (0, 1) or "Traceback (most recent call last)" in message:
        raise SystemExit(f"symfix {' '.join(arguments)}: {message}")
    return result


def apply_in(
    folder: Path, level: str = "safe", vocabulary: Path | None = None, paths: Sequence[str] = (), scope: str = ""
) -> int:
    """`symfix apply` in a copy that is under no version control; returns its exit code, 0 (nothing) or 1 (changed)."""
    more = ["--vocabulary", str(vocabulary.resolve())] if vocabulary else []
    more += ["--scope", scope] if scope else []
    return symfix(["apply", "--no-check", "--allow-no-vcs", "--level", level, *more, *paths], folder).returncode


def source_files(folder: Path) -> Iterator[str]:
    """The POSIX paths of the source files below `folder`, relative to it."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith(SOURCE_SUFFIXES):
                yield (Path(place) / name).relative_to(folder).as_posix()


def changed_files(before: Path, after: Path) -> list[str]:
    """The source files of `after` whose bytes differ from those in `before`, or that `before` lacks."""
    return [
        path
        for path in source_files(after)
        if not (before / path).is_file() or not filecmp.cmp(before / path, after / path, shallow=False)
    ]


def converted_sites(before: Path, after: Path, changed: Sequence[str]) -> int:
    """How many more symbolic accessor calls the changed files hold than before."""

    def count(path: Path) -> int:
        return len(_SYMBOLIC.findall(path.read_bytes())) if path.is_file() else 0

    return sum(count(after / path) - count(before / path) for path in changed)
