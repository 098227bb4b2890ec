"""A tree with a few files replaced: folders of links to the original, which stays as it is."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from codemod.digest import digest

_UNUSED_SECONDS = 7 * 24 * 3600.0


def overlay(root: Path, replaced: Mapping[str, bytes | None], base: Path) -> Path:
    """A folder below `base` that holds what `root` does, with the files of `replaced` replaced or added.

    A file whose content is None is left out. Paths are POSIX and relative to `root`. Only folders that lead to a
    replaced file are made anew; all else is links.
    The folder is named after its content and made once, so that a compiler's results can be cached by path.
    """
    held = {path: content for path, content in replaced.items() if content is not None}
    absent = sorted(replaced.keys() - held.keys())
    name = digest(str(root), *(part for file in sorted(held.items()) for part in file), *absent)[:24]
    files = {tuple(path.split("/")): content for path, content in replaced.items()}
    return _made(base / name, lambda staged: _fill(str(root), str(staged), files))


def union(name: str, upper: Path, lower: Path, base: Path) -> Path:
    """A folder below `base` with a package `name` that holds what `upper` does, and what only `lower` has.

    It is all links, made anew where either folder has gained or lost a file.
    """
    entries = list(_entries(str(upper), str(lower)))

    def link_all(staged: Path) -> None:
        for relative, original in entries:
            link = staged / name / relative
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(original)

    return _made(base / digest(name, *(part for entry in entries for part in entry))[:24], link_all)


def _made(folder: Path, fill: Callable[[Path], None]) -> Path:
    """`folder`, filled by `fill` and renamed into place unless it is there; its time is when it was asked for last."""
    if folder.is_dir():
        os.utime(folder)
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        fill(staged)
        staged.rename(folder)
    except OSError:
        shutil.rmtree(staged, ignore_errors=True)
        if not folder.is_dir():  # else another thread or run was first
            raise
    return folder


def _entries(upper: str, lower: str, inside: str = "") -> Iterator[tuple[str, str]]:
    """(path in the union, what it links to) for every file; caches of bytecode are left out."""
    names = dict.fromkeys(os.listdir(upper), upper) if os.path.isdir(upper) else {}
    for name in os.listdir(lower) if os.path.isdir(lower) else ():
        names.setdefault(name, lower)
    for name, side in sorted(names.items()):
        path, relative = os.path.join(side, name), os.path.join(inside, name)
        if name == "__pycache__":
            continue
        if os.path.isdir(path):
            yield from _entries(os.path.join(upper, name), os.path.join(lower, name), relative)
        else:
            yield relative, path


def forget_unused(base: Path) -> None:
    """Remove the folders of `overlay` below `base` that were not asked for in a week."""
    oldest = time.time() - _UNUSED_SECONDS
    for folder in base.glob("*") if base.is_dir() else ():
        with contextlib.suppress(OSError):
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder)


def _fill(original: str, folder: str, replaced: Mapping[tuple[str, ...], bytes | None]) -> None:
    inner: dict[str, dict[tuple[str, ...], bytes | None]] = {}
    for parts, content in replaced.items():
        if len(parts) > 1:
            inner.setdefault(parts[0], {})[parts[1:]] = content
        elif content is not None:
            with open(os.path.join(folder, parts[0]), "wb") as file:
                file.write(content)
    own = {parts[0] for parts in replaced}
    # A folder that may be entered need not be one that may be listed, as that of all homes.
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        for name in os.listdir(original):
            if name not in own:
                os.symlink(os.path.join(original, name), os.path.join(folder, name))
    for name, below in inner.items():
        os.mkdir(os.path.join(folder, name))
        _fill(os.path.join(original, name), os.path.join(folder, name), below)
