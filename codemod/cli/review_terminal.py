"""`symfix review` on a terminal: what `codemod.review.terminal` needs of a run."""

from __future__ import annotations

import contextlib
import inspect
import os
import tempfile
from pathlib import Path

import click

from codemod.cli.run import Run
from codemod.errors import SymfixError
from codemod.model import transform
from codemod.model.decisions import Choice, summary
from codemod.model.findings import Level
from codemod.model.groups import Group, make_groups
from codemod.model.plan import Plan
from codemod.planning.decision_store import DecisionStore
from codemod.reporting.report import plural
from codemod.terminal import note


def review_on_screen(run: Run, plan: Plan, groups: list[Group]) -> int:
    """Let the user step through `groups`; returns the exit code. Every decision is kept as soon as it is made."""
    from codemod.bundle.shard_evidence import StoredRuns
    from codemod.bundle.shard_names import ShardNames
    from codemod.bundle.shards import make_shards
    from codemod.prove.evidence import Evidence
    from codemod.review.items import Item, make_items
    from codemod.review.session import Session
    from codemod.review.terminal.app import App, Surroundings
    from codemod.review.terminal.screen import Plain, Screen
    from codemod.review.terminal.view import View
    from codemod.tree.sources import Sources
    from codemod.writing.changes import make_changes

    read = Sources(run.checkout.root)
    sources = {path: read.of(path) for group in groups for path in group.paths}
    names = ShardNames.load(run.journal)
    shards = make_shards(groups, sources=sources, names=names)
    stored = StoredRuns(run.journal, shards, sources, names)

    def evidence(item: Item) -> tuple[Evidence, ...]:
        ran = stored.of(item.shard.name)
        return ran.evidence if item.group.id in ran.groups else ()

    def refused(group: Group) -> str:
        rules, listing = transform.load_transforms(), run.project.listing
        changes = make_changes(listing, plan, [group], rules, lambda count, files: [count(file) for file in files])
        return next((finding.reason for finding in changes.refused), "")

    store = DecisionStore(run.journal)
    session = Session(make_items(shards, plan.findings), plan.files, plan.decisions, store)
    around = Surroundings(read, make_groups(plan.findings), evidence, refused, _edited)
    code = 0
    dumb = os.environ.get("TERM", "dumb") == "dumb"
    with contextlib.nullcontext(Plain()) if dumb else Screen() as screen:
        try:
            App(session, View(read, _headlines(groups)), around, screen, _asked_again(plan, store)).run()
        except KeyboardInterrupt:
            code = 130
    note(summary(session.counts()))
    if any(session.choice(item) not in (None, Choice.REJECT) for item in session.items):
        note("symfix: see it with symfix diff --accepted, write it with symfix apply --accepted")
    if session.counts()[None]:
        note("symfix: symfix review goes on where this ended")
    return code


def _asked_again(plan: Plan, store: DecisionStore) -> str:
    """What to say of decisions that no longer hold, for a file of their change has become another."""
    standing = {decision.id for decision in plan.decisions}
    current = {finding.id for finding in plan.findings}
    count = len({decision.id for decision in store.load()} & current - standing)
    return f"{plural(count, 'change')} asked again: decided before, in files that have changed since" if count else ""


def _headlines(groups: list[Group]) -> dict[str, str]:
    """The first line of the manual page of each rule, where a group needs a person's judgement."""
    if all(group.level is Level.SAFE for group in groups):
        return {}
    from codemod.reporting.manual import all_rules

    return {rule.name: inspect.cleandoc(rule.doc).partition("\n")[0] for rule in all_rules()}


def _edited(text: bytes, suffix: str) -> bytes:
    """What the user's editor makes of `text`. Raises SymfixError where it cannot be run, or fails."""
    handle, name = tempfile.mkstemp(suffix=suffix, prefix="symfix-")
    path = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text)
        click.edit(filename=name)
        return path.read_bytes()
    except click.ClickException as error:
        raise SymfixError(f"the editor: {error.message}; $EDITOR says which is run") from error
    except OSError as error:
        raise SymfixError(f"{name}: {error.strerror}; nothing was decided") from error
    finally:
        path.unlink(missing_ok=True)
