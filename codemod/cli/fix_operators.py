"""What `symfix fix` does with operators: one after the other, from its name to its pull request."""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from codemod.cli.bundling import bundle_of, open_repository, prove_compiling
from codemod.cli.drawing import draw_metas
from codemod.cli.prove_session import NO_INPUTS, ProofSession
from codemod.cli.run import Run
from codemod.cli.running import begin, changes_of, chosen_groups, coloured, load_plan, operators_of
from codemod.errors import SymfixError
from codemod.fix import text
from codemod.fix.landing import Landing, land
from codemod.fix.names import asked_for, names_in
from codemod.model.choices import FIX_STEPS
from codemod.model.findings import Level, Mode
from codemod.model.groups import Group
from codemod.reporting.report import plural
from codemod.terminal import decode, encode, note, show, write_exact
from codemod.tree.checkout import of_pytorch
from codemod.writing.diff import unified_diff

if TYPE_CHECKING:
    from codemod.bundle.repository import Repository
    from codemod.cli.bundling import Bundle
    from codemod.prove.evidence import Evidence

_DEFAULTS: dict[str, Any] = {
    "paths": (), "group": "operator", "max_files": None, "max_lines": None, "shard_file": None, "template": None,
    "cc": (),
}  # fmt: skip
"""Parameters of bundle and pr that this command leaves to the configuration."""


def fix_operators(context: click.Context, parameters: dict[str, Any]) -> int:
    """Take the operators that `parameters` name as far as they get; returns the exit code."""
    if parameters["from_file"] is not None:
        parameters["op"] = (*parameters["op"], *names_in(parameters["from_file"]))
    run = begin(context, {**_DEFAULTS, **parameters})
    if not run.values["op"]:
        raise SymfixError("say which operator: symfix fix cross_entropy; symfix scan lists them")
    if not run.values["yes"] and FIX_STEPS.index(run.values["until"]) >= FIX_STEPS.index("commit") and not _asks():
        raise SymfixError("fix asks on a terminal before it commits; without one, give --yes, or --until prove")
    return _Fixing(run).run()


def _asks() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


class _Fixing:
    """One run of the command."""

    def __init__(self, run: Run) -> None:
        self._until = FIX_STEPS.index(run.values["until"])
        self._repository: Repository | None = open_repository(run) if self._reaches("commit") else None
        if Mode.TENSOR_ITERATOR in run.selection.modes and of_pytorch(run.checkout):
            draw_metas(run)
        self._run, self._plan = load_plan(run)
        names = operators_of(run, self._plan)
        resolved = {name: names.resolve(name, "") for name in run.values["op"]}
        editable = {op for finding in self._plan.findings if finding.edits for op in finding.operators}
        self._names = {name: resolved.get(name, (name,)) for name in asked_for(run.values["op"], resolved, editable)}
        if isinstance(run.values["repro"], Path) and len(self._names) != 1:
            raise SymfixError("--repro runs one operator: name no more than that")
        self._evidence: dict[str, tuple[Evidence, ...]] = {}
        self._reused: set[str] = set()
        self._branches: dict[str, str] = {}

    def _reaches(self, step: str) -> bool:
        return self._until >= FIX_STEPS.index(step)

    def run(self) -> int:
        """Take every operator as far as it gets; returns the exit code."""
        groups = chosen_groups(self._run, self._plan)
        session = ProofSession(self._run, self._plan, groups) if groups else None
        if session is not None and self._reaches("prove"):
            self._prove(session)
        landings = [self._fix(name, session) for name in self._names]
        if len(landings) > 1:
            show(["", *text.summary(landings, self._branches)])
        if self._plan.failures:
            return 2
        last = self._branches if self._reaches("commit") else [entry.name for entry in landings if entry.shards]
        return 0 if set(last) >= set(self._names) or self._run.values["exit_zero"] else 1

    def _prove(self, session: ProofSession) -> None:
        """Find the evidence for every shard, that which is kept and that of a run."""
        from codemod.prove.evidence import FOLDER, EvidenceStore
        from codemod.prove.executor import make_executor
        from codemod.prove.isolate import terminable
        from codemod.prove.orchestrate import prove_all
        from codemod.tree.pool import progress

        values, jobs = self._run.values, self._run.project.jobs
        store = EvidenceStore(self._run.journal / FOLDER)
        ended = prove_all(session.settings, session.requests(), store, make_executor(values["executor"], jobs), jobs,
                          values["no_cache"], session.whole_settings)  # fmt: skip
        note(f"symfix: running {plural(len(session.shards), 'shard')} before and after the change, over torch"
             f" {session.settings.target.torch_version}")  # fmt: skip
        with terminable(), contextlib.closing(ended), progress("proving", len(session.shards)) as advance:
            for shard in ended:
                self._evidence[shard.shard] = shard.evidence
                self._reused.update([shard.shard] if shard.reused else [])
                advance(1)

    def _fix(self, name: str, session: ProofSession | None) -> Landing:
        """Take one operator as far as it gets."""
        run = dataclasses.replace(self._run, selection=dataclasses.replace(self._run.selection, ops=self._names[name]))
        everything = dataclasses.replace(run.selection, level=Level.MANUAL).groups(self._plan.findings)
        together = [finding for group in everything for finding in group.findings]
        findings = [finding for finding in together if run.selection.matches(finding)] or together  # of a shard, all
        groups = chosen_groups(run, self._plan)
        show(["", text.heading(name, findings, self._names[name])])
        if session is None or not groups:
            landing = land(name, findings, (), {}, {})
        elif not self._reaches("prove"):
            return self._reproduce(run, name, groups)
        else:
            landing = land(name, findings, groups, session.shards, self._evidence)
            show(text.reproduced(landing.shown, session.settings.target.torch_version))
        if session is None or landing.state != "cured":
            show(text.stopped(landing))
            return landing
        shards = [session.shards[shard] for shard in landing.shards]
        chosen = list(dict.fromkeys(group for shard in shards for group in shard.groups))
        self._show_plan(run, chosen)
        show(text.proved(landing.shown, all(shard in self._reused for shard in landing.shards)))
        if self._repository is not None:
            try:
                self._commit(run, self._repository, landing, chosen)
            except SymfixError as error:
                if len(self._names) == 1:
                    raise
                landing = dataclasses.replace(landing, state="blocked", because=str(error))  # the others go on
                show(text.stopped(landing))
        return landing

    def _reproduce(self, run: Run, name: str, groups: Sequence[Group]) -> Landing:
        """Run the operator before the change alone, and show the script, or the change where it is asked for."""
        script = ProofSession(run, self._plan, groups).repro()
        if not script:
            note(f"symfix: {name}: {NO_INPUTS}")
        elif self._reaches("plan"):
            show(text.step("reproduce", "a script fails before the change; --until reproduce prints it"))
        else:
            write_exact(encode(script))
        if self._reaches("plan"):
            self._show_plan(run, groups)
        return Landing(name, "cured" if script else "not provable", ("",) if script else ())

    def _show_plan(self, run: Run, groups: Sequence[Group]) -> None:
        changes = changes_of(run, self._plan, groups)
        lines = [line for c in changes.files for line in decode(unified_diff(c.path, c.old, c.edits)).splitlines()]
        sites = sum(len(group.findings) for group in changes.groups)
        show(text.step("plan", f"{plural(sites, 'site')} in {plural(len(changes.files), 'file')}"))
        show(text.planned([coloured(line) for line in lines], whole=not sys.stdout.isatty()))

    def _commit(self, run: Run, repository: Repository, landing: Landing, groups: Sequence[Group]) -> None:
        """Commit what lands, unless the user does not want it, and print the text of its pull request."""
        from codemod.bundle.commits import refuse_foreign
        from codemod.bundle.make import commit_all, set_branches
        from codemod.bundle.message import commit_message
        from codemod.planning.naming import PREFIX

        bundle = bundle_of(run, repository, self._plan, changes_of(run, self._plan, groups))
        own = next((name for name in reversed(landing.shards) if name in bundle.descriptions), "")
        for description in bundle.descriptions.values():
            show(text.step("beside", text.beside(description)))
        if not run.values["yes"] and not click.confirm(f"Commit this on {PREFIX}{own}?", default=True, err=True):
            show(text.step("stopped", "not committed; all that was found is kept"))
            return
        messages = {name: commit_message(description) for name, description in bundle.descriptions.items()}
        refuse_foreign(repository, list(messages))
        prove_compiling(run, bundle)
        commits = commit_all(repository, bundle.split, messages, repository.identity())
        done = set_branches(repository, commits)
        bundle.names.save(run.journal)
        for commit in commits:
            name = commit.step.shard.name
            files = plural(len(commit.step.files), "file")
            show(text.step("commit", f"{PREFIX}{name} {commit.sha[:12]}, {files}", done[name] == "kept"))
        self._branches[landing.name] = PREFIX + own
        if self._reaches("pr"):
            self._print_texts(run, bundle, own)

    def _print_texts(self, run: Run, bundle: Bundle, own: str) -> None:
        from codemod.planning.naming import PREFIX
        from codemod.pr.release_notes import listed_topics
        from codemod.pr.text import render

        descriptions, topics = list(bundle.descriptions.values()), listed_topics(run.checkout.root)
        texts = render(descriptions, None, run.values.get("template"), run.values["cc"], topics)
        for body in texts:
            show(text.step("pr", body.title))
            if len(self._names) == 1:
                show(["", *body.body.strip().split("\n"), ""])
        level = [] if run.values["level"] == "safe" else ["--level", run.values["level"]]
        create = shlex.join(["symfix", "pr", "--op", own, *level, "--create"])
        show(text.step("next", f"git diff HEAD {PREFIX}{own}; {create} pushes it and opens a draft"))
