"""What `symfix bundle` writes: branches, a mailbox, or patches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from codemod.cli.bundling import Bundle, make_bundle, prove_compiling
from codemod.cli.run import Run
from codemod.cli.running import begin, exit_code
from codemod.errors import SymfixError
from codemod.reporting.report import plural
from codemod.terminal import encode, listed, note, show, write_exact

if TYPE_CHECKING:
    from codemod.bundle.commits import Commit


def write_bundle(context: click.Context, parameters: dict[str, Any]) -> int:
    """Make the bundle in the form that is asked for; returns the exit code."""
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
    from codemod.bundle.make import commit_all, series, set_branches
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
    # All is made before any of it is said: whoever reads may leave after the first line.
    if form == "branches":
        done = set_branches(repository, commits)
        bundle.names.save(run.journal)
        _show_branches(bundle, commits, done)
    elif form == "mbox":
        mail = mailbox(repository, series(repository, bundle.split, commits, messages, environment))
        bundle.names.save(run.journal)
        write_exact(mail)
        note(f"symfix: {plural(len(commits), 'shard')}; take them with {am_command(contents, three_way=False)} FILE")
    elif output is not None:
        paths = _write_patches(bundle, commits, output)
        bundle.names.save(run.journal)
        show(map(str, paths))
        note(f"symfix: each stands alone on its base; take them all with {am_command(contents, three_way=True)}"
             f" {output}/*.patch")  # fmt: skip


def _show_branches(bundle: Bundle, commits: list[Commit], done: Mapping[str, str]) -> None:
    from codemod.planning.naming import PREFIX
    from codemod.terminal import table

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


def _write_patches(bundle: Bundle, commits: list[Commit], output: Path) -> list[Path]:
    """A file for each commit in the folder `output`, which has to be empty; their paths."""
    from codemod.bundle.patches import patch
    from codemod.writing.files import make_folder, replace_file

    digits = len(str(len(commits)))
    paths = []
    try:
        make_folder(output)
        if any(output.iterdir()):
            raise SymfixError(f"{output}: not empty; name another folder, or empty it")
        for number, commit in enumerate(commits, 1):
            path = output / f"{number:0{max(4, digits)}}-{commit.step.shard.name}.patch"
            replace_file(path, patch(bundle.repository, commit.sha))
            paths.append(path)
    except OSError as error:
        raise SymfixError(f"{error.filename or output}: cannot be written: {error.strerror}") from error
    return paths
