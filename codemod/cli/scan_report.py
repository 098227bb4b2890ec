"""What `symfix scan` prints: the report, in the form that a person, a script or a CI service reads."""

from __future__ import annotations

import dataclasses
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from codemod.cli.run import Run
from codemod.cli.running import begin, chosen_groups, exit_code, load_plan
from codemod.errors import SymfixError
from codemod.model.findings import Finding, Level
from codemod.model.groups import order
from codemod.model.plan import Plan
from codemod.reporting.dashboard import Operator
from codemod.terminal import note, show, style, write

_MOST_REASONS = 6


def report(context: click.Context, parameters: dict[str, Any]) -> int:
    """Look at the tree, print what is found; returns the exit code."""
    run = begin(context, parameters)
    run, plan = load_plan(run)
    chosen = sorted((f for g in run.selection.groups(plan.findings) for f in g.findings), key=order)
    format_ = run.values["format"]
    baseline: Path | None = run.values["baseline"]
    if baseline is not None and format_ != "baseline":
        chosen = _without_accepted(run, plan, chosen, baseline)
    _PRINTERS[format_](run, plan, chosen)
    return exit_code(run, plan, bool(chosen) and format_ != "baseline")


def _without_accepted(run: Run, plan: Plan, chosen: list[Finding], path: Path) -> list[Finding]:
    """`chosen` less what the baseline at `path` accepts; entries that match nothing any more are noted on stderr."""
    from codemod.planning.baseline import read_baseline, renamed
    from codemod.planning.fingerprint import fingerprints
    from codemod.reporting.report import plural
    from codemod.tree.sources import Sources

    accepted = read_baseline(path)
    sources = Sources(run.checkout.root)
    prints = fingerprints(plan.findings, sources)
    left = [finding for finding in chosen if prints[finding] not in accepted]
    current = set(prints.values())
    gone = [entry for entry in accepted.values() if entry.fingerprint not in current]
    there = run.checkout.files({entry.path for entry in gone} & set(run.project.names))
    moved = renamed(set(left), plan.findings, gone, there, sources)
    left = [finding for finding in left if finding not in moved]
    note(f"symfix: {path} accepts {plural(len(chosen) - len(left), 'finding')}")
    current.update(moved.values())
    gone = [entry for entry in gone if entry.fingerprint not in current and run.project.selected(entry.path)]
    if gone:
        example = f"{gone[0].rule} in {gone[0].path}"
        count = plural(len(gone), "entry", "entries")
        note(f"symfix: {path}: {count} found no more ({example}); symfix scan --format baseline writes it anew")
    return left


def _print_json(run: Run, plan: Plan, chosen: list[Finding]) -> None:
    filters = {name: list(run.values[name]) for name in ("op", "mode", "rule")}
    options = {**plan.options, **filters, "level": run.values["level"]}
    ids = {finding.id for finding in chosen}
    decisions = tuple(decision for decision in plan.decisions if decision.id in ids)
    part = dataclasses.replace(plan, findings=tuple(chosen), options=options, decisions=decisions)
    write(part.to_json().encode("ascii") + b"\n")


def _print_csv(run: Run, plan: Plan, chosen: list[Finding]) -> None:
    from codemod.reporting.report import findings_csv

    write(findings_csv(chosen).encode())


def _print_baseline(run: Run, plan: Plan, chosen: list[Finding]) -> None:
    from codemod.planning.baseline import baseline_json
    from codemod.planning.fingerprint import fingerprints
    from codemod.tree.sources import Sources

    write(baseline_json(chosen, fingerprints(plan.findings, Sources(run.checkout.root))).encode("ascii"))


def _print_sarif(run: Run, plan: Plan, chosen: list[Finding]) -> None:
    from codemod.planning.fingerprint import fingerprints
    from codemod.reporting import sarif
    from codemod.reporting.manual import all_rules
    from codemod.tree.sources import Sources

    sources = Sources(run.checkout.root)
    if len(chosen) > sarif.MOST_RESULTS:
        note(f"symfix: {len(chosen):,} findings, of which GitHub takes {sarif.MOST_RESULTS:,}: the rest is left out")
    write(sarif.sarif_log(plan, chosen, all_rules(), sources, fingerprints(plan.findings, sources)))


def _files_of_tree(plan: Plan) -> int:
    """How many files were looked at, without those outside the tree, such as the headers of an installed torch."""
    return sum(not os.path.isabs(path) for path in plan.files)


def _print_github(run: Run, plan: Plan, chosen: list[Finding]) -> None:
    from codemod.reporting.annotations import annotate, summary, workspace_prefix
    from codemod.reporting.report import totals
    from codemod.tree.sources import Sources
    from codemod.writing.files import append_file

    root = run.checkout.root
    commands, lines = annotate(chosen, Sources(root), workspace_prefix(root), run.selection.since)
    write("".join(f"{command}\n" for command in commands).encode())
    show([*lines, *totals(chosen, _files_of_tree(plan), plan.suppressed)])
    page = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if page:
        try:
            append_file(Path(page), summary(chosen, _files_of_tree(plan), plan.suppressed).encode("utf-8", "replace"))
        except OSError as error:
            raise SymfixError(f"{page}: the summary cannot be written: {error.strerror}") from error


def _print_scan(run: Run, plan: Plan, chosen: list[Finding]) -> None:
    from codemod.reporting import dashboard
    from codemod.reporting.explain import explanation
    from codemod.reporting.report import finding_lines, refusal_table, remark_lines, totals

    lines: list[str] = []
    if run.selection.ops:
        lines += [*explanation(run.checkout.root, plan.findings, chosen), ""]
    elif run.project.paths or run.selection.modes or run.selection.rules or run.selection.since:
        lines += [*finding_lines(chosen), ""]
    ops = run.selection.ops
    listed = dashboard.operators(chosen, ops, _seen(run, plan), run.values["sort"])
    every = run.values["all_"] or not sys.stdout.isatty()
    sums = totals(chosen, _files_of_tree(plan), plan.suppressed, ops)
    sums = [dashboard.heading(listed), *sums] if listed else sums
    refusals = refusal_table(chosen, 0 if every else _MOST_REASONS)
    remarks = remark_lines(plan.remarks) if plan.remarks else []
    steps = _next_steps(run, listed, chosen)
    others = (sums, refusals, remarks, steps)
    rows = 0 if every else dashboard.room(sum(len(block) + bool(block) for block in others))
    for block in (sums, dashboard.operator_table(listed, rows), refusals, remarks, steps):
        lines += [*block, ""] if block else []
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    show(lines)


def _seen(run: Run, plan: Plan) -> dict[str, str]:
    """The outcome of each operator that `symfix prove` ran with the safe changes of this plan."""
    from codemod.prove.evidence import FOLDER

    if not (run.journal / FOLDER).is_dir():
        return {}
    from codemod.bundle.shard_evidence import outcomes
    from codemod.bundle.shards import make_shards
    from codemod.tree.sources import Sources

    groups = [group for group in chosen_groups(run, plan) if group.level is Level.SAFE]
    read = Sources(run.checkout.root)
    sources = {path: read.of(path) for group in groups for path in group.paths}
    return outcomes(run.journal, make_shards(groups, sources=sources), sources)


def _next_steps(run: Run, listed: Sequence[Operator], chosen: list[Finding]) -> list[str]:
    since = run.values["since"]
    scope = ["--scope", run.values["scope"]] if run.values["scope"] and "scope" not in run.configured else []
    steps = []
    if listed and not run.selection.ops:
        command = shlex.join(["symfix", "scan", *scope, "--op", listed[0].name])
        steps.append((command, "explains one operator site by site"))
    if any(finding.edits for finding in chosen):
        review = not any(group.edits for group in dataclasses.replace(run.selection, level=Level.SAFE).groups(chosen))
        options = [*scope, *(["--level", "review"] if review else []), *(["--since", since] if since else [])]
        steps.append((shlex.join(["symfix", "diff", *options]), "shows what would be written"))
    if not chosen and not run.selection.ops:
        steps.append(("symfix fix -- python PROGRAM", "starts from a program that fails or compiles too often"))
    longest = max((len(command) for command, _ in steps), default=0)
    return [f"  {style(command.ljust(longest), 'cyan')}  {what}" for command, what in steps]


_PRINTERS = {
    "text": _print_scan,
    "json": _print_json,
    "csv": _print_csv,
    "baseline": _print_baseline,
    "github": _print_github,
    "sarif": _print_sarif,
}
