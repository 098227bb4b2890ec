"""A commit for each shard, on the tree as it is or on the shard it is stacked on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codemod.bundle.repository import Repository, is_ours
from codemod.bundle.shards import Shard
from codemod.errors import SymfixError
from codemod.model.edits import Edit, EditConflict, apply_edits
from codemod.model.needs import in_order, parents


@dataclass(frozen=True, slots=True)
class Step:
    """What one shard does: each file's bytes on what it is stacked on, and after; None where the file goes."""

    shard: Shard
    parent: str
    """The shard it is stacked on, "" for none."""
    files: Mapping[str, tuple[bytes, bytes | None]]


@dataclass(frozen=True, slots=True)
class Commit:
    """A shard's commit in the object database."""

    step: Step
    tree: str
    sha: str


def make_steps(shards: Sequence[Shard], sources: Mapping[str, bytes]) -> list[Step]:
    """What each of `shards` does, those that others stand on before them. A shard that adds nothing is left out.

    Raises SymfixError where two shards change the same bytes in different ways.
    """
    by_name = {shard.name: shard for shard in shards}
    bases = {shard.name: shard.bases for shard in shards}
    parent = parents(bases)
    tips: dict[str, dict[str, bytes | None]] = {"": {}}
    held: dict[str, frozenset[Edit]] = {"": frozenset()}
    steps = []
    for name in _stacked(parent):
        shard = by_name[name]
        below = tips[parent[name]]
        held[name] = held[parent[name]].union(shard.edits)
        files: dict[str, tuple[bytes, bytes | None]] = {}
        for path in shard.paths:
            old = below.get(path, sources[path])
            if old is None:
                continue
            new = None if path in shard.deleted else _content(name, path, sources[path], held[name])
            if new != old:
                files[path] = (old, new)
        tips[name] = below | {path: new for path, (_, new) in files.items()}
        steps.append(Step(shard, parent[name], files))
    return steps


def make_commits(
    repository: Repository, steps: Sequence[Step], messages: Mapping[str, str], environment: Mapping[str, str]
) -> list[Commit]:
    """A commit for each of `steps` on its parent's; one that a branch of ours already holds is reused."""
    tips = repository.tips()
    trees = {"": repository.tree_of(repository.head)}
    for step in steps:
        files = {path: new for path, (_, new) in step.files.items()}
        trees[step.shard.name] = repository.changed_tree(trees[step.parent], files)
    repository.store()
    shas = {"": repository.head}
    for step in steps:
        name, parent = step.shard.name, shas[step.parent]
        sha = tips.get(name, "")
        if not (sha and _same(repository, sha, trees[name], parent, messages[name])):
            sha = repository.commit(trees[name], parent, messages[name], environment)
        shas[name] = sha
    return [Commit(step, trees[step.shard.name], shas[step.shard.name]) for step in steps]


def make_series(
    repository: Repository,
    commits: Sequence[Commit],
    messages: Mapping[str, str],
    environment: Mapping[str, str],
    contents: Sequence[Mapping[str, bytes | None]],
) -> list[str]:
    """Commits of the same shards, each on the one before it: what a mailbox holds.

    `contents` says, for each, what the files that it changes become when all before it are there.
    """
    trees = [repository.tree_of(repository.head)]
    for files in contents:
        trees.append(repository.changed_tree(trees[-1], files))
    repository.store()
    parent = repository.head
    series = []
    for commit, tree in zip(commits, trees[1:], strict=True):
        parent = repository.commit(tree, parent, messages[commit.step.shard.name], environment)
        series.append(parent)
    return series


def refuse_foreign(repository: Repository, names: Sequence[str]) -> None:
    """Raise SymfixError where a branch that a bundle would set holds other work than symfix's, or is checked out."""
    tips = repository.tips()
    used = repository.checked_out()
    if repository.has_branch("symfix"):
        raise SymfixError("the branch symfix stands in the way of branches symfix/…: git branch -m symfix another-name")
    for name in names:
        if name in tips and not is_ours(repository.message(tips[name]), name):
            raise SymfixError(
                f"the branch symfix/{name} holds work that is not symfix's;"
                f" keep it under another name: git branch -m symfix/{name} {name}"
            )
        if f"symfix/{name}" in used:
            raise SymfixError(f"the branch symfix/{name} is checked out in a worktree; switch that to another branch")


def _stacked(parent: Mapping[str, str]) -> list[str]:
    return in_order({name: [base] if base else [] for name, base in parent.items()})


def _content(name: str, path: str, source: bytes, edits: frozenset[Edit]) -> bytes:
    try:
        return apply_edits(source, [edit for edit in edits if edit.path == path])
    except EditConflict as error:
        raise SymfixError(f"the shard {name} does not fit those it is based on: {error}") from error


def _same(repository: Repository, commit: str, tree: str, parent: str, message: str) -> bool:
    held = repository.repo.commit(commit)
    return held.tree.hexsha == tree and [p.hexsha for p in held.parents] == [parent] and held.message == message
