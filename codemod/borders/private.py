"""Folders and files that are the user's alone: what symfix unpickles, links and follows lies nowhere else.

A folder that somebody else owns or may write holds what somebody else wants it to hold.
"""

from __future__ import annotations

import functools
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from codemod.borders.documents import LARGEST_SETTINGS
from codemod.terminal import note, visible

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
_printed: set[str] = set()


def distrust(folder: Path, top: Path) -> str:
    """Why what lies in `folder` may be somebody else's, naming the level at fault; "" where it is not, or is absent.

    Each level from `top`, which `folder` lies below or is, has to be a folder, no link, that belongs to the user of
    this process and that nobody else may write.
    """
    for level in _levels(folder, top):
        try:
            status = os.lstat(level)
        except OSError:
            return ""
        if not stat.S_ISDIR(status.st_mode):
            return f"{visible(str(level))}: is no folder; remove it"
        reason = _foreign(status, level)
        if reason:
            return f"{visible(str(level))}: {reason}"
    return ""


def make_private(folder: Path, top: Path) -> None:
    """Make `folder` and what it lies in from `top` down, for the user alone. Raises OSError where that fails."""
    top.parent.mkdir(parents=True, exist_ok=True)
    for level in _levels(folder, top):
        level.mkdir(mode=0o700, exist_ok=True)


def private_folder(folder: Path, top: Path) -> Path | None:
    """`folder`, made where it is absent; None where it cannot be, or may be somebody else's, which is said once."""
    reason = distrust(folder, top)
    if not reason:
        try:
            make_private(folder, top)
        except OSError:
            return None
        reason = distrust(folder, top)
    if reason:
        say_once(f"{reason}; until then nothing is kept there, and nothing read")
        return None
    return folder


def kept_folder(folder: Path, top: Path) -> Path:
    """`folder` as of `private_folder`, else an empty one that goes with this process."""
    return private_folder(folder, top) or Path(_temporary(str(folder)).name)


def read_private(path: Path) -> bytes:
    """The bytes of a file that belongs to the user and that nobody else may write.

    Raises PermissionError, and says so once, where it is another's or a link; OSError where it cannot be read.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(handle, "rb") as file:
        _check(os.fstat(handle), path)
        return file.read()


def check_private(path: Path) -> None:
    """As `read_private`, without reading; a file that is absent will do."""
    try:
        _check(os.lstat(path), path)
    except FileNotFoundError:
        return


def read_settings(path: Path) -> bytes:
    """The bytes of the user's own settings; links are followed, and the system's files (root's) will do.

    Raises PermissionError, which tells why, where somebody else may have written them; OSError where they cannot be
    read or are larger than a megabyte.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        reason = "is no regular file" if not stat.S_ISREG(status.st_mode) else _foreign(status, path, root=True)
        if reason:
            raise PermissionError(None, reason, str(path))
        content = file.read(LARGEST_SETTINGS + 1)
    if len(content) > LARGEST_SETTINGS:
        raise OSError(None, f"larger than {LARGEST_SETTINGS >> 20} MB", str(path))
    return content


def say_once(text: str) -> None:
    """One line to stderr, the first time that this process says it."""
    if text not in _printed:
        _printed.add(text)
        note(f"symfix: {text}")


def _check(status: os.stat_result, path: Path) -> None:
    reason = _foreign(status, path) if stat.S_ISREG(status.st_mode) else "is no regular file; remove it"
    if reason:
        say_once(f"{visible(str(path))}: {reason}; until then it is not read")
        raise PermissionError(None, reason, str(path))


def _foreign(status: os.stat_result, path: Path, *, root: bool = False) -> str:
    """Why a file or folder may hold what is somebody else's, and what to do; "" where it is the user's alone."""
    if not hasattr(os, "geteuid"):  # Windows, whose profiles are their users' own
        return ""
    if status.st_uid != os.geteuid() and not (root and status.st_uid == 0):
        return "belongs to another user; remove it"
    if status.st_mode & _OTHERS_MAY_WRITE:
        return f"others may write it; remove it, or: chmod -R go-w {visible(str(path))}"
    return ""


def _levels(folder: Path, top: Path) -> Iterator[Path]:
    yield top
    level = top
    for name in folder.relative_to(top).parts:
        level = level / name
        yield level


@functools.cache
def _temporary(instead_of: str) -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="symfix-kept-", ignore_cleanup_errors=True)
