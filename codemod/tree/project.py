"""The tree as a transform sees it: what it reads is hashed, what it computes of a file is cached."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from codemod.model.findings import Root
from codemod.model.paths import Listing
from codemod.model.scope import Scope
from codemod.model.transform import TracedLine
from codemod.tree.cache import Cache, Kept, code_version, dependency_versions
from codemod.tree.checkout import Checkout, StatKey
from codemod.tree.digest import digest
from codemod.tree.extraction import (
    Source,
    extract_file,
    extractor_of,
    key_of,
    key_of_source,
    read_source,
    version_of,
    versioned,
)
from codemod.tree.pool import Failure, run
from codemod.tree.record import Question, Record, Watched

F = TypeVar("F")
Item = TypeVar("Item")
T = TypeVar("T")
W = TypeVar("W")


@dataclass(slots=True)
class CheckoutProject:
    """A `codemod.model.transform.Project` over a checkout.

    `paths` are relative to the root; empty selects everything. `hashes` holds the sha256 of every file read so far,
    `stats` the stat of every file seen, made before it was read, and `failures` one line for every file whose facts
    could not be made.
    """

    checkout: Checkout
    cache: Cache
    paths: tuple[str, ...] = ()
    vocabulary: Path | None = None
    torch: str = ""
    scope: Scope = field(default_factory=Scope)
    traced: frozenset[TracedLine] = frozenset()
    jobs: int = 1
    hashes: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    stats: dict[str, StatKey] = field(default_factory=dict)
    _names: list[str] | None = None
    _listed: dict[tuple[str, ...], list[str]] = field(default_factory=dict)
    _suffixes: set[str] = field(default_factory=set)
    _singles: set[str] = field(default_factory=set)
    _old_hashes: dict[str, tuple[StatKey, str]] | None = None
    _made: tuple[Hashable, Any, Mapping[Question, str]] | None = None
    _versions: dict[str, dict[str, str]] = field(default_factory=dict)
    _answers: dict[Question, str] | None = None

    @property
    def root(self) -> Path:
        """The checkout's root."""
        return self.checkout.root

    @property
    def names(self) -> list[str]:
        """What `Checkout.names` said when first asked."""
        if self._names is None:
            self._names = self.checkout.names()
        return self._names

    @property
    def listing(self) -> Listing:
        """The files that may be changed, by name."""
        return Listing(self.root, frozenset(self.names))

    def selected(self, path: str) -> bool:
        """Whether findings in `path` are asked for."""
        return not self.paths or any(path == top or not top or path.startswith(top + "/") for top in self.paths)

    def in_scope(self, path: str, root: Root) -> bool:
        """Whether findings in code of `path` that symbols enter by `root` are in the scope."""
        return self.scope.holds(path, root)

    def named(self, path: str) -> bool:
        """Whether `path` is of tests, docs or the like, and one of `paths` asks for these by name."""
        return self.scope.names(path)

    def files(self, suffixes: Sequence[str], under: Sequence[str] = ("",)) -> list[str]:
        """All files with one of `suffixes` below one of the folders `under`, sorted."""
        self._suffixes.update(suffixes)
        endings = tuple(sorted(set(suffixes)))
        if endings not in self._listed:
            stats = self.checkout.files(name for name in self.names if name.endswith(endings))
            for path, stat in stats.items():
                self.stats.setdefault(path, stat)
            self._listed[endings] = sorted(path for path in stats if path.endswith(endings))
        folders = tuple(folder.rstrip("/") + "/" if folder else "" for folder in under)
        found = [path for path in self._listed[endings] if path.startswith(folders)]
        self._note(("files", tuple(suffixes), tuple(under)), found)
        return found

    def has(self, path: str) -> bool:
        """Whether the tree has a file of that name; from then on the plan rests on it."""
        self._singles.add(path)
        found = (self.root / path).is_file()
        self._note(("has", path), found)
        return found

    def left_out(self, suffixes: Sequence[str]) -> list[str]:
        """The files with one of `suffixes` that a sparse checkout has not written."""
        present, endings = set(self.files(suffixes)), tuple(suffixes)
        absent: list[str] = []
        if not all(name in present for name in self.names if name.endswith(endings)):
            absent = [name for name in self.checkout.left_out() if name.endswith(endings)]
        self._note(("left_out", endings), absent)
        return absent

    def read(self, path: str) -> bytes:
        """The bytes of a file, relative to the root or absolute; from then on the plan rests on it.

        Raises OSError where it cannot be read.
        """
        self.hashes.setdefault(path, "")
        self._stat(path)
        try:
            source = read_source(self.root, path)
            self.hashes[path] = hashlib.sha256(source).hexdigest()
        finally:
            self._note(("hashes_of", (path,)), [self.hashes[path]])
        return source

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, or gave for an equal `key` before; one is kept."""
        if self._made is None or self._made[0] != key or (self._answers is not None and not self._made[2]):
            self._made = None
            made = make()
            self._made = key, made, dict(self._answers or {})
        elif self._answers is not None:
            self._answers |= self._made[2]  # it may rest on all that was asked before it was made
        result: T = self._made[1]
        return result

    def facts(self, extract: Callable[[str, bytes], F], paths: Sequence[str]) -> Mapping[str, F]:
        """`extract(path, bytes)` for every path: from the cache, else computed in the process pool.

        A file that cannot be read, or on which `extract` raises, is left out and named in `failures`.
        """
        facts = self._facts(extract, dict.fromkeys(paths, ()))
        versions = self._versions[extractor_of(extract)]
        self._note(("versions", extract, tuple(paths)), [versions.get(path, "") for path in paths])
        return facts

    def facts_of(
        self, extract: Callable[[str, bytes, W], F], wanted: Mapping[str, W], label: str = "reading"
    ) -> Mapping[str, F]:
        """As `facts`, `extract(path, bytes, wanted[path])`: kept as long as the same is wanted of a file.

        `wanted` holds what has a `codemod.tree.digest`, and follows from what was asked of this project before.
        """
        facts = self._facts(extract, {path: (asked,) for path, asked in wanted.items()}, label)
        self._note(("hashes_of", tuple(wanted)), self.hashes_of(tuple(wanted)))
        return facts

    def versions(self, extract: Callable[..., F], paths: Sequence[str]) -> list[str]:
        """The version of the facts of each of `paths`, "" where there are none: those of one version are equal."""
        extractor = extractor_of(extract)
        versions = self._versions.setdefault(extractor, {})
        unseen = [path for path in paths if path not in versions]
        if unseen:
            hashes = self._cached_hashes()
            for path, (key, version) in self.cache.versions(extractor, unseen).items():
                stat, sha = hashes.get(path, (None, ""))
                if key == sha and stat is not None and stat == self._stat(path):
                    versions[path], self.hashes[path] = version, sha
            self._facts(extract, {path: () for path in unseen if path not in versions})
        return [versions.get(path, "") for path in paths]

    def hashes_of(self, paths: Sequence[str]) -> list[str]:
        """The sha256 of each of `paths`, "" where it cannot be read; the plan rests on them."""
        for path in paths:
            if path not in self.hashes:
                self.hashes[path] = self._sha(path)
        return [self.hashes[path] for path in paths]

    def answers(self, make: Callable[[], T]) -> tuple[T, Mapping[Question, str]]:
        """What `make` gives, and what it asked of this project meanwhile, with a digest of each answer."""
        self._answers = {}
        try:
            return make(), self._answers
        finally:
            self._answers = None

    def answers_alike(self, answers: Mapping[Question, str]) -> bool:
        """Whether each question would be answered as it was; if so the plan rests on them."""
        before = dict(self.hashes), set(self._suffixes), set(self._singles), list(self.failures)
        if all(digest(getattr(self, method)(*asked)) == answer for (method, *asked), answer in answers.items()):
            return True
        self.hashes, self._suffixes, self._singles, self.failures = before
        return False

    def _note(self, question: Question, answer: object) -> None:
        if self._answers is not None and question not in self._answers:
            self._answers[question] = digest(answer)

    def _facts(
        self, extract: Callable[..., F], wanted: Mapping[str, tuple[Any, ...]], label: str = "reading"
    ) -> dict[str, F]:
        extractor = extractor_of(extract)
        cached = self.cache.facts(extractor, list(wanted))
        versions = self._versions.setdefault(extractor, {})
        hashes = self._cached_hashes()
        facts: dict[str, F] = {}
        missing: dict[str, tuple[Any, ...]] = {}
        for path, asked in wanted.items():
            seen = self._stat(path)
            stat, sha = hashes.get(path, (None, ""))
            kept = cached.get(path)
            if kept is not None and stat is not None and stat == seen and kept.key == key_of(sha, asked):
                try:
                    facts[path] = pickle.loads(kept.blob)
                    self.hashes[path], versions[path] = sha, kept.version
                    continue
                except Exception:  # a damaged entry raises whatever its bytes happen to say
                    pass
            missing[path] = asked
        if missing:
            self._extract(extract, extractor, missing, cached, facts, label)
        return {path: facts[path] for path in wanted if path in facts}

    def recall(self, kind: str, paths: Sequence[str]) -> Mapping[str, Any]:
        """What the same code kept under `kind`, the name of its module, of the files of `paths` with the same bytes."""
        hashes, kept = self.hashes_of(paths), self.cache.facts(versioned(kind), paths)
        self._note(("hashes_of", tuple(paths)), hashes)
        values = {}
        for path, sha in zip(paths, hashes, strict=True):
            if path in kept and kept[path].key == sha:
                with contextlib.suppress(Exception):  # a damaged entry raises whatever its bytes happen to say
                    values[path] = pickle.loads(kept[path].blob)
        return values

    def keep(self, kind: str, values: Mapping[str, object]) -> None:
        """Keep a value of each path, which rests on the bytes that were read of it and on more, for `recall`."""
        hashes = dict(zip(values, self.hashes_of(tuple(values)), strict=True))
        blobs = {path: pickle.dumps(value, pickle.HIGHEST_PROTOCOL) for path, value in values.items()}
        self.cache.store({}, versioned(kind), {path: Kept(hashes[path], "", blob) for path, blob in blobs.items()})

    def counts(
        self, count: Callable[[Source], int], sources: Sequence[Source], packages: Collection[str], label: str = ""
    ) -> list[int]:
        """`[count(source) for source in sources]`, each (path, bytes): what earlier runs counted, else as `map` does.

        `count` may rest on its argument, Python, the code of the top-level `packages` and what symfix requires alone.
        """
        code = "\n".join([dependency_versions("symfix"), *map(code_version, sorted(packages))])
        code_digest = hashlib.sha256(code.encode())
        keys = [key_of_source(code_digest.copy(), path, source) for path, source in sources]
        numbers = self.cache.counts(keys)
        fresh = {key: source for key, source in zip(keys, sources, strict=True) if key not in numbers}
        made = self.map(count, list(fresh.values()), label, [len(source) for _, source in fresh.values()])
        if fresh:
            counted = dict(zip(fresh, made, strict=True))
            self.cache.store_counts(counted)
            numbers |= counted
        return [numbers[key] for key in keys]

    def map(
        self, function: Callable[[Item], T], items: Sequence[Item], label: str = "", bytes_of: Sequence[int] = ()
    ) -> list[T]:
        """`[function(item) for item in items]`, in the process pool, with progress shown as `label`.

        `bytes_of` says how large each item is, where they differ. Raises SymfixError where `function` raises.
        """
        results: dict[int, T] = {}
        for index, result in run(function, items, self.jobs, label, bytes_of):
            if isinstance(result, Failure):
                raise result.error(label)
            results[index] = result
        return [results[index] for index in range(len(items))]

    def remark(self, line: str) -> None:
        """Keep a line about the tree that is no finding, in `remarks`."""
        self.remarks.append(line)

    def record(self) -> Record:
        """What was noted so far: the argument of `add` of a project over the same tree."""
        return Record(self.hashes, self.stats, self.failures, self._suffixes, self._singles)

    def add(self, record: Record) -> None:
        """Rest on all that another process noted, too; a file that it read otherwise becomes a failure."""
        changed = [path for path, sha in record.hashes.items() if self.hashes.setdefault(path, sha) != sha]
        self.stats = {**record.stats, **self.stats}
        self._suffixes.update(record.suffixes)
        self._singles.update(record.names)
        failures = (f"{path}: changed while it was read" for path in changed)
        self.failures[:] = sorted({*self.failures, *record.failures, *failures})

    def watched(self) -> Watched:
        """What was asked of the tree so far; the argument of `fingerprint`."""
        suffixes = tuple(sorted(self._suffixes))
        names = {*self.hashes, *self._singles}
        single = (name for name in names if not name.endswith(suffixes) or os.path.isabs(name))
        return Watched(suffixes, tuple(sorted(single)))

    def fingerprint(self, watched: Watched) -> str:
        """A digest that changes whenever a watched file is added, removed or changed, made without reading any."""
        hashed = hashlib.sha256()
        for path in (*self.files(watched.suffixes), *watched.names):
            stat = self._stat(path)
            state = f"{stat.mtime_ns} {stat.ctime_ns} {stat.size} {stat.inode}" if stat else "absent"
            hashed.update(os.fsencode(f"{path}\0{state}\n"))
        return hashed.hexdigest()

    def contents(self, watched: Watched, read: Collection[str]) -> str:
        """A digest as `fingerprint`, of the bytes: that changes with a watched file of `read`, not with its times.

        Of the other files it says that they are there. A file with the stat that it was last read with is not read.
        """
        hashed = hashlib.sha256()
        for path in (*self.files(watched.suffixes), *watched.names):
            state = self._sha(path) if path in read else "present" if self._stat(path) else "absent"
            hashed.update(os.fsencode(f"{path}\0{state}\n"))
        return hashed.hexdigest()

    def _sha(self, path: str) -> str:
        if path in self.hashes:
            return self.hashes[path]
        stat = self._stat(path)
        old, sha = self._cached_hashes().get(path, (None, ""))
        if stat is not None and stat == old:
            return sha
        try:
            source = read_source(self.root, path)
        except OSError:
            return ""
        return hashlib.sha256(source).hexdigest()

    def _stat(self, path: str) -> StatKey | None:
        """The stat of a file when it was first seen, None where it is absent."""
        if path not in self.stats:
            try:
                self.stats[path] = StatKey.of(os.stat(self.root / path))
            except OSError:
                return None
        return self.stats[path]

    def _cached_hashes(self) -> dict[str, tuple[StatKey, str]]:
        if self._old_hashes is None:
            self._old_hashes = self.cache.hashes()
        return self._old_hashes

    def _extract(
        self,
        extract: Callable[..., F],
        extractor: str,
        wanted: Mapping[str, tuple[Any, ...]],
        cached: Mapping[str, Kept],
        facts: dict[str, F],
        label: str,
    ) -> None:
        paths = list(wanted)
        items = [(path, cached[path].key if path in cached else "", asked) for path, asked in wanted.items()]
        work = functools.partial(extract_file, str(self.root), extract)
        fresh: dict[str, Kept] = {}
        stats: dict[str, tuple[StatKey, str]] = {}
        sizes = [self.stats[path].size if path in self.stats else 0 for path in paths]
        for index, result in run(work, items, self.jobs, label, sizes):
            path = paths[index]
            if isinstance(result, Failure):
                message = result.message
                self.failures.append(message if message.startswith(f"{path}:") else f"{path}: {message}")
                continue
            sha, made = result
            kept = cached.get(path)
            try:
                if kept is not None and not made.blob:
                    made = kept
                facts[path] = pickle.loads(made.blob)
            except Exception:  # damaged, though its hash is right: made anew
                sha, made = extract_file(str(self.root), extract, (path, "", wanted[path]))
                facts[path] = pickle.loads(made.blob)
            self.hashes[path] = sha
            fresh[path] = made._replace(version=version_of(made, facts[path], kept))
            self._versions[extractor][path] = fresh[path].version
            if path in self.stats:
                stats[path] = (self.stats[path], sha)
        self.failures.sort()
        self._cached_hashes().update(stats)
        self.cache.store(stats, extractor, fresh)
