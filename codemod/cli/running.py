"""The steps that commands share: recover, load a plan, choose groups, refuse a dirty tree, give the exit code."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from codemod.borders.documents import read_bounded
from codemod.borders.files import read_below
from codemod.cli.run import Run, start
from codemod.errors import SymfixError, nearest
from codemod.model import transform
from codemod.model.choices import ALL
from codemod.model.decisions import Choice, followed, standing
from codemod.model.findings import Level
from codemod.model.groups import Group, make_groups
from codemod.model.plan import Plan
from codemod.planning.operators import Operators, TreeNames
from codemod.planning.selection import within
from codemod.terminal import and_more, note, style
from codemod.tree.checkout import Checkout

if TYPE_CHECKING:
    from codemod.model.decisions import Decision
    from codemod.writing.changes import Changes, ErrorCounter

_STYLES = {"+": ["green"], "-": ["red"], "@": ["cyan"], "d": ["bold"]}
"""The colour of a diff's line by its first character."""


def begin(context: click.Context, parameters: dict[str, Any], root: Path | None = None) -> Run:
    """The run that `parameters` ask for (see `start`), once what a killed run left is finished or undone.

    Raises SymfixError where they cannot be met.
    """
    from codemod.writing.write import recover

    run = start(context, parameters, root)
    if run.selection.rules:
        from codemod.reporting.manual import all_rules

        rules = {rule.name for rule in all_rules()}
        for name in sorted(run.selection.rules - rules):
            close = nearest(name, sorted(rules))
            raise SymfixError(f"{run.origin('rule')} {name}: there is no such rule{close}; symfix rule lists them")
    done = recover(lambda: run.project.listing, run.checkout.root, run.journal)
    if done:
        note(f"symfix: {done}")
        run = start(context, parameters, root)
    return run


def load_plan(run: Run) -> tuple[Run, Plan]:
    """The plan of `--plan`, else that of a new analysis, and `run` with the names that the plan has for `--op`.

    A new analysis has the metas that were drawn in this checkout too.
    PATHS narrow a saved plan too. The plan's decisions are those made in this checkout, before those that a saved plan
    brings along. What it could not do is noted on stderr. Raises SymfixError where the saved plan cannot be read, is of
    another `--scope`, files have changed since it was made, or `--op` names no operator of the tree.
    """
    from codemod.planning.analysis import analyse
    from codemod.planning.decision_store import DecisionStore
    from codemod.planning.drawn import DrawnStore, with_drawn

    plan_file: Path | None = run.values.get("plan_file")
    if plan_file is None:
        transforms = functools.cache(transform.load_transforms)
        plan = analyse(run.project, transforms)
        drawn = DrawnStore(run.journal).load()
        plan = with_drawn(plan, run.project, drawn, transforms()) if drawn else plan
    else:
        from codemod.writing.changes import check_plan

        try:
            plan = Plan.from_json(read_bounded(plan_file), str(plan_file))
        except OSError as error:
            raise SymfixError(f"{plan_file}: the plan cannot be read: {error.strerror}") from error
        check_plan(run.project.listing, plan)
        plan = _narrowed(run, plan)
    if plan_file is None and all(map(os.path.isabs, plan.files)) and not plan.failures:
        raise SymfixError(f"{run.checkout.root}: holds no C++ or Python that symfix reads; name a checkout that does")
    for folder in run.checkout.repositories(run.project.names):
        note(f"symfix: {folder}: looks like a bare git repository inside the checkout; its files are read, no more")
    run = resolved(run, plan)
    for failure in plan.failures:
        note(f"symfix: {failure}")
    stored = DecisionStore(run.journal).load()
    if any(decision.edits for decision in stored):
        from codemod.writing.changes import check_decisions

        check_decisions(run.project.listing, stored)
    decisions = [*plan.decisions, *stored]
    holding = tuple(standing(make_groups(plan.findings), plan.files, decisions))
    return run, dataclasses.replace(plan, decisions=holding)


def _narrowed(run: Run, plan: Plan) -> Plan:
    """What of a saved plan the command line's PATHS ask for; a configured path said what the plan was made of.

    Raises SymfixError where the command line has another `--scope`, which only a new analysis can answer.
    """
    made = plan.options.get("scope", ALL)
    if run.values["scope"] not in (None, made) and "scope" not in run.configured:
        raise SymfixError(f"--scope {run.values['scope']}: the plan was made with --scope {made}; make it anew")
    if "paths" in run.configured or not run.project.paths:
        return plan
    return dataclasses.replace(plan, findings=tuple(within(plan.findings, run.project.selected)))


def operators_of(run: Run, plan: Plan) -> Operators:
    """The names that may be written for the operators of `plan`, and of the tree that it is of."""

    @functools.cache
    def transforms() -> list[transform.NamesOperators]:
        return [plugin for plugin in transform.load_transforms() if isinstance(plugin, transform.NamesOperators)]

    @functools.cache
    def operators() -> frozenset[str]:
        return frozenset(name for plugin in transforms() for name in plugin.operators(run.project))

    @functools.cache
    def functions() -> dict[str, tuple[str, ...]]:
        return {name: ops for plugin in transforms() for name, ops in plugin.functions(run.project).items()}

    return Operators(plan.findings, TreeNames(operators, functions))


def resolved(run: Run, plan: Plan) -> Run:
    """`run` with `--op` as the plan spells it; that nothing is found about an operator is noted."""
    if not run.selection.ops:
        return run
    names = operators_of(run, plan)
    chosen: dict[str, None] = {}
    parameters = click.get_current_context().command.params
    argument = any(parameter.name == "op" and isinstance(parameter, click.Argument) for parameter in parameters)
    place = "" if argument and "op" not in run.configured else f"{run.origin('op')} "
    for written in run.selection.ops:
        globs = names.resolve(written, place)
        chosen.update(dict.fromkeys(globs))
        if not any(map(names.has, globs)):
            meant = "" if written in globs else f" ({', '.join(globs)})"
            note(f"symfix: {place}{written}{meant}: nothing is found about this operator")
    return dataclasses.replace(run, selection=dataclasses.replace(run.selection, ops=tuple(chosen)))


def chosen_groups(run: Run, plan: Plan) -> list[Group]:
    """The groups of `plan` to be written: those the run asks for that edit something, less the rejected.

    The accepted are among them up to level review, whatever `--level` says; with `--accepted` no others are.
    """
    wide = dataclasses.replace(run.selection, level=max(run.selection.level, Level.REVIEW))
    candidates = [group for group in wide.groups(plan.findings) if group.edits]
    note_stale(run, plan, candidates)
    return [
        group
        for group, choice in followed(candidates, plan.decisions)
        if choice or (group.level <= run.selection.level and not run.values.get("accepted"))
    ]


def note_stale(run: Run, plan: Plan, groups: Sequence[Group]) -> None:
    """Say which acceptances of `groups` hold no more, for a file that they rest on has become another."""
    from codemod.planning.decision_store import DecisionStore
    from codemod.reporting.report import plural

    undecided = {group.id for group in groups} - {decision.id for decision in plan.decisions}
    latest = {decision.id: decision for decision in DecisionStore(run.journal).load()}
    stale = [d for d in latest.values() if d.choice is not Choice.REJECT and d.id in undecided]
    changed = sorted({p for d in stale for p, sha in d.files.items() if plan.files.get(p) != sha})
    if changed:
        are = f"{plural(len(stale), 'acceptance')} {'is' if len(stale) == 1 else 'are'}"
        why = f"{changed[0]}{and_more(len(changed) - 1)}"
        note(f"symfix: {are} stale, for {why} changed since; symfix review asks again")


def changes_of(run: Run, plan: Plan, groups: Sequence[Group]) -> Changes:
    """What `groups` change, less those that would break a file; nothing is written."""
    from codemod.writing.changes import make_changes

    transforms = transform.load_transforms() if groups else []
    return make_changes(run.project.listing, plan, groups, transforms, counter(run, transforms, "checking"))


def counter(run: Run, transforms: Sequence[transform.Transform], label: str) -> ErrorCounter:
    """Counts what `transforms` say of files, with progress shown as `label`; what earlier runs counted is kept."""
    packages = {type(plugin).__module__.partition(".")[0] for plugin in transforms} | {"codemod"}
    return lambda count, sources: run.project.counts(count, sources, packages, label)


def decisions_left(run: Run, plan: Plan, changes: Changes) -> list[Decision]:
    """The decisions on what `changes` leave behind in the files they touch, as they read afterwards."""
    from codemod.planning.carry import carried

    groups = make_groups(plan.findings) if plan.decisions else ()
    return carried(plan.decisions, groups, changes.groups, changes.files,
                   lambda path: read_below(run.checkout.root, path))  # fmt: skip


def refuse_dirty(run: Run, edited: list[str] | tuple[()]) -> None:
    """Raise SymfixError where a tracked file is changed, or one of `edited` is not tracked."""
    changed = run.checkout.dirty(untracked=edited)
    if changed:
        raise not_committed(run.checkout, changed)


def not_committed(checkout: Checkout, changed: Sequence[str]) -> SymfixError:
    """The refusal to write beside files that were changed, and how to go on."""
    more = and_more(len(changed) - 1)
    name = checkout.filtered(changed[0])
    why = f", or differs only by git's filter {name}, which symfix does not run (git status does)" if name else ""
    return SymfixError(f"{changed[0]}{more}: not committed{why}; commit or stash first, or give --allow-dirty")


def refuse_without_git(checkout: Checkout) -> None:
    """Raise SymfixError where no git would let the user undo what is written."""
    if checkout.git_dir is None:
        raise SymfixError(
            f"{checkout.root}: not a git checkout, so nothing could be undone;"
            " give --allow-no-vcs to write all the same"
        )


def coloured(line: str) -> str:
    """A line of a diff in the colour of its kind."""
    return style(line, *_STYLES.get(line[:1], ()))


def exit_code(run: Run, plan: Plan, anything: bool) -> int:
    """2 where a part could not be done, 1 where there is `anything` to report, else 0."""
    if plan.failures:
        return 2
    return 1 if anything and not run.values["exit_zero"] else 0
