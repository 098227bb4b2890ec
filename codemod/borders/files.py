"""Reading files that others have made: regular ones only, of a bounded size, none through a link that leads out."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

LARGEST = 32 * 2**20
"""The most bytes that are read of one file."""

_CLOSED = getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | _CLOSED | getattr(os, "O_NONBLOCK", 0)
# Where the system has O_PATH, a folder that may be entered need not be one that may be listed.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _CLOSED


def read_file(path: Path | str, limit: int = LARGEST) -> bytes:
    """The bytes of a file that symfix itself or a document names; links are followed.

    Raises OSError where it cannot be read, is no regular file, or holds more than `limit` bytes.
    """
    # Asked before it is opened: to open a pipe or a device may wait, or do something.
    _check_regular(os.stat(path), str(path))
    return _contents(os.open(path, _READ), str(path), limit)


def read_below(root: Path | str, path: str, limit: int = LARGEST, links: bool = True) -> bytes:
    """The bytes of a file of a tree; `path` is relative to `root`. Links are followed only within it, or not at all.

    Raises OSError where it cannot be read, is no regular file, leads out of `root`, or holds more than `limit` bytes.
    """
    name = f"{root}/{path}"
    parts = path.split("/")
    if os.path.isabs(path) or ".." in parts or "\0" in path:
        raise OSError(errno.EINVAL, "leads out of the tree", path)
    if not links:
        return _read_straight(root, parts, name, limit)
    with suppress(OSError):
        return _read_straight(root, parts, name, limit)
    # Again, to tell a link from what cannot be read for another reason.
    top, real = os.path.realpath(root), os.path.realpath(name)
    if not real.startswith(top.rstrip("/") + "/"):
        raise OSError(errno.ELOOP, "a link that leads out of the tree", name)
    return _read_straight(top, os.path.relpath(real, top).split("/"), name, limit)


def open_folder(root: Path | str, parts: list[str]) -> int:
    """A descriptor of the folder `parts` below `root`, to be closed; no link is followed below `root`.

    Raises OSError where it is not there or a link is on the way.
    """
    folder = os.open(root, _FOLDER)
    try:
        for part in parts:
            inner = os.open(part, _FOLDER | _NO_LINK, dir_fd=folder)
            os.close(folder)
            folder = inner
    except BaseException:
        os.close(folder)
        raise
    return folder


def _read_straight(root: Path | str, parts: list[str], name: str, limit: int) -> bytes:
    try:
        folder = open_folder(root, parts[:-1])
        try:
            _check_regular(os.stat(parts[-1], dir_fd=folder, follow_symlinks=False), name)
            return _contents(os.open(parts[-1], _READ | _NO_LINK, dir_fd=folder), name, limit)
        finally:
            os.close(folder)
    except OSError as error:
        raise OSError(error.errno, error.strerror, name) from error


def _contents(handle: int, name: str, limit: int) -> bytes:
    with os.fdopen(handle, "rb", buffering=0) as file:
        status = os.fstat(handle)
        _check_regular(status, name)
        if status.st_size > limit:
            raise OSError(errno.EFBIG, f"larger than {limit >> 20} MB", name)
        return file.readall()


def _check_regular(status: os.stat_result, name: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", name)
