"""Writing many files as one: after a crash at any point each is its old or its new self, and the next run finishes.

New contents are first written beside their files, under a journal that says "undo"; one rename turns it into "redo";
then each new file replaces its old one, and the journal goes. What a dead run left is undone before that rename, and
completed after it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from codemod.errors import SymfixError
from codemod.writing.changes import Change

_SUFFIX = ".symfix-tmp"


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    old: str
    new: str
    """sha256 before and after."""


def write_changes(root: Path, journal: Path, changes: Sequence[Change]) -> None:
    """Write every file of `changes` below `root`, or none; modes are kept. `journal` is a folder for the bookkeeping.

    Raises SymfixError where a file cannot be written, has changed, or leads out of the tree; nothing is changed then.
    """
    if not changes:
        return
    _make_folder(journal)
    with locked(journal):
        _recover(root, journal)
        entries = [_Entry(c.path, _sha256(c.old), _sha256(c.new)) for c in changes]
        for entry in entries:
            _check_target(root, entry)
        try:
            _write_journal(journal, "undo", entries)
            for change in changes:
                _stage(root / change.path, change.new)
            _write_journal(journal, "redo", entries)
        except OSError as error:
            _undo(root, journal, entries)
            what = error.filename or root
            raise SymfixError(f"{what}: cannot be written ({error.strerror}); nothing was changed") from error
        except BaseException:
            _undo(root, journal, entries)
            raise
        _redo(root, journal, entries)


def recover(root: Path, journal: Path) -> str:
    """Finish what a dead run left, and say in a sentence what was done; "" where there was nothing to do.

    Raises SymfixError where a file was changed by others in the meantime.
    """
    if not (journal / "journal.json").exists():
        return ""
    with locked(journal):
        return _recover(root, journal)


def _recover(root: Path, journal: Path) -> str:
    try:
        document = json.loads((journal / "journal.json").read_bytes())
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise SymfixError(f"{journal / 'journal.json'}: cannot be read ({error}); remove it") from error
    entries = [_Entry(*entry) for entry in document["files"]]
    if document["action"] == "undo":
        _undo(root, journal, entries)
        return f"an interrupted run was undone: none of its {len(entries)} files was changed"
    _redo(root, journal, entries)
    return f"an interrupted run was completed: its {len(entries)} files are written"


def replace_file(path: Path, content: bytes) -> None:
    """Make `content` all of the file `path`, down to the disk; it is its old or its new self at any moment.

    Raises OSError where it cannot be written, or is a folder, a pipe or a device, which no file may take the place of.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    staged = path.with_name(path.name + _SUFFIX)
    with open(staged, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(staged, path)
    _sync_folder(path.parent)


@contextlib.contextmanager
def locked(journal: Path, wait: bool = False) -> Iterator[None]:
    """Hold the folder `journal` against another run; the system lets go of it when this one dies.

    Raises SymfixError where another holds it, unless told to `wait`.
    """
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    with open(journal / "lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise SymfixError(f"{journal}: another symfix is writing here; wait for it to end") from error
        yield


def _check_target(root: Path, entry: _Entry) -> None:
    target = root / entry.path
    real_root = os.path.realpath(root)
    if os.path.isabs(entry.path) or os.path.realpath(target) != os.path.join(real_root, entry.path):
        raise SymfixError(f"{entry.path}: leads out of the tree or through a link; symfix writes only its files")
    if not os.access(target, os.W_OK) or not os.access(target.parent, os.W_OK):
        raise SymfixError(f"{entry.path}: cannot be written; nothing was changed (see its permissions)")
    if _sha256(target.read_bytes()) != entry.old:
        raise SymfixError(f"{entry.path}: changed while symfix ran; nothing was written, run it again")


def _stage(target: Path, content: bytes) -> None:
    """Write `content` beside `target`, with its mode and owner, down to the disk."""
    status = os.stat(target)
    with open(_staged(target), "wb") as file:
        file.write(content)
        file.flush()
        with contextlib.suppress(OSError):  # only root may give a file away
            os.chown(file.fileno(), status.st_uid, status.st_gid)
        os.chmod(_staged(target), stat.S_IMODE(status.st_mode))
        os.fsync(file.fileno())


def _undo(root: Path, journal: Path, entries: Sequence[_Entry]) -> None:
    for entry in entries:
        _staged(root / entry.path).unlink(missing_ok=True)
    (journal / "journal.json").unlink(missing_ok=True)


def _redo(root: Path, journal: Path, entries: Sequence[_Entry]) -> None:
    folders: set[Path] = set()
    for entry in entries:
        target = root / entry.path
        if _staged(target).exists():
            if _sha256(target.read_bytes()) not in (entry.old, entry.new):
                raise SymfixError(
                    f"{entry.path}: changed after symfix was interrupted; keep {_staged(target).name} or remove it,"
                    f" then remove {journal / 'journal.json'}"
                )
            os.replace(_staged(target), target)
            folders.add(target.parent)
    for folder in sorted(folders):
        _sync_folder(folder)
    (journal / "journal.json").unlink()


def _write_journal(journal: Path, action: str, entries: Sequence[_Entry]) -> None:
    files = [[entry.path, entry.old, entry.new] for entry in entries]
    replace_file(journal / "journal.json", json.dumps({"action": action, "files": files}).encode("ascii"))


def _sync_folder(folder: Path) -> None:
    """Make renames in `folder` last, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _make_folder(journal: Path) -> None:
    try:
        journal.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SymfixError(f"{journal}: cannot be made ({error.strerror}); nothing was changed") from error


def _staged(target: Path) -> Path:
    return target.with_name(f".{target.name}{_SUFFIX}")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
