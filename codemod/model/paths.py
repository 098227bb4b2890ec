"""Which paths are those of the tree's own files: the only ones that symfix edits, whatever names them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from codemod.errors import SymfixError
from codemod.terminal import shorten_path, visible

# What file systems leave out of a name: HFS+ these characters, NTFS dots and spaces at its end. See git's own
# is_hfs_dotgit and is_ntfs_dotgit.
_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_LONGEST = 1000  # characters of a path in a message
_GIT = re.compile(r"(?:\.git|git~[0-9]+)[ .]*(?::.*)?", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a tree: `names` are POSIX paths relative to `root`, as `Checkout.names` lists them."""

    root: Path
    names: Collection[str]

    def refusal(self, path: str) -> str:
        """Why symfix does not touch the file `path`, as the end of a sentence; "" where it does."""
        why = misplaced(path)
        if why:
            return why
        parts = path.split("/")
        if path not in self.names:
            module = next((p for n in range(1, len(parts)) if (p := "/".join(parts[:n])) in self.names), "")
            if module and (self.root / module).is_dir() and not (self.root / module).is_symlink():
                return f"lies in the submodule {module}; run symfix in there"
            if not module:
                return "not among the files of the checkout (ignored by git, third party, or not there)"
        for count in range(1, len(parts) + 1):
            try:
                mode = os.lstat(self.root / "/".join(parts[:count])).st_mode
            except OSError as error:
                return f"cannot be read: {error.strerror}"
            if stat.S_ISLNK(mode):
                return "leads through a link, and only the checkout's own files are changed"
        return "" if stat.S_ISREG(mode) else "not a regular file"

    def check(self, paths: Iterable[str]) -> None:
        """Raise SymfixError, which names it, where symfix does not touch one of `paths`."""
        for path in sorted(set(paths)):
            why = self.refusal(path)
            if why:
                raise SymfixError(f"{quoted_path(path)}: {why}")


def quoted_path(path: str) -> str:
    """`path` as a message names it, whoever wrote it: on one line, and of a path too long to be one only the end."""
    return visible(shorten_path(path[-_LONGEST - 1 :], _LONGEST))


def misplaced(path: str) -> str:
    """Why `path` cannot be that of a file of any tree, as the end of a sentence; "" where it can."""
    parts = path.split("/")
    if "\0" in path or os.path.isabs(path) or not {"", ".", ".."}.isdisjoint(parts):
        return "leads out of the tree, and only the checkout's own files are changed"
    if any(_GIT.fullmatch(_IGNORED.sub("", part)) for part in parts):
        return "belongs to git, and only the checkout's own files are changed"
    return ""


def upwards(folder: str) -> Iterator[str]:
    """A folder and those it lies in, up to the root."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""
