"""Writing files: made new beside their place and renamed into it, never through a link, never over a user's own."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from pathlib import Path

from codemod.borders.files import open_folder

STAGED = re.compile(r"\.symfix-[0-9a-f]{32}")
"""What the name of a file that waits for its place is like."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def staged_name() -> str:
    """A name that no file has."""
    return f".symfix-{secrets.token_hex(16)}"


def stage(folder: int, name: str, content: bytes, like: os.stat_result | None = None) -> None:
    """Make the file `name` in the folder of that descriptor, down to the disk, with the mode and owner of `like`.

    Raises FileExistsError where there is anything of that name, OSError where it cannot be written; then nothing is
    left of it.
    """
    handle = os.open(name, _NEW, 0o666 if like is None else 0o600, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            if like is not None:
                with contextlib.suppress(OSError):  # only root may give a file away
                    os.fchown(handle, like.st_uid, like.st_gid)
                os.fchmod(handle, stat.S_IMODE(like.st_mode))
            os.fsync(handle)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=folder)
        raise


def replace_file(path: Path, content: bytes) -> None:
    """Make `content` all of the file `path`, down to the disk; it is its old or its new self at any moment.

    Raises OSError where it cannot be written, or is a link, a folder, a pipe or a device, which no file may take the
    place of.
    """
    folder = open_folder(path.parent, [])
    try:
        like = None
        with contextlib.suppress(FileNotFoundError):
            like = os.stat(path.name or ".", dir_fd=folder, follow_symlinks=False)
        if like is not None and stat.S_ISLNK(like.st_mode):
            raise OSError(errno.ELOOP, "a link; name the file that it leads to")
        if like is not None and not stat.S_ISREG(like.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        name = staged_name()
        stage(folder, name, content, like)
        try:
            os.replace(name, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        os.close(folder)
    sync_folder(path.parent)


def make_folder(path: Path) -> None:
    """Make the folder `path` and those above it, where they are not there. Raises OSError also where it is a link."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, "a link; name the folder that it leads to", str(path))
    path.mkdir(parents=True, exist_ok=True)


def append_file(path: Path, content: bytes) -> None:
    """Add `content` at the end of the file `path`, which is made where it is not there. Raises OSError."""
    with open(path, "ab") as file:
        file.write(content)


def sync_folder(folder: Path) -> None:
    """Make renames in `folder` last, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
