"""What `symfix diff` and `symfix apply` do: show what would be written, or write it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from codemod.cli.run import Run
from codemod.cli.running import (
    begin,
    changes_of,
    chosen_groups,
    coloured,
    decisions_left,
    exit_code,
    load_plan,
    refuse_dirty,
    refuse_without_git,
)
from codemod.model import transform
from codemod.model.decisions import Choice
from codemod.model.findings import Level
from codemod.model.groups import OVERLAP, Group
from codemod.model.plan import Plan
from codemod.planning.applied import keep_applied
from codemod.terminal import and_more, note, write_exact

if TYPE_CHECKING:
    from codemod.writing.changes import Changes


def change(context: click.Context, parameters: dict[str, Any], write_files: bool) -> int:
    """Write the changes that are asked for, or show them; returns the exit code."""
    from codemod.planning.decision_store import DecisionStore
    from codemod.writing.diff import unified_diff
    from codemod.writing.write import write_changes

    run = begin(context, parameters)
    if write_files and not run.values["allow_no_vcs"]:
        refuse_without_git(run.checkout)
    if write_files and not run.values["allow_dirty"]:
        refuse_dirty(run, ())
    run, plan = load_plan(run)
    changes = changes_of(run, plan, chosen_groups(run, plan))
    if write_files and not run.values["allow_dirty"]:
        refuse_dirty(run, [change.path for change in changes.files])
    left_out: list[Group] = []
    if write_files and not run.values["no_check"]:
        from codemod.cli.compiling import compiling_groups

        groups = compiling_groups(run, changes.groups)
        kept = set(map(id, groups))
        left_out = [group for group in changes.groups if id(group) not in kept]
        changes = changes_of(run, plan, groups) if left_out else changes
    if write_files:
        remaining = decisions_left(run, plan, changes)
        beside = _beside(run, changes)
        head = run.checkout.last_commit()
        write_changes(run.project.listing, run.journal, changes.files)
        DecisionStore(run.journal).add(remaining)
        if changes.files and head:
            try:
                keep_applied(run.journal, head, plan, changes.groups, changes.files)
            except OSError as error:
                note(f"symfix: {run.journal}: what was written is not noted for bundle and pr: {error.strerror}")
    else:
        patch = b"".join(unified_diff(change.path, change.old, change.edits) for change in changes.files)
        write_exact(patch, coloured, skippable=True)
    _print_summary(run, plan, changes, left_out, write_files)
    if write_files and changes.files:
        _print_next(run, beside)
    return 2 if left_out else exit_code(run, plan, bool(changes.files))


def _sites(groups: Iterable[Group]) -> int:
    """How many places `groups` change: what two of them change alike is one."""
    findings = [finding for group in groups for finding in group.findings]
    return len({finding.edits for finding in findings if finding.edits}) + sum(not f.edits for f in findings)


def _print_summary(run: Run, plan: Plan, changes: Changes, broken: Sequence[Group], write_files: bool) -> None:
    """What was done, what was not, and what to do next, on stderr: stdout is the diff's."""
    from codemod.reporting.report import plural

    files = len(changes.files)
    sites = _sites(changes.groups)
    if files:
        verb = "rewrote" if write_files else "would rewrite"
        note(f"symfix: {verb} {plural(sites, 'site')} in {plural(files, 'file')}")
    else:
        limit = "that review accepted" if run.values["accepted"] else f"at --level {run.values['level']}"
        note("symfix: nothing to change" + (f" {limit}" if plan.findings else ""))
    for finding in changes.refused:
        note(f"symfix: {finding.path}:{finding.line}: left alone: {finding.reason}")
    overlaps = sum(finding.refusal == OVERLAP and run.selection.matches(finding) for finding in plan.findings)
    if overlaps:
        note(f"symfix: {plural(overlaps, 'finding')} left alone for overlapping others; symfix scan names them")
    higher = dataclasses.replace(run.selection, level=Level.REVIEW)
    groups = higher.groups(plan.findings)
    waiting = _sites(group for group in groups if group.edits) - sites
    waiting -= _sites(broken)
    rejected = {decision.id for decision in plan.decisions if decision.choice is Choice.REJECT}
    left_out = _sites(group for group in groups if group.id in rejected)
    if left_out:
        note(f"symfix: {plural(left_out, 'site')} left out, as rejected in review (symfix review --forget WHAT)")
    waiting -= left_out
    if waiting > 0 and run.values["accepted"]:
        note(f"symfix: {plural(waiting, 'site')} not decided; symfix review asks")
    elif waiting > 0 and run.selection.level < Level.REVIEW:
        note(f"symfix: {plural(waiting, 'site')} more with --level review")


def _beside(run: Run, changes: Changes) -> str:
    """What `symfix bundle` adds to `changes`, which apply leaves out: expected failures that go, and new tests."""
    from codemod.bundle.follow_up import follow_ups
    from codemod.bundle.make import sources_of
    from codemod.bundle.shard_evidence import evidence_of
    from codemod.bundle.shards import make_shards
    from codemod.reporting.report import plural

    shards = {shard.name: shard for shard in make_shards(changes.groups)}
    sources = sources_of(run.checkout.root, changes)
    evidence = {name: evidence_of(run.journal, shard, shards, sources) for name, shard in shards.items()}
    if not any(evidence.values()):
        return ""
    follow = follow_ups(run.project, transform.load_transforms(), list(shards.values()), evidence).values()
    removed = {entry for follow_up in follow for entry in follow_up.removed}
    tests = [test for follow_up in follow for test in follow_up.tests]
    paths = sorted({entry.path for entry in removed} | {test.partition("::")[0] for test in tests})
    parts = [plural(len(removed), "expected failure") + " that no longer fails" if len(removed) == 1 else
             plural(len(removed), "expected failure") + " that no longer fail"] if removed else []  # fmt: skip
    parts += [plural(len(tests), "new test")] if tests else []
    return f"{' and '.join(parts)} ({', '.join(paths[:2])}{and_more(len(paths) - 2)})" if parts else ""


def _print_next(run: Run, beside: str) -> None:
    """Where what was written is seen, what it lacks, and the command that goes on from here."""
    if run.checkout.git is None:
        note("symfix: done")
        return
    note("symfix: see it with git diff")
    if beside:
        note(f"symfix: left out: {beside}; symfix bundle takes what was written, and adds them")
    else:
        note("symfix: symfix bundle takes it from here; what symfix prove shows before goes with it")
