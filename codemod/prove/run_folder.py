"""The folder of a run, for its job and what that writes; one that was left behind is removed by the next run."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

LOCK = "lock"
"""A file in each folder, locked while anything runs there."""
_PREFIX = "symfix-prove-"
_UNLOCKED_SECONDS = 3600.0  # a folder without a lock is being made, or was left when it was


@contextlib.contextmanager
def run_folder() -> Iterator[Path]:
    """A folder for one run, which is removed afterwards, or by the next run where this process is killed.

    Raises OSError where it cannot be made.
    """
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = -1
    try:
        staged = folder / f"{LOCK}.new"
        lock = os.open(staged, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_SH)
        staged.rename(folder / LOCK)  # whoever sees it, sees it locked
        yield folder
    finally:
        _remove(folder)
        if lock >= 0:
            os.close(lock)


def remove_dead() -> None:
    """Remove the folders that runs have left behind when they were killed."""
    try:
        folders = [path for path in Path(tempfile.gettempdir()).iterdir() if path.name.startswith(_PREFIX)]
    except OSError:
        return
    for folder in folders:
        with contextlib.suppress(OSError):
            state = folder.lstat()
            if state.st_uid == os.geteuid() and not folder.is_symlink() and folder.is_dir() and _dead(folder, state):
                _remove(folder)


def _dead(folder: Path, state: os.stat_result) -> bool:
    """Whether nothing runs in `folder`."""
    try:
        lock = os.open(folder / LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return time.time() - state.st_mtime > _UNLOCKED_SECONDS
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True


def _remove(folder: Path) -> None:
    """Remove it with all that is in it, also where a run has locked its owner out."""
    with contextlib.suppress(OSError):
        os.chmod(folder, 0o700)
    for base, names, _ in os.walk(folder):
        for path in (os.path.join(base, name) for name in names):
            if not os.path.islink(path):
                with contextlib.suppress(OSError):
                    os.chmod(path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)
