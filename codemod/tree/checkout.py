"""The checkout: where its root is, which files it holds, and whether they are committed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from codemod.errors import SymfixError

NATIVE_FUNCTIONS = "aten/src/ATen/native/native_functions.yaml"

# Never entered: other people's sources and things that are made, wherever they stand.
_SKIPPED = frozenset(
    {".git", ".hg", ".svn", "third_party", "node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".eggs"}
)
# Made things, where nobody but .gitignore could tell; only below the root.
_SKIPPED_AT_ROOT = frozenset({"build", "dist", "_build", "cmake-build-debug", "cmake-build-release"})


class StatKey(NamedTuple):
    """What tells, without reading a file, that it has not changed."""

    mtime_ns: int
    ctime_ns: int
    size: int
    inode: int

    @classmethod
    def of(cls, result: os.stat_result) -> StatKey:
        return cls(result.st_mtime_ns, result.st_ctime_ns, result.st_size, result.st_ino)


@dataclass(frozen=True, slots=True)
class Checkout:
    """A tree of sources. `git_dir` is None where it is under no version control."""

    root: Path
    git_dir: Path | None

    def names(self) -> list[str]:
        """The POSIX paths, relative to the root and sorted, of everything that may be a source.

        Of a git checkout: tracked files and those untracked that .gitignore does not name; third_party and build
        folders are left out. Links are among them, and tracked files that are gone: `files` tells.
        """
        names = None if self.git_dir is None else self._names_from_git()
        return sorted(self._walk() if names is None else names)

    def files(self, names: Iterable[str]) -> dict[str, StatKey]:
        """The regular files among `names`, with their stats.

        A link counts as the file it leads to, once, and not at all where it leads out of the tree.
        """
        base = f"{self.root}/"
        found: dict[str, StatKey] = {}
        for name in names:
            try:
                result = os.lstat(base + name)
                if stat.S_ISLNK(result.st_mode):
                    target = self._target(name)
                    if target is None:
                        continue
                    name, result = target, os.stat(base + target)
            except OSError:  # tracked, and gone from the working tree; or a link that leads nowhere
                continue
            if stat.S_ISREG(result.st_mode):
                found[name] = StatKey.of(result)
        return found

    def dirty(self, untracked: Sequence[str] = ()) -> list[str]:
        """The tracked files that differ from the last commit, and those of `untracked` that git does not know, sorted.

        Empty where there is no git.
        """
        if self.git_dir is None:
            return []
        import git

        command = git.Git(self.root)
        if command.rev_parse("HEAD", verify=True, quiet=True, with_exceptions=False) == "":
            raise SymfixError(f"{self.root}: no commit yet, so nothing could be undone; commit first")
        try:
            changed = command.diff("HEAD", "--name-only", "-z", "--relative", "--no-renames", "--ignore-submodules")
            known = command.ls_files("-z").split("\0") if untracked else []
        except git.GitError as error:
            raise SymfixError(f"{self.root}: git cannot say what is committed: {_last_line(str(error))}") from error
        return sorted((set(changed.split("\0")) | (set(untracked) - set(known))) - {""})

    def relative(self, path: Path) -> str:
        """`path` relative to the root, POSIX, links followed; "" for the root itself.

        Raises SymfixError where it does not exist or lies outside.
        """
        if not path.exists():
            raise SymfixError(f"{path}: no such file or folder")
        real = os.path.realpath(path)
        if real == str(self.root):
            return ""
        if not _inside(real, str(self.root)):
            raise SymfixError(f"{path}: lies outside the checkout {self.root}; run symfix once for each checkout")
        return os.path.relpath(real, self.root).replace(os.sep, "/")

    def _names_from_git(self) -> list[str] | None:
        import subprocess

        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "."]
        try:
            done = subprocess.run(command, cwd=self.root, capture_output=True, check=True)
        except OSError as error:
            raise SymfixError(f"git cannot be run: {error.strerror}; {self.root} lies in a git checkout") from error
        except subprocess.CalledProcessError as error:
            told = _last_line(os.fsdecode(error.stderr))
            raise SymfixError(f"{self.root}: git ls-files failed: {told}") from error
        names = set(os.fsdecode(done.stdout).split("\0")) - {""}
        # Nothing at all: the tree is unpacked in an ignored folder of somebody's repository.
        return [name for name in names if _SKIPPED.isdisjoint(name.split("/"))] if names else None

    def _walk(self) -> list[str]:
        names: list[str] = []
        folders = [""]
        while folders:
            folder = folders.pop()
            try:
                with os.scandir(f"{self.root}/{folder}") as entries:
                    found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
            except OSError as error:
                raise SymfixError(f"{self.root}/{folder}: cannot be listed: {error.strerror}") from error
            if folder and ("CMakeCache.txt", False) in found:
                continue
            skipped = _SKIPPED if folder else _SKIPPED | _SKIPPED_AT_ROOT
            folders += (f"{folder}{name}/" for name, is_folder in found if is_folder and name not in skipped)
            names += (folder + name for name, is_folder in found if not is_folder)
        return names

    def _target(self, link: str) -> str | None:
        """The file of the tree that a link leads to, or None."""
        real = os.path.realpath(self.root / link)
        if not _inside(real, str(self.root)):
            return None
        target = os.path.relpath(real, self.root).replace(os.sep, "/")
        return target if _SKIPPED.isdisjoint(target.split("/")) else None


def find_checkout(start: Path) -> Checkout:
    """The checkout that encloses `start`.

    The nearest folder upwards that is a git toplevel or holds ATen's native_functions.yaml; else the nearest whose
    pyproject.toml has [tool.symfix]; else `start` itself (its folder, where it is a file).
    Raises SymfixError where `start` does not exist.
    """
    if not start.exists():
        raise SymfixError(f"{start}: no such file or folder")
    real = Path(os.path.realpath(start))
    here = real if real.is_dir() else real.parent
    candidates = [here, *here.parents]
    git_dirs = ((folder, _git_dir(folder)) for folder in candidates)
    toplevel, git_dir = next(((folder, found) for folder, found in git_dirs if found), (None, None))
    for folder in candidates:
        if folder == toplevel or (folder / NATIVE_FUNCTIONS).is_file():
            return Checkout(folder, git_dir)
    for folder in candidates:
        if configured(folder / "pyproject.toml"):
            return Checkout(folder, None)
    return Checkout(here, None)


def configured(pyproject: Path) -> bool:
    """Whether `pyproject` exists and mentions [tool.symfix]."""
    try:
        return b"tool.symfix" in pyproject.read_bytes()
    except OSError:
        return False


def user_cache() -> Path:
    """symfix's folder below $XDG_CACHE_HOME, else below ~/.cache.

    Raises SymfixError where the user has no home folder, as in some containers.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.expanduser("~/.cache")
    if not os.path.isabs(base):
        raise SymfixError(
            "no home folder is known to keep the cache in; set HOME or XDG_CACHE_HOME, or give --no-cache"
        )
    return Path(base) / "symfix"


def _git_dir(folder: Path) -> Path | None:
    """The git folder of a toplevel; of a linked worktree or a submodule, the one its `.git` file names."""
    dot = folder / ".git"
    if dot.is_dir():
        return dot if (dot / "HEAD").is_file() else None
    try:
        text = dot.read_text()
    except (OSError, UnicodeDecodeError):
        return None
    return folder / text[len("gitdir:") :].strip() if text.startswith("gitdir:") else None


def _inside(path: str, root: str) -> bool:
    return path.startswith(root.rstrip(os.sep) + os.sep)


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]
