"""A tree with a few files replaced: folders of links to the original, which stays as it is."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from codemod.digest import digest

_UNUSED_SECONDS = 7 * 24 * 3600.0


def overlay(root: Path, replaced: Mapping[str, bytes], base: Path) -> Path:
    """A folder below `base` that holds what `root` does, with the files of `replaced` replaced or added.

    Paths are POSIX and relative to `root`. Only folders that lead to a replaced file are made anew; all else is links.
    The folder is named after its content and made once, so that a compiler's results can be cached by path.
    """
    folder = base / digest(str(root), *(part for file in sorted(replaced.items()) for part in file))[:24]
    if folder.is_dir():
        os.utime(folder)
        return folder
    base.mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(dir=base))
    try:
        _fill(str(root), str(staged), {tuple(path.split("/")): content for path, content in replaced.items()})
        staged.rename(folder)
    except OSError:
        shutil.rmtree(staged, ignore_errors=True)
        if not folder.is_dir():  # else another thread or run was first
            raise
    return folder


def forget_unused(base: Path) -> None:
    """Remove the folders of `overlay` below `base` that were not asked for in a week."""
    oldest = time.time() - _UNUSED_SECONDS
    for folder in base.glob("*") if base.is_dir() else ():
        with contextlib.suppress(OSError):
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder)


def _fill(original: str, folder: str, replaced: Mapping[tuple[str, ...], bytes]) -> None:
    inner: dict[str, dict[tuple[str, ...], bytes]] = {}
    for parts, content in replaced.items():
        if len(parts) > 1:
            inner.setdefault(parts[0], {})[parts[1:]] = content
        else:
            with open(os.path.join(folder, parts[0]), "wb") as file:
                file.write(content)
    own = {parts[0] for parts in replaced}
    if os.path.isdir(original):
        for name in os.listdir(original):
            if name not in own:
                os.symlink(os.path.join(original, name), os.path.join(folder, name))
    for name, below in inner.items():
        os.mkdir(os.path.join(folder, name))
        _fill(os.path.join(original, name), os.path.join(folder, name), below)
