"""What symfix keeps between runs in the user's cache folder. It may be deleted at any time, and never fails a run."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import pickle
import re
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from codemod.borders.private import check_private, private_folder, read_private
from codemod.tree.checkout import StatKey

T = TypeVar("T")

# File systems stamp times by the kernel's tick: a file changed this recently may change again and keep its stamp.
RACY_NS = 20_000_000
_KEPT_PLANS = 8
_KEPT_FINDINGS = 16
_FEW = 100
"""So many files are asked for one by one: all that is known of the others need not be read."""
_KEPT_COUNTS = 20_000
_TABLES = """
    CREATE TABLE IF NOT EXISTS stats(path TEXT PRIMARY KEY, mtime_ns, ctime_ns, size, inode, sha256 TEXT);
    CREATE TABLE IF NOT EXISTS counts(key TEXT PRIMARY KEY, number);
    CREATE TABLE IF NOT EXISTS
        extracted(extractor TEXT, path TEXT, key TEXT, version TEXT, blob BLOB, PRIMARY KEY(extractor, path));
    DROP TABLE IF EXISTS facts;
"""


def racy(key: StatKey) -> bool:
    """Whether a file changed so recently that its stat cannot be trusted to tell the next change."""
    return time.time_ns() - max(key.mtime_ns, key.ctime_ns) < RACY_NS


class Kept(NamedTuple):
    """What is kept of the facts of one file."""

    key: str
    """What the facts rest on: the hash of the file's bytes, and what was wanted of it."""
    version: str
    """Facts of one version are equal, though they rest on other bytes."""
    blob: bytes
    """The pickled facts."""


@functools.cache
def code_version(package: str) -> str:
    """A digest that changes whenever Python does, which reads some files otherwise, or a source of `package`.

    That is a top-level package, of a release or an editable one.
    """
    spec = importlib.util.find_spec(package)
    digest = hashlib.sha256(sys.version.encode())
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for parent, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                if not name.endswith(".pyc"):
                    status = os.stat(os.path.join(parent, name))
                    digest.update(os.fsencode(f"{parent}/{name} {status.st_mtime_ns} {status.st_size}\n"))
    return digest.hexdigest()[:16]


def installed_version(distribution: str) -> str:
    """The version of an installed distribution, "" where it is not there."""
    return _version(_metadata(distribution))


@functools.cache
def dependency_versions(distribution: str) -> str:
    """The versions of `distribution` and of what it requires, as one line; optional extras are left out."""
    fields = _metadata(distribution)
    if not fields:
        return ""
    parts = [f"{distribution} {_version(fields)}"]
    for requirement in re.findall(r"^Requires-Dist: *(.+)$", fields, re.M):
        name = re.match(r"[\w.-]+", requirement)
        if name and "extra ==" not in requirement:
            parts.append(f"{name[0]} {installed_version(name[0]) or '-'}")
    return "; ".join(parts)


def _metadata(distribution: str) -> str:
    """The fields of an installed distribution's metadata, "" where it is not there.

    importlib.metadata would have `email` read its description too, which is slow.
    """
    import importlib.metadata

    try:
        installed = importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""
    text = installed.read_text("METADATA") or installed.read_text("PKG-INFO") or ""
    return text.partition("\n\n")[0]


def _version(fields: str) -> str:
    found = re.search(r"^Version: *(.+)$", fields, re.M)
    return found[1] if found else ""


class Cache:
    """The cache of one checkout; with `folder` None it keeps nothing (`--no-cache`).

    What was read of files outside, those of an installed torch, is kept in `outside`, which all checkouts share.
    """

    def __init__(self, folder: Path | None, outside: Cache | None = None) -> None:
        self._folder = folder
        self._outside = outside

    @classmethod
    def of(cls, root: Path, base: Path) -> Cache:
        """The cache of the checkout at `root` below the user's cache folder `base`.

        It keeps nothing where that folder is not the user's alone, for what is in it is unpickled.
        """
        kind = _of_encoding(sys.getfilesystemencoding())
        folder = base / "analyses" / f"{hashlib.sha256(os.fsencode(root)).hexdigest()[:16]}{kind}"
        if private_folder(base / "analyses", base) is None:
            return cls(None)
        if not folder.exists():
            _forget_deleted_trees(base / "analyses")
        if private_folder(folder, base) is None:
            return cls(None)
        try:
            (folder / "root").write_bytes(os.fsencode(root))
        except OSError:
            return cls(None)
        return cls(folder, cls(private_folder(base / f"installed{kind}", base)))

    def hashes(self) -> dict[str, tuple[StatKey, str]]:
        """The stat and sha256 under which each file was last read."""
        rows = self._rows("SELECT path, mtime_ns, ctime_ns, size, inode, sha256 FROM stats")
        outside = self._outside.hashes() if self._outside is not None else {}
        return outside | {_path(row[0]): (StatKey(*row[1:5]), row[5]) for row in rows}

    def facts(self, extractor: str, paths: Sequence[str]) -> dict[str, Kept]:
        """The facts of `paths` that are known to `extractor`, and perhaps those of other files."""
        rows = self._rows_of("path, key, version, blob", extractor, paths)
        outside = self._outside.facts(extractor, paths) if self._outside is not None else {}
        return outside | {_path(row[0]): Kept(*row[1:]) for row in rows}

    def versions(self, extractor: str, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
        """As `facts`, the key and the version of each file's."""
        rows = self._rows_of("path, key, version", extractor, paths)
        outside = self._outside.versions(extractor, paths) if self._outside is not None else {}
        return outside | {_path(row[0]): (row[1], row[2]) for row in rows}

    def store(self, stats: Mapping[str, tuple[StatKey, str]], extractor: str, facts: Mapping[str, Kept]) -> None:
        """Keep what was read: stats that can be trusted, and facts, whose older versions are forgotten."""
        if self._outside is not None:
            away = {path for path in (*stats, *facts) if os.path.isabs(path)}
            if away:
                self._outside.store(_only(stats, away), extractor, _only(facts, away))
                self._outside.forget_absent()
            stats, facts = _only(stats, stats.keys() - away), _only(facts, facts.keys() - away)
        name = extractor.partition("@")[0]

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "REPLACE INTO stats VALUES(?, ?, ?, ?, ?, ?)",
                [(os.fsencode(path), *key, sha) for path, (key, sha) in stats.items() if not racy(key)],
            )
            older = "DELETE FROM extracted WHERE extractor LIKE ? AND extractor != ?"
            connection.execute(older, (f"{name}@%", extractor))
            connection.executemany(
                "REPLACE INTO extracted VALUES(?, ?, ?, ?, ?)",
                [(extractor, os.fsencode(path), *kept) for path, kept in facts.items()],
            )
            connection.commit()

        self._use(work)

    def forget_absent(self) -> None:
        """Forget the files that are gone, as of an environment that was deleted."""

        def work(connection: sqlite3.Connection) -> None:
            paths = {
                path for table in ("stats", "extracted") for (path,) in connection.execute(f"SELECT path FROM {table}")
            }
            gone = [(path,) for path in paths if not os.path.exists(path)]
            for table in ("stats", "extracted"):
                connection.executemany(f"DELETE FROM {table} WHERE path = ?", gone)
            connection.commit()

        self._use(work)

    def counts(self, keys: Sequence[str]) -> dict[str, int]:
        """What `store_counts` kept of `keys`."""

        def work(connection: sqlite3.Connection) -> dict[str, int]:
            rows = ((key, connection.execute("SELECT number FROM counts WHERE key = ?", (key,))) for key in keys)
            return {key: number for key, found in rows for (number,) in found if isinstance(number, int)}

        return self._use(work) or {}

    def store_counts(self, counts: Mapping[str, int]) -> None:
        """Keep `counts`, each under a key that names all that it rests on, and forget the oldest."""

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany("REPLACE INTO counts VALUES(?, ?)", counts.items())
            connection.execute("DELETE FROM counts WHERE rowid <= (SELECT max(rowid) FROM counts) - ?", (_KEPT_COUNTS,))
            connection.commit()

        self._use(work)

    def load_plan(self, key: str) -> Any:
        """What `store_plan` kept under `key`, or None."""
        return self._load(f"plan-{key}")

    def last_plan(self) -> Any:
        """What `store_plan` kept last, under whatever key, or None."""
        try:
            kept = max(self._folder.glob("plan-*"), key=lambda path: path.stat().st_mtime_ns) if self._folder else None
        except (OSError, ValueError):
            return None
        return None if kept is None else self._load(kept.name)

    def store_plan(self, key: str, value: object) -> None:
        """Keep `value` under `key`, and forget the oldest of its kind."""
        self._store("plan", key, value, _KEPT_PLANS)

    def load_findings(self, key: str) -> Any:
        """What `store_findings` kept under `key`, or None."""
        return self._load(f"findings-{key}")

    def store_findings(self, key: str, value: object) -> None:
        """Keep `value`, the findings of one transform, under `key`, and forget the oldest of its kind."""
        self._store("findings", key, value, _KEPT_FINDINGS)

    def _load(self, name: str) -> Any:
        if self._folder is None:
            return None
        try:
            return pickle.loads(read_private(self._folder / name))
        except Exception:  # a cut or foreign pickle raises whatever its bytes happen to say
            return None

    def _store(self, kind: str, key: str, value: object, most: int) -> None:
        if self._folder is None:
            return
        try:
            with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
                file.write(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))
            os.replace(file.name, self._folder / f"{kind}-{key}")
            kept = sorted(self._folder.glob(f"{kind}-*"), key=lambda path: path.stat().st_mtime_ns)
            for path in kept[:-most]:
                path.unlink()
        except OSError:
            return

    def _rows_of(self, columns: str, extractor: str, paths: Sequence[str]) -> list[tuple[Any, ...]]:
        """Those columns of what is kept of `paths`; where these are many, of all files."""
        statement = f"SELECT {columns} FROM extracted WHERE extractor = ?"
        if len(paths) > _FEW:
            return self._rows(statement, (extractor,))
        within = f"{statement} AND path IN ({', '.join('?' * len(paths))})"
        return self._rows(within, (extractor, *map(os.fsencode, paths)))

    def _rows(self, statement: str, values: Sequence[str | bytes] = ()) -> list[tuple[Any, ...]]:
        return self._use(lambda connection: connection.execute(statement, values).fetchall()) or []

    def _use(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """What `work` makes of the database, or None; one that turns out to be damaged is thrown away."""
        if self._folder is None:
            return None
        path = self._folder / "facts.sqlite"
        try:
            for name in (path, f"{path}-journal", f"{path}-wal"):
                check_private(Path(name))
            with closing(sqlite3.connect(path, timeout=5)) as connection:
                connection.executescript("PRAGMA synchronous = OFF;" + _TABLES)
                return work(connection)
        except OSError:
            return None
        except sqlite3.Error as error:
            if "locked" not in str(error):  # a lock is another run's, and no damage
                with suppress(OSError):
                    path.unlink()
            return None


def _of_encoding(encoding: str) -> str:
    """What the names of folders end in for runs that read file names in `encoding`: "" for UTF-8.

    What is kept holds names as they were read, and one that is not ASCII reads otherwise in another locale.
    """
    return "" if encoding == "utf-8" else f"-{encoding}"


def _only(values: Mapping[str, T], paths: Set[str]) -> dict[str, T]:
    return {path: value for path, value in values.items() if path in paths}


def _path(stored: bytes | str) -> str:
    return os.fsdecode(stored)


def _forget_deleted_trees(trees: Path) -> None:
    """Remove the caches of checkouts that are gone."""
    for folder in trees.glob("*"):
        try:
            gone = not os.path.exists((folder / "root").read_bytes())
        except OSError:
            continue
        if gone:
            shutil.rmtree(folder, ignore_errors=True)
