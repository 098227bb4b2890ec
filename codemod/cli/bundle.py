"""`symfix bundle`: its options, and the branches, mailbox or patches that it writes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from codemod.cli.bundling import Bundle, make_bundle, prove_compiling, shard_options
from codemod.cli.options import Run, level_option, tree_options
from codemod.cli.root import group
from codemod.cli.running import accepted_option, begin, exit_code, plan_option
from codemod.errors import SymfixError
from codemod.reporting.report import plural
from codemod.terminal import encode, listed, note, show, write_exact

if TYPE_CHECKING:
    from codemod.bundle.commits import Commit


@group.command()
@tree_options
@level_option("safe", "Bundle changes up to this level.")
@plan_option("Bundle this saved plan.")
@accepted_option("Only what symfix review accepted, at whatever level.")
@shard_options
@click.option("--dry-run", is_flag=True, help="Show the shards as a tree, with their sizes; make nothing.")
@click.option("--save-shards", type=click.Path(path_type=Path), metavar="FILE", help="Write the shards, to be edited.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["branches", "mbox", "patches"]),
    default="branches",
    show_default=True,
    help="Branches symfix/SHARD; one mailbox on stdout; a file for each shard.",
)
@click.option("--output", type=click.Path(path_type=Path), metavar="DIR", help="The folder for --format patches.")
@click.pass_context
def bundle(context: click.Context, /, **parameters: Any) -> int:
    """Split the change into one commit for each operator.

    Nothing is checked out: the work tree and the index stay as they are. What several operators share is a shard
    that theirs are stacked on. Every shard is proved to stand alone on its base, all of them to be the whole change.
    Where there is a compiler and torch's headers, each has to compile what compiled before; what does is kept.

    \b
      symfix bundle --dry-run                          the shards, with sizes
      symfix bundle                                    a branch symfix/SHARD each
      symfix bundle --op 'max_pool*' --level review
      symfix bundle --python ~/torch/bin/python        compile over that torch
      symfix bundle --format mbox > symfix.mbox        for git am
      symfix bundle --format patches --output ../patches   a file for each shard
      symfix bundle --dry-run --save-shards shards.yaml    edit that file, then
      symfix bundle --shards shards.yaml
    """
    run = begin(context, parameters)
    form, output = run.values["form"], run.values["output"]
    if (form == "patches") != (output is not None) and not run.values["dry_run"]:
        raise SymfixError("--format patches and --output DIR go together")
    bundle = make_bundle(run)
    if run.values["save_shards"]:
        _save_shards(run.values["save_shards"], bundle)
    if not bundle.split.steps:
        note("symfix: nothing to change")
    elif run.values["dry_run"]:
        _show(bundle)
    else:
        _make(run, bundle, form, output)
    return exit_code(run, bundle.plan, bool(bundle.split.steps))


def _show(bundle: Bundle) -> None:
    from codemod.bundle.tree import shard_tree, totals

    steps, sources = bundle.split.steps, bundle.split.sources
    show([*shard_tree(steps, sources, bundle.limits), "", totals(steps, sources)])


def _save_shards(path: Path, bundle: Bundle) -> None:
    from codemod.bundle.shard_file import to_yaml
    from codemod.writing.files import replace_file

    try:
        replace_file(path, encode(to_yaml(list(bundle.split.shards.values()))))
    except OSError as error:
        raise SymfixError(f"{path}: cannot be written: {error.strerror}") from error
    note(f"symfix: {path} holds {plural(len(bundle.split.shards), 'shard')}")


def _make(run: Run, bundle: Bundle, form: str, output: Path | None) -> None:
    from codemod.bundle.commits import refuse_foreign
    from codemod.bundle.make import commit_all, series
    from codemod.bundle.message import commit_message
    from codemod.bundle.patches import am_command, mailbox

    repository = bundle.repository
    messages = {name: commit_message(description) for name, description in bundle.descriptions.items()}
    if form == "branches":
        refuse_foreign(repository, list(messages))
    environment = repository.identity()
    prove_compiling(run, bundle)
    commits = commit_all(repository, bundle.split, messages, environment)
    contents = list(bundle.split.sources.values())
    if form == "branches":
        _set_branches(bundle, commits)
    elif form == "mbox":
        write_exact(mailbox(repository, series(repository, bundle.split, commits, messages, environment)))
        note(f"symfix: {plural(len(commits), 'shard')}; take them with {am_command(contents, three_way=False)} FILE")
    elif output is not None:
        _write_patches(bundle, commits, output)
        note(f"symfix: each stands alone on its base; take them all with {am_command(contents, three_way=True)}"
             f" {output}/*.patch")  # fmt: skip
    bundle.names.save(run.journal)


def _set_branches(bundle: Bundle, commits: list[Commit]) -> None:
    from codemod.bundle.make import set_branches
    from codemod.bundle.repository import PREFIX
    from codemod.terminal import table

    done = set_branches(bundle.repository, commits)
    rows = []
    for commit in commits:
        name = commit.step.shard.name
        base = PREFIX + commit.step.parent if commit.step.parent else bundle.repository.branch
        rows.append((PREFIX + name, done[name], commit.sha[:12], plural(len(commit.step.files), "file"), f"on {base}"))
    show(table(rows))
    counts = Counter(done.values())
    note("symfix: " + ", ".join(f"{count:,} {word}" for word, count in sorted(counts.items())))
    older = sorted(set(bundle.repository.tips()) - set(done))
    if older:
        note(f"symfix: left as they are, of earlier bundles: {listed([PREFIX + name for name in older], most=1)}")


def _write_patches(bundle: Bundle, commits: list[Commit], output: Path) -> None:
    from codemod.bundle.patches import patch
    from codemod.writing.files import make_folder, replace_file

    digits = len(str(len(commits)))
    try:
        make_folder(output)
        if any(output.iterdir()):
            raise SymfixError(f"{output}: not empty; name another folder, or empty it")
        for number, commit in enumerate(commits, 1):
            path = output / f"{number:0{max(4, digits)}}-{commit.step.shard.name}.patch"
            replace_file(path, patch(bundle.repository, commit.sha))
            show([str(path)])
    except OSError as error:
        raise SymfixError(f"{error.filename or output}: cannot be written: {error.strerror}") from error
