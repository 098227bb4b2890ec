"""What may help at the lines that torch named: the rewrites that rules have there, checks, and marks at calls."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from codemod.fix.asked import UNDECIDED, asked_at
from codemod.fix.calls import from_own_trees, is_of
from codemod.fix.candidate import Candidate, contents_of
from codemod.fix.catching import guard_around, parsed
from codemod.fix.checks import Check, check_at
from codemod.fix.conversions import conversions_at
from codemod.fix.declared import declaring_edits, said_of
from codemod.fix.lines import Lines
from codemod.fix.marks import Mark, mark_edits, marks_for
from codemod.fix.settings import setting_edits, setting_for
from codemod.fix.shortcuts import shortcuts_at
from codemod.fix.torch_names import imports_torch, parsed_with_torch
from codemod.fix.trees import Copy, Tree
from codemod.fix.trial import Call, Trial
from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level
from codemod.model.groups import Group
from codemod.model.transform import TracedLine
from codemod.probe.answers import Answer
from codemod.probe.declaring import advice_of
from codemod.probe.fakes import MISSING, operator_of
from codemod.probe.refused import is_refused
from codemod.probe.script import Program
from codemod.probe.trace import Frame
from codemod.probe.violations import SIZES, is_violation


class Sources(Protocol):
    """What is known of the files of trees, by their paths below the roots."""

    def groups(self, tree: Tree, path: str, traced: frozenset[TracedLine] = frozenset()) -> Sequence[Group]:
        """The groups of findings of one file, also in functions to which torch came by `traced` lines alone."""

    def lacking(self, tree: Tree, path: str, line: int, text: str) -> str:
        """What the oldest torch that runs a line lacks of what `text` names, as a reason; "" for nothing."""


_FAILED = ("error", "fake", "break", "specialized", "guard", "recompiled")
_WRONG = ("guard", "specialized", "assumed")
_OFTEN = ("break", "recompiled", "specialized", "guard")
_FIXED = ("error", "specialized", "guard")
"""Where a conversion may have made a size a number."""
_AGAIN = "recompiled"
_MOST_FILES = 4
"""Files that are read for the registration of an operator, of those that name it."""
_OF_NO_FILE = "this is code of no file, as that of a notebook's cells: put it in a module, which can be changed"
_SHORTCUT = "the path of other sizes wherever it is compiled, in place of a shortcut for equal ones"
_CHECK = "torch._check where it is compiled, in place of what only raises or asserts"


def candidates_for(
    trial: Trial, wrong: bool, copy: Copy, made: Sequence[Candidate], sources: Sources, level: Level
) -> Iterator[Candidate]:
    """What may help against what a trial showed, likeliest first; `made` are the changes that it ran with."""
    kinds = _FAILED if trial.status or trial.errors else _WRONG if wrong else _OFTEN
    answers = [answer for answer in trial.report.answers if answer.kind in kinds]
    answers.sort(key=lambda answer: (not is_refused(answer), kinds.index(answer.kind)))
    lines = Lines(copy, contents_of(made), trial.report.answers)
    for answer in answers:
        yield from _rewrites(answer, lines, sources, level)
    if level < Level.REVIEW:
        return
    for answer in answers:
        yield from _checks(answer, lines, sources)
        others = (*_conversions(answer, lines), *_asked(answer, lines), *_shortcuts(answer, lines))
        yield from _fit(others, lines, sources)
    yield from _fit(_settings(answers, trial, lines), lines, sources)
    for answer in answers:
        yield from _fit(_marked(answer, trial, lines), lines, sources)
    for answer in answers:
        yield from _declaring(answer, trial.calls, lines)


def next_failure(candidate: Candidate, trial: Trial, lines: Lines) -> tuple[Answer, Frame | None] | None:
    """What fails, is refused or breaks a graph in the place of what a change is against, once that is gone, or None.

    Where the change is against a reason to compile again, also another such. With it, its line without any change.
    `lines` are those of the run.
    """
    kinds = (*UNDECIDED, _AGAIN) if candidate.why.startswith(_AGAIN) else UNDECIDED
    failures = [answer for answer in trial.report.answers if answer.kind in kinds or is_refused(answer)]
    frames = ((answer, frame) for answer in failures for frame in answer.places)
    places = {(_why(answer), lines.without_changes(frame)) for answer, frame in frames}
    nowhere = {_why(answer) for answer in failures if not answer.places}
    if not failures or (candidate.why, candidate.frame) in places or candidate.why in nowhere:
        return None
    place = failures[0].place
    return failures[0], lines.without_changes(place) if place is not None else None


def places_of(trial: Trial) -> list[Frame]:
    """The lines that the answers of a trial name, once each, those of errors and of guards that failed first.

    Where a dimension may not be as dynamic as the program declares it, those of the answers about that one.
    """
    answers = [answer for answer in trial.report.answers if answer.asks]
    sizes = {size for answer in answers if is_violation(answer.text) for size in SIZES.findall(answer.text)}
    if sizes:
        answers = [a for a in answers if a.kind == "error" or not sizes.isdisjoint(SIZES.findall(a.text))]
    answers.sort(key=lambda answer: answer.kind not in ("error", "fake", "break") and not is_refused(answer))
    return list(dict.fromkeys(frame for answer in answers for frame in answer.places))


def left_at(frame: Frame, trial: Trial, program: Program, sources: Sources, level: Level) -> list[str]:
    """Why what is found at a line of `program`, whose run as it is was `trial`, offers no change up to `level`."""
    if frame.path.startswith("<") or (os.path.isabs(frame.path) and not os.path.isfile(frame.path)):
        return [_OF_NO_FILE]
    reasons = []
    lines = Lines(Copy(program), {}, trial.report.answers)
    here = [answer for answer in trial.report.answers if frame in answer.places]
    for answer in here if level >= Level.REVIEW else ():
        for place, tree, check in _checks_at(answer, lines):
            if place == frame and (reason := _unfit(answer, tree, check, lines, sources)):
                reasons.append(f"torch._check: {reason}")
        lacking = (_lacking(candidate, lines, sources) for candidate in _marked(answer, trial, lines))
        reasons += [f"a mark: {reason}" for reason in lacking if reason]
        others = (*_conversions(answer, lines), *_asked(answer, lines), *_settings([answer], trial, lines))
        reasons += [f"{each.what}: {reason}" for each in others if (reason := _lacking(each, lines, sources))]
        declared = _declared(trial) & {mark.size for mark in marks_for(answer)}
        reasons += [f"a mark: the program itself declares {size} dynamic" for size in sorted(declared)]
        if answer.declared and not any(_declaring(answer, trial.calls, lines)):
            reasons.append(f"{advice_of(answer.declared)}; which calls mark them is not to be seen")
    for _, group, finding in _groups_at(frame, lines, sources):
        reasons += _why_left(group, finding, finding.rule, level)
    for answer in here:
        for _, group, finding in _registered(answer, lines, sources):
            reasons += _why_left(group, finding, f"{finding.rule} at {finding.path}:{finding.line}", level)
    return list(dict.fromkeys(reasons))


def _why_left(group: Group, finding: Finding, what: str, level: Level) -> list[str]:
    if not group.edits:
        return [f"{what}: {finding.reason or finding.message}"]
    return [f"{what}: its change is for --level {group.level.name.lower()}"] if group.level > level else []


def _registered(answer: Answer, lines: Lines, sources: Sources) -> Iterator[tuple[Tree, Group, Finding]]:
    """The groups about the registration of the operator whose fake is missing, in trees of the run."""
    operator = operator_of(answer.text) if answer.kind == "fake" else ""
    found: dict[Tree, None] = {}
    for frame in answer.frames if operator else ():
        tree = lines.tree(frame.path)
        if tree is None or tree in found:
            continue
        found[tree] = None
        words = [word.encode() for word in operator.split("::")]
        files = [path for path, source in tree.python().items() if all(word in source for word in words)]
        for path in files[:_MOST_FILES]:
            for group in sources.groups(tree, path):
                missing = [f for f in group.findings if f.rule == MISSING and operator in f.operators]
                if missing:
                    yield tree, group, missing[0]


def _rewrites(answer: Answer, lines: Lines, sources: Sources, level: Level) -> Iterator[Candidate]:
    for frame in answer.places:
        for tree, group, finding in _groups_at(frame, lines, sources):
            if group.edits and group.level <= level:
                rules = ", ".join(dict.fromkeys(finding.rule for finding in group.findings if finding.edits))
                what = f"{rules} ({group.level.name.lower()}): {finding.message}"
                yield Candidate(what, tree, group.edits, lines.without_changes(frame), _why(answer))
    for tree, group, finding in _registered(answer, lines, sources):
        if group.edits and group.level <= level:
            what = f"{finding.rule} ({group.level.name.lower()}): {finding.message}"
            frame = Frame(str(tree.root / finding.path), finding.line, "")
            yield Candidate(what, tree, group.edits, frame, _why(answer))


def _groups_at(frame: Frame, lines: Lines, sources: Sources) -> Iterator[tuple[Tree, Group, Finding]]:
    """The groups that have findings at a line of the run, each with the first of these."""
    tree = lines.tree(frame.path)
    if tree is None:
        return
    path, line = lines.original(tree, frame.path, frame.line)

    def at_line(groups: Iterable[Group]) -> Iterator[tuple[Tree, Group, Finding]]:
        for group in groups:
            here = [f for f in group.findings if f.path == path and f.line <= line <= _last_line(lines, tree, f)]
            if here:
                yield tree, group, here[0]

    shown = list(at_line(sources.groups(tree, path)))
    yield from shown or at_line(sources.groups(tree, path, lines.traced(tree)))


def _checks(answer: Answer, lines: Lines, sources: Sources) -> Iterator[Candidate]:
    """The check in place of a branch that only raises, and that torch could not decide."""
    for frame, tree, check in _checks_at(answer, lines):
        if not _unfit(answer, tree, check, lines, sources):
            yield Candidate(_CHECK, tree, check.edits, lines.without_changes(frame), _why(answer))


def _asked(answer: Answer, lines: Lines) -> Iterator[Candidate]:
    """What a condition that torch asks is written as, so that it asks for less."""
    for frame, tree, path, line in _originals(answer, lines, _FAILED):
        for what, edits in asked_at(answer, path, lines.source(tree, path), line):
            yield Candidate(what, tree, edits, lines.without_changes(frame), _why(answer))


def _conversions(answer: Answer, lines: Lines) -> Iterator[Candidate]:
    """The conversions that keep the symbol, on a line that may have made a size a number."""
    for frame, tree, path, line in _originals(answer, lines, _FIXED):
        edits = conversions_at(path, lines.source(tree, path), line)
        pairs = dict.fromkeys((edit.new.decode(), edit.old.decode()) for edit in edits if not imports_torch(edit))
        changed = ", ".join(f"{new} in place of {old}" if old else f"{new} behind it" for new, old in pairs)
        if edits:
            what = f"{changed}: a size stays symbolic where it is converted"
            yield Candidate(what, tree, edits, lines.without_changes(frame), _why(answer))


def _shortcuts(answer: Answer, lines: Lines) -> Iterator[Candidate]:
    """The path of other sizes in place of a shortcut, on a line that told them apart in the run."""
    kinds = (answer.kind,) if is_refused(answer) else (_AGAIN,)
    for frame, tree, path, line in _originals(answer, lines, kinds):
        for shortcut in shortcuts_at(path, lines.source(tree, path), line):
            original = lines.without_changes(frame)
            yield Candidate(_SHORTCUT, tree, shortcut.edits, original, _why(answer), shortcut.taken)


def _originals(answer: Answer, lines: Lines, kinds: Sequence[str]) -> Iterator[tuple[Frame, Tree, str, int]]:
    """The lines of the run that an answer of these `kinds` names, each with its original."""
    for frame in answer.places if answer.kind in kinds else ():
        tree = lines.tree(frame.path)
        if tree is not None:
            yield frame, tree, *lines.original(tree, frame.path, frame.line)


def _checks_at(answer: Answer, lines: Lines) -> Iterator[tuple[Frame, Tree, Check]]:
    for frame, tree, path, line in _originals(answer, lines, UNDECIDED):
        check = check_at(path, lines.source(tree, path), line)
        if check is not None:
            yield frame, tree, check


def _unfit(answer: Answer, tree: Tree, check: Check, lines: Lines, sources: Sources) -> str:
    """Why a check may not take the place of a branch; "" where it may."""
    caught = _catching(answer, tree, check, lines)
    return f"{caught} may catch what the branch raises" if caught else _too_new(tree, check.edits, lines, sources)


def _fit(candidates: Iterable[Candidate], lines: Lines, sources: Sources) -> Iterator[Candidate]:
    """Those of `candidates` that the oldest torch which they have to run with knows."""
    return (candidate for candidate in candidates if not _lacking(candidate, lines, sources))


def _lacking(candidate: Candidate, lines: Lines, sources: Sources) -> str:
    """Why the torch that the edits of a candidate have to run with does not; "" where it does."""
    return _too_new(candidate.tree, candidate.edits, lines, sources)


def _too_new(tree: Tree, edits: Iterable[Edit], lines: Lines, sources: Sources) -> str:
    for edit in edits:
        text = edit.new.decode("utf-8", "replace")
        line = _line_of(tree, edit, lines)
        found = parsed_with_torch(edit.path, lines.source(tree, edit.path), line)
        text = found[1].usual(text) if found is not None else text
        if lacking := sources.lacking(tree, edit.path, line, text):
            return lacking
    return ""


def _line_of(tree: Tree, edit: Edit, lines: Lines) -> int:
    return 1 + lines.source(tree, edit.path).count(b"\n", 0, edit.start)


def _catching(answer: Answer, tree: Tree, check: Check, lines: Lines) -> str:
    """PATH:LINE of what may catch what a branch raises; "" where nothing that is at hand does."""
    if check.caught:
        return f"{check.edits[0].path}:{check.caught}"
    trees = {tree: None}
    for frame in answer.stack:
        other = lines.tree(frame.path)
        if other is None:
            continue
        trees[other] = None
        path, line = lines.original(other, frame.path, frame.line)
        module = parsed(lines.source(other, path))
        guard = guard_around(module, line, check.raised) if module is not None else 0
        if guard:
            return f"{path}:{guard}"
    return next(filter(None, (lines.callers(each).catching(check.names, check.raised) for each in trees)), "")


def _last_line(lines: Lines, tree: Tree, finding: Finding) -> int:
    return finding.line + lines.source(tree, finding.path)[finding.start : finding.end].count(b"\n")


def _settings(answers: Sequence[Answer], trial: Trial, lines: Lines) -> Iterator[Candidate]:
    """The settings that keep in the graph what breaks it, in the user's own file that calls what is compiled."""
    broken = {setting: answer for answer in answers if (setting := setting_for(answer))}
    for setting, answer in broken.items():
        for call in trial.calls:
            tree = lines.tree(call.path)
            if tree is None or tree.package:
                continue
            path, _ = lines.original(tree, call.path, call.line)
            if edits := setting_edits(path, lines.source(tree, path), setting):
                frame = lines.without_changes(answer.place or Frame(call.path, call.line, ""))
                yield Candidate(setting, tree, edits, frame, _why(answer))
                break


def _marked(answer: Answer, trial: Trial, lines: Lines) -> Iterator[Candidate]:
    """The marks that may help against an answer, of sizes that the program does not declare dynamic itself."""
    declared = _declared(trial)
    for mark in marks_for(answer):
        candidate = _marked_by(answer, mark, trial.calls, lines) if mark.size not in declared else None
        if candidate is not None:
            yield candidate


def _declared(trial: Trial) -> set[str]:
    """The sizes that a program declares dynamic, and that its code does not let vary."""
    violated = (answer.text for answer in trial.report.answers if is_violation(answer.text))
    return {size for text in violated for size in SIZES.findall(text)}


def _marked_by(answer: Answer, mark: Mark, calls: Sequence[Call], lines: Lines) -> Candidate | None:
    """The mark at every call, from a tree of the user's own, of the function that an answer is about."""
    found: list[tuple[Tree, Edit]] = []
    of_it = [call for call in calls if is_of(call, answer)]
    of_it = of_it or (list(calls) if mark.is_element else [])  # a decorator's wrapper is compiled
    for tree, path, call, parameters in from_own_trees(of_it, lines):
        edits = mark_edits(path, lines.source(tree, path), call, parameters, mark)
        found += [(tree, edit) for edit in edits]
    what = f"{mark.function}({mark.argument}, {mark.dimension}) where the compiled function is called"
    return _at_calls(answer, what, found, lines)


def _declaring(answer: Answer, calls: Sequence[Call], lines: Lines) -> Iterator[Candidate]:
    """What the program may declare of sizes that it marks as unknown itself, so that torch need not ask."""
    of_it = [call for call in calls if is_of(call, answer)] or calls  # a decorator may be compiled, not what it holds
    for declared in answer.declared:
        found: list[tuple[Tree, Edit]] = []
        for tree, path, call, parameters in from_own_trees(of_it, lines):
            edits = declaring_edits(path, lines.source(tree, path), call, parameters, declared)
            found += [(tree, edit) for edit in edits]
        candidate = _at_calls(answer, f"{said_of(declared)}, so that other inputs are refused", found, lines)
        if candidate is not None:
            yield candidate


def _at_calls(answer: Answer, what: str, found: Sequence[tuple[Tree, Edit]], lines: Lines) -> Candidate | None:
    """The candidate of the edits `found` at the calls of a compiled function, in the first of their trees."""
    if not found:
        return None
    tree, first = found[0]
    place = _own_place(answer, lines)
    here = Frame(str(tree.root / first.path), _line_of(tree, first, lines), "")
    frame = lines.without_changes(place) if place is not None else here
    return Candidate(what, tree, tuple(sorted({edit for other, edit in found if other == tree})), frame, _why(answer))


def _why(answer: Answer) -> str:
    return f"{answer.kind}: {answer.text}"


def _own_place(answer: Answer, lines: Lines) -> Frame | None:
    """The line of a tree of the user's own that asked, or led there; None where there is none."""
    for frame in answer.places:
        tree = lines.tree(frame.path)
        if tree is not None and not tree.package:
            return frame
    return None
