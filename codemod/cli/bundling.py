"""What bundle and pr share: their options, and the shards of a run, proved to add up to the whole change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from codemod.cli.compiling import compiler_settings, note_unknown
from codemod.cli.options import Run, target_options
from codemod.cli.running import chosen_groups, load_plan, refuse_dirty
from codemod.model import transform
from codemod.model.groups import Group
from codemod.model.plan import Plan
from codemod.reporting.report import plural
from codemod.terminal import note

if TYPE_CHECKING:
    from codemod.bundle.description import Description
    from codemod.bundle.make import Split
    from codemod.bundle.repository import Repository
    from codemod.bundle.shard_names import ShardNames
    from codemod.bundle.shards import Limits, Shard
    from codemod.writing.changes import Changes, Mapper

C = TypeVar("C", bound=Callable[..., Any])

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--group", type=click.Choice(["operator", "file", "module"]), default="operator", show_default=True,
        help="What one shard is about; a module is a folder.",
    ),
    click.option("--max-files", type=click.IntRange(1), metavar="N", help="Part a shard that touches more files."),
    click.option("--max-lines", type=click.IntRange(1), metavar="N", help="Part a shard that changes more lines."),
    click.option(
        "--shards", "shard_file", type=click.Path(path_type=Path), metavar="FILE",
        help="The shards of this file, which --save-shards wrote and you may have edited.",
    ),
    click.option("--allow-dirty", is_flag=True, help="Also where other files have changes that are not committed."),
)  # fmt: skip


def shard_options(command: C) -> C:
    """The options that say how a plan is split, and what proves it."""
    command = target_options(command)
    for decorate in reversed(_OPTIONS):
        command = decorate(command)
    return command


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
    repository = open_repository(run)
    run, plan = load_plan(run)
    return bundle_of(run, repository, plan, chosen_groups(run, plan))


def open_repository(run: Run) -> Repository:
    """The repository to branch from, closed with the command. Raises SymfixError where it is in no state for that."""
    from codemod.bundle.repository import Repository

    repository = Repository.open(run.checkout)
    click.get_current_context().call_on_close(repository.close)
    if not run.values["allow_dirty"]:
        refuse_dirty(run, ())
    return repository


def bundle_of(run: Run, repository: Repository, plan: Plan, groups: Sequence[Group]) -> Bundle:
    """The bundle of `groups`, a part of `plan`; nothing is written.

    Raises SymfixError where their files are not those of the last commit, or the shards do not add up.
    """
    from codemod.bundle.description import describe
    from codemod.bundle.follow_up import follow_ups
    from codemod.bundle.make import sources_of, split
    from codemod.bundle.shard_evidence import evidence_of
    from codemod.bundle.shard_names import ShardNames
    from codemod.bundle.shards import Limits, with_bases
    from codemod.writing.changes import make_changes

    transforms = transform.load_transforms() if groups else []
    count = _remembering(lambda function, items: run.project.map(function, items, "proving the split"))
    changes = make_changes(run.project.listing, plan, groups, transforms, count)
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
        chosen = [group for group in changes.groups if id(group) in in_shards]
        changes = make_changes(run.project.listing, plan, chosen, transforms, count)
    by_name = {shard.name: shard for shard in shards}
    evidence = {name: evidence_of(run.journal, shard, by_name, sources) for name, shard in by_name.items()}
    follow = follow_ups(run.project, transforms, shards, evidence)
    if any(follow_up.edits or follow_up.deleted for follow_up in follow.values()):
        shards = [replace(s, tests=follow[s.name].edits, deleted=follow[s.name].deleted) for s in shards]
        sources = sources_of(run.checkout.root, changes, shards)
        repository.check_committed(sources)
        shards = with_bases(shards, sources, names)
    result = split(shards, changes, sources, transforms, count)
    descriptions = {name: describe(shard, plan, evidence[name], follow[name]) for name, shard in result.shards.items()}
    for name, description in descriptions.items():
        if description.worse:
            note(f"symfix: {name}: symfix prove found it worse: {description.worse}")
    return Bundle(repository, plan, result, names, limits, descriptions)


def prove_compiling(run: Run, bundle: Bundle) -> None:
    """Compile the sources of each shard on what it stands on, as far as there are a compiler and torch's headers.

    Raises SymfixError where a shard breaks a source; what told nothing is noted on stderr.
    """
    from codemod.bundle.compiling import any_source, check_compiles
    from codemod.prove.session import load_provers

    provers = load_provers(run.project)
    steps = bundle.split.steps
    if not any_source(steps, provers):
        return
    settings = compiler_settings(provers, run.values["python"], run.values["include"])
    if settings is None:
        return
    compiled = check_compiles(steps, bundle.split.sources, provers, settings, run.journal, run.project.jobs)
    note_unknown(settings, compiled.unknown, compiled.reason)
    if compiled.sources:
        count = plural(compiled.sources, "changed source")
        from_prove = f", {compiled.proved:,} of them known from symfix prove" if compiled.proved else ""
        note(f"symfix: {count} compiled over torch {settings.target.torch_version}, before and after{from_prove}")


def _remembering(mapper: Mapper) -> Mapper:
    """`mapper`, for one function, so that no item is worked on twice."""
    results: dict[Any, int] = {}

    def run(function: Callable[[Any], int], items: Sequence[Any]) -> list[int]:
        fresh = [item for item in dict.fromkeys(items) if item not in results]
        results.update(zip(fresh, mapper(function, fresh), strict=True))
        return [results[item] for item in items]

    return run


def _shards(run: Run, changes: Changes, sources: Mapping[str, bytes], limits: Limits, names: ShardNames) -> list[Shard]:
    from codemod.bundle.message import listed
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
