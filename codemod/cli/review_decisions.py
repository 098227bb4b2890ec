"""What `symfix review` does with decisions; by itself that a terminal: --accept, --import, --export, --forget."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from codemod.borders.documents import read_bounded
from codemod.cli.run import Run
from codemod.cli.running import begin, load_plan, operators_of
from codemod.errors import SymfixError
from codemod.model.choices import EVERYTHING
from codemod.model.decisions import Choice, Decision, Drafts, decide, from_json, standing, summary, to_json
from codemod.model.edits import Edit
from codemod.model.groups import Group
from codemod.model.plan import Plan
from codemod.planning.selectors import Names
from codemod.terminal import note, one_line, visible, write

_SHOWN = 20  # so many forgotten decisions are listed
_OTHERS = {
    "--accept": "accept", "--reject": "reject", "--import": "import_file", "--export": "export_file",
    "--html": "html_file",
}  # fmt: skip


def decide_changes(context: click.Context, parameters: dict[str, Any]) -> int:
    """Do what the parameters ask for; returns the exit code."""
    run = begin(context, parameters)
    if run.values["forget"]:
        return _forget(run, run.values["forget"])
    run, plan = load_plan(run)
    groups = [group for group in run.selection.groups(plan.findings) if group.edits]
    if run.values["html_file"] is not None:
        from codemod.cli.review_page import write_page

        return write_page(run, plan, run.values["html_file"])
    batch = [name for name in ("accept", "reject", "import_file", "export_file") if run.values[name]]
    if batch:
        return _batch(run, plan, groups)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise SymfixError(
            "review asks on a terminal; without one, say: symfix review --accept 'op:cross_entropy*',"
            " --reject rule:NAME, --import FILE, --export FILE or --forget WHAT"
        )
    if not groups:
        note("symfix: there is nothing to review" + (f" at --level {run.values['level']}" if plan.findings else ""))
        return 0
    from codemod.cli.review_terminal import review_on_screen

    return review_on_screen(run, plan, groups)


def _forget(run: Run, selectors: Sequence[str]) -> int:
    """Forget the decisions on what `wanted` names, and say which they were and where to find them again."""
    from codemod.planning.decision_store import DecisionStore
    from codemod.reporting.report import plural

    for option, name in _OTHERS.items():
        if run.values[name]:
            raise SymfixError(f"--forget does not go with {option}; run symfix review once for each")
    store = DecisionStore(run.journal)
    forgotten = store.forget_all() if _all(run, selectors) else store.forget(_ids(run, selectors))
    if forgotten is None:
        note(f"symfix: what could not be read as decisions is forgotten, and kept as {store.backup}")
        return 0
    if not forgotten:
        note(f"symfix: nothing is decided on {' or '.join(selectors) if not _all(run, selectors) else 'any change'}")
        return 0
    note(f"symfix: forgot {plural(len(forgotten), 'decision')}")
    for decision in forgotten[:_SHOWN]:
        note(f"symfix:   {decision.choice.value}  {visible(decision.title or decision.id)}")
    if len(forgotten) > _SHOWN:
        note(f"symfix:   and {len(forgotten) - _SHOWN:,} more")
    note(f"symfix: take them back with: symfix review --import {shlex.quote(str(store.backup))}")
    return 0


def _all(run: Run, selectors: Sequence[str]) -> bool:
    """Whether everything is to be forgotten. Raises SymfixError where that contradicts the other options."""
    if EVERYTHING not in selectors:
        return False
    selection = run.selection
    scoped = selection.ops or selection.modes or selection.rules or run.project.paths or selection.since is not None
    if len(selectors) > 1 or scoped:
        raise SymfixError("--forget --all forgets every decision; leave out the other options, or --all")
    return True


def _ids(run: Run, selectors: Sequence[str]) -> set[str]:
    """The ids of the changes that `wanted` names."""
    from codemod.planning.decision_store import DecisionStore
    from codemod.planning.selectors import selected

    run, plan = load_plan(run)
    groups = [group for group in run.selection.groups(plan.findings) if group.edits]
    names = _names(run, plan, [decision.id for decision in DecisionStore(run.journal).load()])
    named = {group.id for selector in selectors for group in selected(selector, groups, names, "--forget")}
    return named | {selector.removeprefix("id:") for selector in selectors if selector.startswith("id:")}


def _names(run: Run, plan: Plan, decided: Sequence[str] = ()) -> Names:
    """What selectors may name; `decided` are ids that may be of changes which are gone."""
    from codemod.reporting.manual import all_rules

    def ids() -> set[str]:
        return {finding.id for finding in plan.findings}.union(decided)

    return Names(operators_of(run, plan), [rule.name for rule in all_rules()], run.project.names, ids)


def _batch(run: Run, plan: Plan, groups: list[Group]) -> int:
    from codemod.planning.decision_store import DecisionStore
    from codemod.planning.selectors import selected
    from codemod.reporting.report import plural

    store = DecisionStore(run.journal)
    decisions = {decision.id: decision for decision in plan.decisions}
    decided: list[Decision] = []
    names = _names(run, plan)
    if run.values["import_file"] is not None:
        decided += _imported(run, run.values["import_file"], plan, groups)
    for option, choice in (("accept", Choice.ACCEPT), ("reject", Choice.REJECT)):
        for selector in run.values[option]:
            named = selected(selector, groups, names, f"--{option}")
            decided += (decide(group, choice, plan.files) for group in named)
            note(f"symfix: {option}ed {plural(len(named), 'change')} by {selector}")
    last = {decision.id: decision for decision in decided}
    if last:
        store.set(last, last.values())
        decisions.update(last)
    holding = standing(groups, plan.files, decisions.values())
    if run.values["export_file"] is not None:
        _export(run.values["export_file"], holding)
    counts = Counter(decision.choice for decision in holding)
    note(summary({None: len(groups) - len(holding), **{choice: counts[choice] for choice in Choice}}))
    return 0


def _imported(run: Run, path: Path, plan: Plan, groups: list[Group]) -> list[Decision]:
    """The decisions of a file that hold for `groups`; how many do not is noted."""
    from codemod.reporting.report import plural
    from codemod.writing.changes import check_decisions

    try:
        read = from_json(read_bounded(path), str(path), _drafts(run, plan, groups, path))
    except OSError as error:
        raise SymfixError(f"{path}: the decisions cannot be read: {error.strerror}") from error
    check_decisions(run.project.listing, read)
    holding = [decision for decision in standing(groups, plan.files, read) if _fits(decision, plan, groups, path)]
    unknown = len({decision.id for decision in read}) - len(holding)
    note(f"symfix: took over {plural(len(holding), 'decision')} from {path}")
    if unknown:
        note(f"symfix: {plural(unknown, 'decision')} left out: made for other code, or for what the options leave out")
    return holding


def _drafts(run: Run, plan: Plan, groups: list[Group], path: Path) -> Drafts:
    """What reads the texts that were written in the page; of one that comes to no edit it notes why."""
    from codemod.review.editing import Draft
    from codemod.tree.sources import Sources

    by_id = {group.id: group for group in groups}
    sources = Sources(run.checkout.root)

    def edits_of(entry: Mapping[str, Any]) -> Sequence[Edit] | None:
        group = by_id.get(entry["id"])
        if group is None or any(plan.files.get(name) != sha for name, sha in entry["files"].items()):
            return ()  # about other code: it is counted with the others
        try:
            draft = Draft(group.edits, {name: sources.of(name) for name in group.paths})
            edits = draft.read(entry["draft"].encode("utf-8"))
            problem = "" if edits else "the edited text changes nothing"
        except SymfixError as error:
            edits, problem = None, one_line(str(error))
        if problem:
            note(f"symfix: {path}: {visible(entry.get('title') or entry['id'])}: not taken over: {problem}")
        return edits or None

    return edits_of


def _fits(decision: Decision, plan: Plan, groups: list[Group], path: Path) -> bool:
    """Whether an imported edit stands beside the other changes; that it does not is noted."""
    from codemod.model.groups import make_groups
    from codemod.review.editing import clash

    group = next(candidate for candidate in groups if candidate.id == decision.id)
    place = clash(decision.edits, group, make_groups(plan.findings)) if decision.edits else ""
    if place:
        note(f"symfix: {path}: {decision.title or decision.id}: edits what the change at {place} writes too")
    return not place


def _export(path: Path, decisions: list[Decision]) -> None:
    if str(path) == "-":
        write(to_json(decisions).encode("ascii"))
        return
    from codemod.writing.files import replace_file

    try:
        replace_file(path, to_json(decisions).encode("ascii"))
    except OSError as error:
        raise SymfixError(f"{path}: cannot be written: {error.strerror}") from error
