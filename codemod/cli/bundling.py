"""What bundle and pr share: the shards of a run, proved to add up to the whole change."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import click

from codemod.cli.compiling import compiler_settings, note_unknown
from codemod.cli.run import Run
from codemod.cli.running import changes_of, chosen_groups, counter, load_plan, refuse_dirty, resolved
from codemod.model import transform
from codemod.model.decisions import followed
from codemod.model.findings import Level
from codemod.model.plan import Plan
from codemod.planning.applied import Applied, load_applied
from codemod.planning.operators import UnknownOperator
from codemod.reporting.report import plural
from codemod.terminal import listed, note

if TYPE_CHECKING:
    from codemod.bundle.description import Description
    from codemod.bundle.make import Split
    from codemod.bundle.repository import Repository
    from codemod.bundle.shard_names import ShardNames
    from codemod.bundle.shards import Limits, Shard
    from codemod.writing.changes import Changes


@dataclass(frozen=True, slots=True)
class Bundle:
    """Shards that are proved to be the whole change, and what there is to say of each."""

    repository: Repository
    plan: Plan
    split: Split
    names: ShardNames
    limits: Limits
    descriptions: dict[str, Description]


def make_bundle(run: Run) -> Bundle:
    """The bundle that the run asks for; nothing is written. Raises as `bundle_of` does."""
    applied = load_applied(run.journal, run.project.listing) if run.checkout.git is not None else None
    if applied is not None and (run.values["plan_file"] is not None or not applied.as_left(run.checkout.root)):
        applied = None
    if applied is not None:
        changed = set(run.checkout.dirty())
        taken = _taken(run, _opened(run), applied) if changed and changed <= applied.files.keys() else None
        if taken is not None:
            return taken
    repository = open_repository(run)
    try:
        resolved_run, plan = load_plan(run)
    except UnknownOperator:  # in a tree that names it in nothing but what was rewritten
        taken = _taken(run, repository, applied) if applied is not None else None
        if taken is None:
            raise
        return taken
    groups = chosen_groups(resolved_run, plan)
    taken = _taken(run, repository, applied) if applied is not None and not groups else None
    return taken or bundle_of(resolved_run, repository, plan, changes_of(resolved_run, plan, groups))


def _taken(run: Run, repository: Repository, applied: Applied) -> Bundle | None:
    """The bundle of what `symfix apply` wrote, as far as the run asks for it, from the commit before it was written.

    None where nothing of it is asked for, or that commit does not hold what it was written over.
    """
    from codemod.writing.changes import Changes, changes_in

    if not repository.holds(applied.head):
        return None
    base = repository.starting_from(applied.head)
    sources = {path: base.content(path) or b"" for path in applied.files}
    if any(sha256(sources[path]).hexdigest() != old for path, (old, _) in applied.files.items()):
        return None
    run = resolved(run, applied.plan)
    wide = replace(run.selection, level=max(run.selection.level, Level.REVIEW))
    written = [group for group in wide.groups(applied.plan.findings) if group.id in applied.ids]
    groups = tuple(group for group, _ in followed(written, applied.plan.decisions))
    if not groups:
        return None
    if repository.head != applied.head:
        note(f"symfix: takes what symfix apply wrote, as it is committed on {repository.branch}; the branches start"
             f" from the commit before, {applied.head[:12]}")  # fmt: skip
    else:
        note("symfix: takes what symfix apply wrote; the work tree keeps it until you undo it with git restore"
             f" {shlex.join(sorted(applied.files))}")  # fmt: skip
    return bundle_of(run, base, applied.plan, Changes(changes_in(groups, sources), groups, ()))


def open_repository(run: Run) -> Repository:
    """The repository to branch from, closed with the command. Raises SymfixError where it is in no state for that."""
    repository = _opened(run)
    if not run.values["allow_dirty"]:
        refuse_dirty(run, ())
    return repository


def _opened(run: Run) -> Repository:
    from codemod.bundle.repository import Repository

    repository = Repository.open(run.checkout)
    click.get_current_context().call_on_close(repository.close)
    return repository


def bundle_of(run: Run, repository: Repository, plan: Plan, changes: Changes) -> Bundle:
    """The bundle of `changes`, which are of a part of `plan`; nothing is written.

    Raises SymfixError where their files are not those of the last commit, or the shards do not add up.
    """
    from codemod.bundle.description import describe
    from codemod.bundle.follow_up import follow_ups
    from codemod.bundle.make import sources_of, split
    from codemod.bundle.shard_evidence import evidence_of
    from codemod.bundle.shard_names import ShardNames
    from codemod.bundle.shards import Limits, with_bases
    from codemod.writing.changes import Changes, changes_in

    transforms = transform.load_transforms() if changes.groups else []
    for finding in changes.refused:
        note(f"symfix: {finding.path}:{finding.line}: left alone: {finding.reason}")
    sources = sources_of(run.checkout.root, changes)
    repository.check_committed(sources)
    limits = Limits(run.values["max_files"] or 0, run.values["max_lines"] or 0)
    names = ShardNames.load(run.journal)
    shards = _shards(run, changes, sources, limits, names)
    in_shards = {id(group) for shard in shards for group in shard.groups}
    if len(in_shards) < len(changes.groups):
        left = [group for group in changes.groups if id(group) not in in_shards]
        note(f"symfix: {plural(len(left), 'change')} left out, for they are in no shard of {run.values['shard_file']}")
        chosen = tuple(group for group in changes.groups if id(group) in in_shards)
        changes = Changes(changes_in(chosen, sources), chosen, changes.refused)
    by_name = {shard.name: shard for shard in shards}
    evidence = {name: evidence_of(run.journal, shard, by_name, sources) for name, shard in by_name.items()}
    follow = follow_ups(run.project, transforms, shards, evidence)
    if any(follow_up.edits or follow_up.deleted for follow_up in follow.values()):
        shards = [replace(s, tests=follow[s.name].edits, deleted=follow[s.name].deleted) for s in shards]
        sources = sources_of(run.checkout.root, changes, shards)
        repository.check_committed(sources)
        shards = with_bases(shards, sources, names)
    result = split(shards, changes, sources, transforms, counter(run, transforms, "proving the split"))
    descriptions = {name: describe(shard, plan, evidence[name], follow[name]) for name, shard in result.shards.items()}
    for name, description in descriptions.items():
        if description.worse:
            note(f"symfix: {name}: symfix prove found it worse: {description.worse}")
    return Bundle(repository, plan, result, names, limits, descriptions)


def prove_compiling(run: Run, bundle: Bundle) -> None:
    """Compile the sources of each shard on the commit that it is made from and the shards that it stands on.

    That is done as far as there are a compiler and torch's headers; what the work tree has beside that plays no part.

    Raises SymfixError where a shard breaks a source; what told nothing is noted on stderr.
    """
    from codemod.bundle.compiling import any_source, check_compiles
    from codemod.prove.build import on_commit
    from codemod.prove.session import load_provers

    provers = load_provers(run.project)
    steps = bundle.split.steps
    if not any_source(steps, provers):
        return
    settings = compiler_settings(provers, run.values["python"], run.values["include"])
    if settings is None:
        return
    repository = bundle.repository
    base = {path: repository.content(path) for path in run.checkout.differing(repository.head)}
    settings = on_commit(settings, base)
    compiled = check_compiles(steps, bundle.split.sources, provers, settings, run.journal, run.project.jobs)
    note_unknown(settings, compiled.unknown, compiled.reason)
    if compiled.sources:
        count = plural(compiled.sources, "changed source")
        from_prove = f", {compiled.proved:,} of them known from symfix prove" if compiled.proved else ""
        note(f"symfix: {count} compiled over torch {settings.target.torch_version}, before and after{from_prove}")


def _shards(run: Run, changes: Changes, sources: Mapping[str, bytes], limits: Limits, names: ShardNames) -> list[Shard]:
    from codemod.bundle.shard_file import load
    from codemod.bundle.shards import make_shards, with_bases
    from codemod.bundle.tree import over_limits

    shard_file: Path | None = run.values["shard_file"]
    if shard_file is None:
        shards = make_shards(changes.groups, run.values["group"], limits, sources, names)
    else:
        shards = with_bases(load(shard_file, changes.groups), sources, names)
    large = over_limits(shards, sources, limits)
    if large:
        note(f"symfix: larger than asked for, for their changes make sense only together: {listed(large, most=1)}")
    return shards
