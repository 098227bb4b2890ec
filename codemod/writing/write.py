"""Writing many files as one: after a crash at any point each is its old or its new self, and the next run finishes.

A journal first says "undo" and names the new files to be; they are made beside the old ones; one rename turns it into
"redo"; then each new file replaces its old one, and the journal is removed. What an interrupted run left is undone
before that rename, and completed after it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from codemod.borders.files import open_folder, read_below, read_file
from codemod.errors import SymfixError
from codemod.model.paths import Listing, misplaced, quoted_path
from codemod.writing.changes import Change
from codemod.writing.files import STAGED, make_folder, replace_file, stage, staged_name, sync_folder

NAME = "journal.json"
_FORMAT = "symfix-journal"
_VERSION = 1
_DIGEST = hashlib.sha256().digest_size * 2


class _Damaged(Exception):
    """The journal is none that can be followed: why."""


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    staged: str
    """The name of the new file, in the same folder."""
    old: str
    new: str
    """sha256 before and after."""

    @property
    def folder(self) -> list[str]:
        return self.path.split("/")[:-1]

    @property
    def beside(self) -> str:
        """The path of the new file."""
        return "/".join((*self.folder, self.staged))


def journal_name(root: Path) -> str:
    """The name of the journal's folder for a tree outside any repository: a digest of where it really is."""
    return hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()


def write_changes(listing: Listing, journal: Path, changes: Sequence[Change]) -> None:
    """Write every file of `changes`, or none; modes are kept. `journal` is a folder for the bookkeeping.

    Raises SymfixError where one cannot be written, has changed, or is none of `listing`; nothing is changed then.
    """
    if not changes:
        return
    root = listing.root
    try:
        make_folder(journal)
    except OSError as error:
        raise SymfixError(f"{journal}: cannot be made ({error.strerror}); nothing was changed") from error
    with locked(journal):
        _recover(lambda: listing, root, journal)
        entries = [_Entry(c.path, staged_name(), _sha256(c.old), _sha256(c.new)) for c in changes]
        listing.check(entry.path for entry in entries)
        for entry in entries:
            _check_target(root, entry)
        try:
            _write_journal(root, journal, "undo", entries)
            for entry, change in zip(entries, changes, strict=True):
                _stage(root, entry, change.new)
            _write_journal(root, journal, "redo", entries)
        except OSError as error:
            _undo(root, journal, entries)
            what = error.filename or root
            raise SymfixError(f"{what}: cannot be written ({error.strerror}); nothing was changed") from error
        except BaseException:
            _undo(root, journal, entries)
            raise
        _redo(root, journal, entries)


def recover(listing: Callable[[], Listing], root: Path, journal: Path) -> str:
    """Finish what an interrupted run left, and say in a sentence what was done; "" where there was nothing to do.

    A journal that cannot be followed, for it is damaged, another tree's or of another format, is set aside.
    `listing` is asked only where files are to be changed.
    Raises SymfixError where a file was changed by others in the meantime, or a link leads to the journal.
    """
    if journal.is_symlink():
        raise SymfixError(f"{journal}: a link, which leads what symfix keeps elsewhere; remove it")
    if not os.path.lexists(journal / NAME):
        return ""
    with locked(journal):
        return _recover(listing, root, journal)


def _recover(listing: Callable[[], Listing], root: Path, journal: Path) -> str:
    try:
        if not os.path.lexists(journal / NAME):
            return ""
        action, entries = _read_journal(root, journal)
        if action == "undo":
            _undo(root, journal, entries)
            return f"an interrupted run was undone: none of its {len(entries)} files was changed"
        _check_redo(listing(), journal, entries)
        _redo(root, journal, entries)
        return f"an interrupted run was completed: its {len(entries)} files are written"
    except _Damaged as error:
        return _set_aside(journal, str(error))


@contextlib.contextmanager
def locked(journal: Path, wait: bool = False) -> Iterator[None]:
    """Hold the folder `journal` against another run; the system ends the lock with this process.

    Raises SymfixError where it cannot be opened, or where another holds it, unless told to `wait`.
    """
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    try:
        handle = os.open(journal / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise SymfixError(f"{journal / 'lock'}: cannot be opened: {error.strerror}") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise SymfixError(f"{journal}: another symfix is writing here; wait for it to end") from error
        yield
    finally:
        os.close(handle)


def _check_target(root: Path, entry: _Entry) -> None:
    target = root / entry.path
    if not os.access(target, os.W_OK) or not os.access(target.parent, os.W_OK):
        raise SymfixError(f"{entry.path}: cannot be written; nothing was changed (see its permissions)")
    try:
        same = _hash(root, entry.path) == entry.old
    except OSError as error:
        raise SymfixError(f"{entry.path}: cannot be read: {error.strerror}; nothing was changed") from error
    if not same:
        raise SymfixError(f"{entry.path}: changed while symfix ran; nothing was written, run it again")


def _stage(root: Path, entry: _Entry, content: bytes) -> None:
    """Write `content` beside its target, with that one's mode and owner."""
    folder = open_folder(root, entry.folder)
    try:
        stage(folder, entry.staged, content, os.stat(_name(entry), dir_fd=folder, follow_symlinks=False))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(root / entry.path)) from error
    finally:
        os.close(folder)


def _undo(root: Path, journal: Path, entries: Sequence[_Entry]) -> None:
    for entry in entries:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            folder = open_folder(root, entry.folder)
            try:
                os.unlink(entry.staged, dir_fd=folder)
            finally:
                os.close(folder)
    (journal / NAME).unlink(missing_ok=True)


def _check_redo(listing: Listing, journal: Path, entries: Sequence[_Entry]) -> None:
    """Raise _Damaged or SymfixError, before anything is changed, where a new file cannot take its place."""
    for entry in entries:
        why = listing.refusal(entry.path)
        if why:
            raise _Damaged(f"{quoted_path(entry.path)}: {why}")
        try:
            now, waiting = _hash(listing.root, entry.path), _hash(listing.root, entry.beside)
        except OSError as error:
            raise _Damaged(f"{error.filename}: {error.strerror}") from error
        if waiting not in ("", entry.new):
            raise _Damaged(f"{entry.beside} is not what the run wrote")
        if not waiting and now == entry.old:
            raise _Damaged(f"{entry.path} was not written, and what was to be written is gone")
        if waiting and now not in (entry.old, entry.new):
            raise SymfixError(
                f"{entry.path}: changed after symfix was interrupted; keep {entry.staged} or remove it,"
                f" then remove {journal / NAME}"
            )


def _redo(root: Path, journal: Path, entries: Sequence[_Entry]) -> None:
    """Put the new files in their places; those that are there already were put by a run before."""
    folders: set[Path] = set()
    for entry in entries:
        if _hash(root, entry.beside):
            if _hash(root, entry.path) not in (entry.old, entry.new):
                raise SymfixError(
                    f"{entry.path}: changed while symfix ran; keep {entry.staged} or remove it,"
                    f" then remove {journal / NAME}"
                )
            folder = open_folder(root, entry.folder)
            try:
                os.replace(entry.staged, _name(entry), src_dir_fd=folder, dst_dir_fd=folder)
            finally:
                os.close(folder)
            folders.add((root / entry.path).parent)
    for place in sorted(folders):
        sync_folder(place)
    (journal / NAME).unlink()


def _write_journal(root: Path, journal: Path, action: str, entries: Sequence[_Entry]) -> None:
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "root": journal_name(root),
        "action": action,
        "files": [asdict(entry) for entry in entries],
    }
    replace_file(journal / NAME, json.dumps(document).encode("ascii"))


def _read_journal(root: Path, journal: Path) -> tuple[str, list[_Entry]]:
    """The action and the files of a journal. Raises _Damaged where it is none of this tree."""
    try:
        document = json.loads(read_file(journal / NAME))
    except (OSError, ValueError, RecursionError) as error:
        raise _Damaged(error.strerror or "" if isinstance(error, OSError) else "not JSON") from error
    if not isinstance(document, dict) or (document.get("format"), document.get("version")) != (_FORMAT, _VERSION):
        raise _Damaged("not a journal of this version")
    if document.get("root") != journal_name(root):
        raise _Damaged("of a tree in another place")
    action, files = document.get("action"), document.get("files")
    if action not in ("undo", "redo") or not isinstance(files, list):
        raise _Damaged("no list of files")
    return action, [_entry(file) for file in files]


def _entry(file: Any) -> _Entry:
    fields = tuple(_Entry.__dataclass_fields__)
    if not isinstance(file, dict) or set(file) != set(fields) or not all(isinstance(file[f], str) for f in fields):
        raise _Damaged("an entry that is none")
    entry = _Entry(**file)
    why = misplaced(entry.path)
    if why:
        raise _Damaged(f"{quoted_path(entry.path)}: {why}")
    if not STAGED.fullmatch(entry.staged) or {len(entry.old), len(entry.new)} != {_DIGEST}:
        raise _Damaged("an entry that is none")
    return entry


def _set_aside(journal: Path, why: str) -> str:
    number = 1
    while os.path.lexists(aside := journal / f"{NAME}.damaged-{number}"):
        number += 1
    os.rename(journal / NAME, aside)
    return f"{journal / NAME}: of an interrupted run, and cannot be followed ({why}); set aside as {aside.name}"


def _name(entry: _Entry) -> str:
    return entry.path.rpartition("/")[2]


def _hash(root: Path, path: str) -> str:
    """The sha256 of a file of the tree, "" where there is none. Raises OSError where it is a link or cannot be read."""
    try:
        return _sha256(read_below(root, path, limit=sys.maxsize, links=False))
    except FileNotFoundError:
        return ""


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
