"""`symfix fix -- PROGRAM` and `symfix fix --from-error`: from a program that fails to the change that cures it."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from codemod.cli.running import coloured, not_committed, refuse_without_git
from codemod.errors import SymfixError
from codemod.model.findings import Level
from codemod.model.groups import Group, make_groups
from codemod.terminal import decode, note, show, visible

if TYPE_CHECKING:
    from codemod.cli.run import Run
    from codemod.fix.candidate import Candidate
    from codemod.fix.repair import Repair
    from codemod.fix.trees import Tree
    from codemod.fix.trial import Trial
    from codemod.model.transform import TracedLine
    from codemod.probe.answers import Report
    from codemod.writing.changes import Change

_OF_OPERATORS = ("since", "python", "include", "install", "timeout", "executor", "repro")
"""Options of `fix` that mean nothing for a program."""
_OF_TREES = ("mode", "rule", "scope", "vocabulary", "torch", "jobs", "no_cache")
"""Options of `fix` that say how the program's trees are looked at, as `scan` has them."""
_MOST_TRIED = 3
"""Changes that helped nothing that are named at the end, the last."""
_OUTERMOST = re.compile(r'^\s*File "([^"]+\.py)", line \d+, in <module>\s*$', re.M)


def fix_program(context: click.Context, command: Sequence[str], parameters: dict[str, Any]) -> int:
    """Run `command`, or the program of the error that was given, and offer what a second run shows to cure it."""
    from codemod.fix.candidate import changes_of
    from codemod.fix.repair import Repair
    from codemod.fix.verdict import wrong_values
    from codemod.model.edits import EditConflict
    from codemod.probe.script import Program
    from codemod.prove.isolate import terminable

    if parameters["op"] or parameters["from_file"]:
        raise SymfixError("name either operators or a program after --, not both")
    for name in _OF_OPERATORS:
        if _given(context, name):
            raise SymfixError(f"--{name} is for operators; a program after -- runs as it is")
    report = None
    if parameters["from_error"]:
        report, text = _read_error(parameters["from_error"])
        command = command or _program_of(text, parameters["yes"])
    only_failures = report is not None and {answer.kind for answer in report.answers} <= {"error"}
    level = Level[parameters["level"].upper()] if _given(context, "level") else Level.REVIEW
    sources = _Sources(context, parameters)
    repair = Repair(Program(tuple(command)), sources, level, _say, only_failures)
    note(f"symfix: running {shlex.join(command)}; where it compiles, also without, and with each change that may help")
    with terminable():
        try:
            before, eager, after = repair.run()
            changes = changes_of(repair.made)
        except EditConflict as error:
            raise SymfixError(f"{error}: changed while the program ran; give the same command again") from error
    wrong = "; its results are not eager's" if wrong_values(before, eager) else ""
    broken = f"; graph breaks {before.breaks}" if before.breaks else ""
    show(_step("reproduce", f"{before.end}{wrong}{broken}; frames compiled {before.compilations}"))
    if repair.verdict is None:
        return _stopped(repair, before, eager)
    for candidate in repair.made:
        show(_step("locate", f"{_place(candidate)}: {candidate.why}"))
        show(_step("plan", candidate.what))
    for tree, files in changes.items():
        show(coloured(line) for line in _diff(tree, files))
    show(_step("prove", repair.verdict.reason))
    show(_step("", repair.verdict.values))
    return sources.write(changes, parameters, repair.ails(after, eager))


def _given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def _say(label: str, text: str) -> None:
    note(f"symfix: {label}: {text}")


def _step(label: str, text: str) -> list[str]:
    from codemod.fix.text import step

    return step(label, text)


def _read_error(name: str) -> tuple[Report, str]:
    from codemod.cli.probe_report import text_of
    from codemod.probe.texts import read_text

    text = text_of(name)
    report = read_text(text)
    if not report.answers:
        raise SymfixError(f"{name}: says nothing about shapes; give a whole traceback, or what TORCH_LOGS printed")
    return report, text


def _program_of(text: str, yes: bool) -> tuple[str, ...]:
    """The program whose traceback `text` is, run by the interpreter that has torch, once the user agrees.

    Raises SymfixError where the text does not say it, or the user does not agree.
    """
    from codemod.prove.target import find_target

    scripts = [match for match in _OUTERMOST.findall(text) if os.path.isfile(match)]
    if not scripts:
        raise SymfixError("the error does not say which program failed; give it after --: -- python train.py")
    command = (find_target(None, imported=False).python, scripts[0])
    if not yes and (not sys.stdin.isatty() or not click.confirm(f"Run {visible(shlex.join(command))}?", err=True)):
        raise SymfixError("the program is not run; give it after --, as in -- python train.py, or --yes")
    return command


def _stopped(repair: Repair, before: Trial, eager: Trial) -> int:
    """Say why nothing is offered; 0 where there is nothing to cure."""
    from codemod.fix.candidates import left_at, places_of
    from codemod.probe.report import place_text

    if not repair.asks(before, eager):
        show(_step("stopped", f"nothing to fix: it ends well, {_as_eager(repair, before, eager)}"))
        return 0
    places = places_of(before)[:3]
    show(_step("locate", "; ".join(map(place_text, places)) or "torch does not say which line asked"))
    for place in () if before.suggested else places:
        for reason in left_at(place, before, repair.program, repair.sources, repair.level):
            where = f"{Path(place.path).name}:{place.line}: " if places[1:] else ""
            show(_step("left", where + reason))
    for reason in dict.fromkeys(repair.missed.values()):
        show(_step("left", reason))
    tried = [chain for chain in repair.refused if chain not in repair.missed]
    for chain in tried[-_MOST_TRIED:]:
        made = " and ".join(f"{candidate.what} ({_place(candidate)})" for candidate in chain)
        show(_step("tried", f"{made}: {repair.refused[chain]}"))
    other = "torch suggests another dynamic_shapes" if before.suggested else "no rule has one here"
    why = f"{len(tried)} tried, none of which made it better" if tried else other
    why = "the program does not run from a copy" if repair.missed and not tried else why
    show(_step("stopped", f"no change is offered: {why}"))
    if before.suggested:
        show(_step("next", f"change dynamic_shapes as torch suggests: {'; '.join(before.suggested)}"))
    show(_step("next", f"{shlex.join(['symfix', 'probe', '--', *repair.program.command])} shows all that torch said"))
    return 1


def _as_eager(repair: Repair, before: Trial, eager: Trial) -> str:
    """What is known of a run that ended well beside that."""
    if eager is before:
        return "and symfix sees nothing that it compiles"
    if repair.failures_only:
        return "and no more than that was asked"
    if eager.status:
        return f"and nothing is compiled twice; its results are not compared: without torch.compile it {eager.end}"
    return "nothing is compiled twice, and its results are eager's"


def _place(candidate: Candidate) -> str:
    from codemod.probe.report import place_text, short_path

    relative = candidate.tree.relative(candidate.frame.path) or short_path(candidate.frame.path)
    return place_text(dataclasses.replace(candidate.frame, path=relative)).removesuffix(":")


def _diff(tree: Tree, changes: Sequence[Change]) -> list[str]:
    from codemod.writing.diff import unified_diff

    prefix = f"{tree.package}/" if tree.package else ""
    return [line for c in changes for line in decode(unified_diff(prefix + c.path, c.old, c.edits)).splitlines()]


class _Sources:
    """The findings of the trees that a program's lines belong to, and the writing of changes to them."""

    def __init__(self, context: click.Context, parameters: Mapping[str, Any]) -> None:
        self._context = context
        self._options = ["--scope", "all"] if parameters["scope"] is None else []
        given = [name for name in _OF_TREES if _given(context, name)]
        for name in given:
            value, option = parameters[name], f"--{name.replace('_', '-')}"
            values = value if isinstance(value, tuple) else (value,)
            self._options += [option] if value is True else [word for each in values for word in (option, str(each))]
        if given:
            self._run()  # what cannot be used is said before anything runs
        self._lacking: dict[tuple[Tree, str, int, str], str] = {}
        self._groups: dict[tuple[Tree, str, frozenset[TracedLine]], list[Group]] = {}

    def groups(self, tree: Tree, path: str, traced: frozenset[TracedLine] = frozenset()) -> list[Group]:
        """The groups of findings of one file of `tree`; none where it cannot be analysed, which is said.

        Also those in functions to which torch came by `traced` lines alone, where such are given.
        """
        key = tree, tree.unit(path), traced
        if key not in self._groups:
            try:
                self._groups[key] = self._analysed(*key)
            except SymfixError as error:
                note(f"symfix: without findings of the source: {error}")
                self._groups[key] = []
        return [group for group in self._groups[key] if any(f.path == path for f in group.findings)]

    def lacking(self, tree: Tree, path: str, line: int, text: str) -> str:
        """What the oldest torch that runs a line of `tree` lacks of what `text` names, as a reason; "" for nothing."""
        from codemod.model.transform import KnowsReleases, load_transforms

        key = (tree, path, line, text)
        if key not in self._lacking:
            prefix = f"{tree.package}/" if tree.package else ""
            with tree.sources() as folder:
                project = self._run(folder / (prefix + path), root=tree.extent).project
                knowing = [each for each in load_transforms() if isinstance(each, KnowsReleases)]
                reasons = [each.lacking(project, prefix + path, line, text) for each in knowing]
            self._lacking[key] = next(filter(None, reasons), "")
        return self._lacking[key]

    def _analysed(self, tree: Tree, unit: str, traced: frozenset[TracedLine]) -> list[Group]:
        from codemod.model.transform import load_transforms
        from codemod.planning.analysis import analyse

        prefix = f"{tree.package}/" if tree.package else ""
        with tree.sources() as folder:
            run = self._run(folder / (prefix + unit), root=tree.extent)
            run.project.traced = frozenset(line._replace(path=prefix + line.path) for line in traced)
            findings = analyse(run.project, load_transforms).findings
            asked = dataclasses.replace(run.selection, ops=(), level=Level.MANUAL, since=None)
        outside = {f.group for f in findings if f.group and any(not e.path.startswith(prefix) for e in f.edits)}
        own = [f for f in findings if f.path.startswith(prefix) and f.group not in outside]
        return make_groups(_without(prefix, finding) for group in asked.groups(own) for finding in group.findings)

    def _run(self, *paths: Path, root: Path | None = None) -> Run:
        from codemod.cli.running import begin
        from codemod.cli.scan import scan

        options = scan.make_context("scan", [*self._options, *map(str, paths)], parent=self._context.parent)
        return begin(options, options.params, root)

    def write(self, changes: Mapping[Tree, Sequence[Change]], parameters: dict[str, Any], left: bool) -> int:
        """Write the changes to trees of the user's own, once that is agreed to; the exit code.

        `left` says that the program still fails, or is wrong.
        """
        from codemod.writing.write import write_changes

        for tree in changes:
            if tree.package:
                show(_step("apply", f"not written: {tree.package} is installed; the change is for its own repository"))
        own = {tree: files for tree, files in changes.items() if not tree.package}
        if not own or parameters["until"] in ("reproduce", "plan", "prove"):
            return 1
        names = ", ".join(change.path for files in own.values() for change in files)
        may_ask = parameters["yes"] or (sys.stdin.isatty() and sys.stdout.isatty())
        if not may_ask:
            show(_step("apply", "not written: fix asks on a terminal; without one, give --yes"))
            return 1
        if not parameters["yes"] and not click.confirm(f"Write this to {visible(names)}?", default=True, err=True):
            show(_step("apply", "not written"))
            return 1
        runs = {tree: self._run(tree.root / files[0].path, root=tree.extent) for tree, files in own.items()}
        for tree, files in own.items():
            _refuse_unsafe(runs[tree], [change.path for change in files], parameters)
        for tree, files in own.items():
            write_changes(runs[tree].project.listing, runs[tree].journal, files)
        show(_step("apply", f"wrote {names}" + ("" if parameters["allow_no_vcs"] else "; see it with git diff")))
        return 1 if left or len(own) < len(changes) else 0


def _refuse_unsafe(run: Run, edited: Sequence[str], parameters: dict[str, Any]) -> None:
    """Raise SymfixError where what is written to the files `edited` could not be undone with git."""
    if not parameters["allow_no_vcs"]:
        refuse_without_git(run.checkout)
    changed = [] if parameters["allow_dirty"] else run.checkout.dirty(untracked=edited)
    if not set(edited).isdisjoint(changed):
        raise not_committed(run.checkout, [path for path in changed if path in edited])


def _without(prefix: str, finding: Any) -> Any:
    """A finding whose paths begin after `prefix`."""
    edits = tuple(dataclasses.replace(edit, path=edit.path[len(prefix) :]) for edit in finding.edits)
    return dataclasses.replace(finding, path=finding.path[len(prefix) :], edits=edits)
