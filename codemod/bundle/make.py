"""A bundle: the shards of a plan, proved, and made into commits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codemod.borders.files import read_below
from codemod.bundle import proof
from codemod.bundle.commits import Commit, Step, make_commits, make_series, make_steps, refuse_foreign
from codemod.bundle.repository import Repository
from codemod.bundle.shards import Shard, above_one_another
from codemod.errors import SymfixError
from codemod.model.edits import apply_edits, by_path
from codemod.model.transform import Transform
from codemod.writing.changes import Changes, ErrorCounter

_MOST_OF_A_FILE = 500
"""Shards that may change one file. Each is proved with the whole file before and after it, and against those above it:
some thousands of them, which only generated code has, take minutes and gigabytes."""


@dataclass(frozen=True, slots=True)
class Split:
    """Shards in the order in which they can land, with what each does, proved to add up to the whole."""

    shards: Mapping[str, Shard]
    steps: tuple[Step, ...]
    sources: Mapping[str, bytes]
    contents: tuple[Mapping[str, bytes | None], ...]
    """For each step, what the files that it changes become when all before it are there."""


def sources_of(root: Path, changes: Changes, shards: Sequence[Shard] = ()) -> dict[str, bytes]:
    """The bytes of every file that `changes` or `shards` touch. Raises SymfixError where one cannot be read."""
    sources = {change.path: change.old for change in changes.files}
    for path in sorted(
        {path for shard in shards for path in shard.paths} | {p for g in changes.groups for p in g.paths}
    ):
        if path not in sources:
            try:
                sources[path] = read_below(root, path)
            except OSError as error:
                raise SymfixError(f"{path}: cannot be read: {error.strerror}") from error
    return sources


def split(
    shards: Sequence[Shard],
    changes: Changes,
    sources: Mapping[str, bytes],
    transforms: Sequence[Transform],
    counter: ErrorCounter,
) -> Split:
    """`shards` in order, once they are proved to be what `changes` and their tests change, each sound by itself.

    Shards whose changes of a file git cannot tell apart, as in lines that repeat, are put above one another.
    Raises SymfixError, which names the shard, where they cannot be proved, or the file that too many of them change.
    """
    _refuse_crowds(shards)
    whole = _whole(shards, changes, sources)
    stacked: set[str] = set()
    while True:
        steps = make_steps(shards, sources)
        try:
            union = proof.Union(steps, sources)
            union.check_whole(whole)
            union.check_reverts()
            break
        except proof.Inseparable as error:
            if error.path in stacked:
                raise
            stacked.add(error.path)
            shards = above_one_another(shards, error.path)
    proof.check_parses(steps, transforms, counter)
    return Split({shard.name: shard for shard in shards}, tuple(steps), sources, tuple(union.contents))


def commit_all(
    repository: Repository, bundle: Split, messages: Mapping[str, str], environment: Mapping[str, str]
) -> list[Commit]:
    """The commits of a bundle, in the object database alone."""
    commits = make_commits(repository, bundle.steps, messages, environment)
    proof.check_objects(repository, commits)
    return commits


def set_branches(repository: Repository, commits: Sequence[Commit]) -> dict[str, str]:
    """Set the branch of each commit, all or none; the names of branches with "made", "updated" or "kept".

    Raises SymfixError where one of them is not ours.
    """
    refuse_foreign(repository, [commit.step.shard.name for commit in commits])
    tips = repository.tips()
    done = {}
    moved = {}
    for commit in commits:
        name = commit.step.shard.name
        old = tips.get(name, "")
        done[name] = "kept" if old == commit.sha else "updated" if old else "made"
        if old != commit.sha:
            moved[name] = (commit.sha, old)
    if moved:
        repository.set_branches(moved)
    return done


def series(
    repository: Repository,
    bundle: Split,
    commits: Sequence[Commit],
    messages: Mapping[str, str],
    environment: Mapping[str, str],
) -> list[str]:
    """Commits of the same shards in one line, each on the one before."""
    return make_series(repository, commits, messages, environment, bundle.contents)


def _refuse_crowds(shards: Sequence[Shard]) -> None:
    crowds = Counter(path for shard in shards for path in shard.paths)
    for path, count in crowds.most_common(1):
        if count > _MOST_OF_A_FILE:
            raise SymfixError(
                f"{path}: {count:,} shards change it, and at most {_MOST_OF_A_FILE} of one file are proved;"
                " take fewer operators with --op, or one shard for each file with --group file"
            )


def _whole(shards: Sequence[Shard], changes: Changes, sources: Mapping[str, bytes]) -> dict[str, bytes | None]:
    """Every file of `sources` as the whole change leaves it: `apply`'s own result, and that of the tests' edits."""
    whole: dict[str, bytes | None] = {**sources, **{change.path: change.new for change in changes.files}}
    tests = {edit for shard in shards for edit in shard.tests}
    edits = by_path(tests.union(*(change.edits for change in changes.files)))
    for path in by_path(tests):
        whole[path] = apply_edits(sources[path], edits[path])
    return whole | dict.fromkeys((path for shard in shards for path in shard.deleted), None)
