"""The checkout: where its root is, which files it holds, and whether they are committed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from codemod.borders.documents import LARGEST_SETTINGS, load_toml
from codemod.borders.files import read_below, read_file
from codemod.errors import SymfixError
from codemod.model.paths import Listing
from codemod.terminal import decode
from codemod.tree.git import Git, GitFailed

NATIVE_FUNCTIONS = "aten/src/ATen/native/native_functions.yaml"
_SYMBOLIC_SHAPES = "fx/experimental/symbolic_shapes.py"
"""In the package torch, and in no other."""

# Never entered: other people's sources and things that are made, wherever they stand.
_SKIPPED = frozenset(
    {".git", ".hg", ".svn", "third_party", "node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".eggs"}
)
# Made things, where nobody but .gitignore could tell; only below the root.
_SKIPPED_AT_ROOT = frozenset({"build", "dist", "_build", "cmake-build-debug", "cmake-build-release"})
_GIT_FILE = 1 << 16
"""The most bytes of a `.git` file: a path."""


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
    """A tree of sources. `git` is None where it is under no version control."""

    root: Path
    git: Git | None

    @property
    def git_dir(self) -> Path | None:
        """The folder that git keeps the repository in, None where there is none."""
        return self.git.git_dir if self.git is not None else None

    def names(self) -> list[str]:
        """The POSIX paths, relative to the root and sorted, of everything that may be a source.

        Of a git checkout: tracked files and those untracked that .gitignore does not name; third_party and build
        folders are left out. Links are among them, and tracked files that are gone: `files` tells.
        """
        names = None if self.git is None else self._names_from_git(self.git)
        return sorted(self._walk() if names is None else names)

    def left_out(self) -> list[str]:
        """The POSIX paths, relative to the root, of the tracked files that a sparse checkout has not written."""
        if self.git is None:
            return []
        listed = self.git.run("ls-files", "-z", "-t", "--", ".", cwd=self.root).split(b"\0")
        return [decode(line[2:]) for line in listed if line.startswith(b"S ")]

    def listing(self) -> Listing:
        """The files that may be changed, by name."""
        return Listing(self.root, frozenset(self.names()))

    def files(self, names: Iterable[str]) -> dict[str, StatKey]:
        """The regular files among `names`, with their stats; what is a link or lies behind one is left out."""
        base = f"{self.root}/"
        real = {"": True}
        stats: dict[str, StatKey] = {}
        for name in names:
            try:
                if not _real_folder(base, name.rpartition("/")[0], real):
                    continue
                result = os.lstat(base + name)
            except OSError:  # tracked, and gone from the working tree
                continue
            if stat.S_ISREG(result.st_mode):
                stats[name] = StatKey.of(result)
        return stats

    def repositories(self, names: Iterable[str]) -> list[str]:
        """The folders among `names` that git could take for repositories of their own, sorted; they are files here."""
        folders = (name.removesuffix("HEAD") for name in names if name == "HEAD" or name.endswith("/HEAD"))
        return sorted(folder.rstrip("/") or "." for folder in folders if _bare(self.root / folder))

    def last_commit(self) -> str:
        """The hash of the last commit; empty where there is no git, or nothing was committed yet."""
        if self.git is None:
            return ""
        return self.git.run("rev-parse", "--verify", "--quiet", "HEAD", codes=(0, 1)).decode("ascii").strip()

    def dirty(self, untracked: Sequence[str] = ()) -> list[str]:
        """The tracked files that differ from the last commit, and those of `untracked` that git does not know, sorted.

        Empty where there is no git.
        """
        git = self.git
        if git is None:
            return []
        if not self.last_commit():
            raise SymfixError(f"{self.root}: no commit yet, so nothing could be undone; commit first")
        changed = self.differing("HEAD")
        try:
            tracked = git.run("ls-files", "-z", cwd=self.root) if untracked else b""
        except GitFailed as error:
            raise self._unsaid(error) from error
        return sorted(changed | (set(untracked) - set(os.fsdecode(tracked).split("\0"))))

    def differing(self, commit: str) -> set[str]:
        """The files that `commit` holds or git tracks now, and that are not the same there and in the work tree.

        Empty where there is no git.
        """
        if self.git is None:
            return set()
        options = ("--name-only", "-z", "--relative", "--no-renames", "--ignore-submodules", "--no-ext-diff")
        try:
            changed = self.git.run("diff", *options, commit, "--", cwd=self.root)
        except GitFailed as error:
            raise self._unsaid(error) from error
        return set(os.fsdecode(changed).split("\0")) - {""}

    def _unsaid(self, error: GitFailed) -> SymfixError:
        return SymfixError(f"{self.root}: git cannot say what is committed: {error.reason}")

    def filtered(self, path: str) -> str:
        """The filter of git that a file passes on its way into a commit, which symfix does not run; "" for none."""
        return self.git.filtered(path, self.root) if self.git is not None else ""

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

    def _names_from_git(self, git: Git) -> list[str] | None:
        try:
            listed = git.run("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".", cwd=self.root)
        except GitFailed as error:
            raise SymfixError(f"{self.root}: git ls-files failed: {error.reason}") from error
        names = set(os.fsdecode(listed).split("\0")) - {""}
        # Nothing at all: the tree is unpacked in an ignored folder of somebody's repository.
        return [name for name in names if _SKIPPED.isdisjoint(name.split("/"))] if names else None

    def _walk(self) -> list[str]:
        names: list[str] = []
        folders = [""]
        while folders:
            folder = folders.pop()
            try:
                with os.scandir(f"{self.root}/{folder}") as entries:
                    children = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
            except OSError as error:
                raise SymfixError(f"{self.root}/{folder}: cannot be listed: {error.strerror}") from error
            if folder and ("CMakeCache.txt", False) in children:
                continue
            skipped = _SKIPPED if folder else _SKIPPED | _SKIPPED_AT_ROOT
            folders += (f"{folder}{name}/" for name, is_folder in children if is_folder and name not in skipped)
            names += (folder + name for name, is_folder in children if not is_folder)
        return names


def find_checkout(start: Path) -> Checkout:
    """The checkout that encloses `start`.

    The nearest folder upwards that is a git toplevel or holds ATen's native_functions.yaml; else the nearest whose
    pyproject.toml has [tool.symfix]; else `start` itself (its folder, where it is a file), or the package it is a part
    of: what calls code, and what it calls, is looked for in all of that.
    Raises SymfixError where `start` does not exist, or lies in a repository that has no work tree.
    """
    if not start.exists():
        raise SymfixError(f"{start}: no such file or folder")
    real = Path(os.path.realpath(start))
    here = real if real.is_dir() else real.parent
    candidates = [here, *here.parents]
    git = next((Git(git_dir, folder) for folder in candidates if (git_dir := _git_dir(folder))), None)
    bare = next((folder for folder in candidates if _bare(folder)), None)
    if git is None and bare is not None:
        raise SymfixError(f"{bare}: a bare repository has no files to read; run symfix in a clone or a worktree of it")
    for folder in candidates:
        if (git is not None and folder == git.top) or (folder / NATIVE_FUNCTIONS).is_file():
            return Checkout(folder, git)
    for folder in candidates:
        if configured(folder):
            return Checkout(folder, None)
    return Checkout(whole_package(here), None)


def checkout_of(path: Path) -> Checkout:
    """The checkout that holds `path`: as `find_checkout` says, and where git ignores it, `path` as a tree of its own,
    or the package it is a part of.

    So an installed package is read by its name though it stands in an ignored folder of somebody's checkout.
    Raises SymfixError as `find_checkout` does.
    """
    checkout, real = find_checkout(path), Path(os.path.realpath(path))
    git = checkout.git
    if git is None or real == git.top or not _ignored(git, real):
        return checkout
    here = real if real.is_dir() else real.parent
    return Checkout(whole_package(here) if checkout.root == git.top else checkout.root, None)


def whole_package(folder: Path) -> Path:
    """The outermost package of Python that `folder` is a package of, itself where it is none."""
    while (folder / "__init__.py").is_file() and (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    return folder


def of_pytorch(checkout: Checkout) -> bool:
    """Whether a tree is PyTorch itself: its checkout, its package, a folder that holds that or, without git, a part."""
    root = checkout.root
    packages = [root]
    if checkout.git is None:
        packages += [folder for folder in root.parents if folder.name == "torch"]
    return holds_pytorch(root) or any((folder / _SYMBOLIC_SHAPES).is_file() for folder in packages)


def holds_pytorch(root: Path) -> bool:
    """Whether PyTorch's package is `torch` in a folder: its checkout's, or the one it is installed in."""
    return (root / NATIVE_FUNCTIONS).is_file() or (root / "torch" / _SYMBOLIC_SHAPES).is_file()


def is_marked(folder: Path) -> bool:
    """Whether a folder says by itself that it is the root of a tree: PyTorch's, or one that symfix is configured in."""
    return (folder / NATIVE_FUNCTIONS).is_file() or configured(folder)


def configured(folder: Path) -> bool:
    """Whether the pyproject.toml of `folder` has a table [tool.symfix], or mentions one and is no TOML."""
    try:
        content = read_below(folder, "pyproject.toml", LARGEST_SETTINGS)
    except OSError:
        return False
    try:
        return options_of(content, "pyproject.toml") is not None
    except SymfixError:
        return b"tool.symfix" in content


def options_of(content: bytes, name: str) -> Any:
    """What `tool.symfix` is in a pyproject.toml, however it is written; None where there is none.

    Raises SymfixError, which calls the file `name`, where it mentions symfix and is no TOML.
    """
    tool = load_toml(content, name).get("tool") if b"symfix" in content else None
    return tool.get("symfix") if isinstance(tool, dict) else None


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


def _ignored(git: Git, path: Path) -> bool:
    """Whether git neither tracks nor would add anything at a path, which is below its top."""
    name = os.path.relpath(path, git.top)
    kinds = (("--cached",), ("--others", "--exclude-standard"))  # the index alone answers at once, and most often
    return not any(git.run("--literal-pathspecs", "ls-files", "-z", *kind, "--", name) for kind in kinds)


def _git_dir(folder: Path) -> Path | None:
    """The git folder of a toplevel; of a linked worktree or a submodule, the one its `.git` file names."""
    dot = folder / ".git"
    if not dot.is_dir():
        try:
            text = decode(read_file(dot, _GIT_FILE))
        except OSError:
            return None
        if not text.startswith("gitdir:"):
            return None
        dot = folder / text.removeprefix("gitdir:").strip()
    return dot if _bare(dot) or ((dot / "HEAD").is_file() and (dot / "commondir").is_file()) else None


def _bare(folder: Path) -> bool:
    """Whether git could take `folder` itself for a repository."""
    return (folder / "objects").is_dir() and (folder / "refs").is_dir() and os.path.lexists(folder / "HEAD")


def _real_folder(base: str, folder: str, checked: dict[str, bool]) -> bool:
    """Whether `folder` below `base` is one, and no link is on the way to it. Raises OSError.

    `checked` holds the answers so far, and gets those of this call.
    """
    if folder not in checked:
        above = _real_folder(base, folder.rpartition("/")[0], checked)
        checked[folder] = above and stat.S_ISDIR(os.lstat(base + folder).st_mode)
    return checked[folder]


def _inside(path: str, root: str) -> bool:
    return path.startswith(root.rstrip(os.sep) + os.sep)
