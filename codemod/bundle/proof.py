"""The proof of a split: each shard applies to its base, all together are the whole change, each can be reverted."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from codemod.bundle.commits import Commit, Step
from codemod.bundle.repository import Repository
from codemod.errors import SymfixError
from codemod.model.needs import ancestry
from codemod.model.transform import Transform
from codemod.tree.git import merge_file
from codemod.writing.changes import ErrorCounter, count_errors

Files = dict[str, "bytes | None"]


class Inseparable(SymfixError):
    """Git cannot merge what two shards do to `path`, in any order."""

    def __init__(self, path: str, shard: str) -> None:
        super().__init__(f"{path}: what {shard} and other shards change there cannot be told apart; nothing was made")
        self.path = path


def check_parses(steps: Sequence[Step], transforms: Sequence[Transform], counter: ErrorCounter) -> None:
    """Raise SymfixError where a shard, alone on its base, adds a syntax error to a file."""
    contents: dict[tuple[str, bytes], int] = {}
    for step in steps:
        for path, (old, new) in step.files.items():
            contents |= {(path, content): 0 for content in (old, new) if content is not None}
    contents = dict(zip(contents, counter(partial(count_errors, transforms), list(contents)), strict=True))
    for step in steps:
        for path, (old, new) in step.files.items():
            if new is not None and contents[path, new] > contents[path, old]:
                raise SymfixError(
                    f"the shard {step.shard.name} alone would add a syntax error to {path}; nothing was made"
                )


class Union:
    """All shards, merged one after the other by git as a maintainer would land them."""

    def __init__(self, steps: Sequence[Step], sources: Mapping[str, bytes]) -> None:
        """Raises Inseparable where a shard cannot be merged with those before it."""
        self._steps = {step.shard.name: step for step in steps}
        self.files: Files = dict(sources)
        self.contents: list[Files] = []
        """For each shard in turn, what the files that it changes become."""
        for step in steps:
            changed: Files = {}
            for path, (old, new) in step.files.items():
                changed[path] = _merged(step, path, self.files[path], old, new)
            self.files |= changed
            self.contents.append(changed)

    def check_whole(self, whole: Mapping[str, bytes | None]) -> None:
        """Raise Inseparable where all shards together differ from `whole` in any byte."""
        wrong = sorted(path for path, content in self.files.items() if content != whole[path])
        if wrong:
            raise Inseparable(wrong[0], "one shard")

    def check_reverts(self) -> None:
        """Raise Inseparable where git cannot revert a shard in the union.

        A shard that others build on is reverted after them.
        """
        bases = {name: step.shard.bases for name, step in self._steps.items()}
        needed_by: dict[str, list[str]] = {name: [] for name in bases}
        for name in bases:
            for below in ancestry(name, bases):
                if below != name:
                    needed_by[below].append(name)
        # Shards in a line are reverted again for each one below them: git is asked once.
        done: dict[tuple[str, str, bytes | None], bytes | None] = {}
        for name, step in self._steps.items():
            for path in step.files:
                try:
                    _reverted(step, path, self.files[path])
                except Inseparable:
                    above = [self._steps[dependent] for dependent in reversed(needed_by[name])]
                    current = self.files[path]
                    for later in (*above, step):
                        if path in later.files:
                            key = later.shard.name, path, current
                            if key not in done:
                                done[key] = _reverted(later, path, current)
                            current = done[key]


def check_objects(repository: Repository, commits: Sequence[Commit]) -> None:
    """Raise SymfixError where git finds in a commit other changes than its shard's files."""
    trees = {commit.step.shard.name: commit.tree for commit in commits}
    trees[""] = repository.tree_of(repository.head)
    changed = repository.changed_names([(trees[commit.step.parent], commit.tree) for commit in commits])
    for commit, names in zip(commits, changed, strict=True):
        if names != {repository.prefix + path for path in commit.step.files}:
            raise SymfixError(f"the commit of {commit.step.shard.name} changes other files than the shard; report this")


def _reverted(step: Step, path: str, current: bytes | None) -> bytes | None:
    old, new = step.files[path]
    return _merged(step, path, current, new, old)


def _merged(step: Step, path: str, current: bytes | None, old: bytes | None, new: bytes | None) -> bytes | None:
    """What git makes of `current` when the change from `old` to `new` is merged into it."""
    if current == old:
        return new
    if current is None or old is None or new is None:
        raise Inseparable(path, step.shard.name)
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for name, content in (("current", current), ("old", old), ("new", new)):
            (Path(folder) / name).write_bytes(content)
            names.append(Path(folder) / name)
        merged = merge_file(*names)
    if merged is None:
        raise Inseparable(path, step.shard.name)
    return merged
