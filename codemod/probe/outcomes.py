"""From what the runner wrote about an operator, and its traces, to the operator's modes and answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from codemod.probe.answers import Answer, Report, merged
from codemod.probe.collect import asked_by, first_sentence, recompilation
from codemod.probe.places import COMPILED, called_by, is_compiled, owner, passes_calls_on, schema_owner
from codemod.probe.spelling import in_arguments
from codemod.probe.subjects import MODES, Cell, Subject, worst
from codemod.probe.trace import Frame

GENERATED = "the call"
"""Whose a line of a repro is: what the operator was called with."""
_CASE = re.compile(r"\(<(\w+):\S+>:\d+\)$")
_PLACE = re.compile(r" \[(?P<below>C\+\+ below )?(?P<path>[^\[\]\s]+):(?P<line>\d{1,9}) in (?P<function>[^\[\]\s]+)\]$")
_LINE = re.compile(r"(?P<path>.+):(?P<line>\d{1,9})")
_ASSERTION = re.compile(r"Runtime assertion failed for expression (.+?) on node")
_OF_TRACE = frozenset({"guard", "specialized", "assumed", "assert", "fake", "recompiled"})


def report_of(name: str, runs: Sequence[Mapping[str, Any]], collected: Report) -> Report:
    """The report about the operator `name`: from the runner's documents, in their order, and what their traces say."""
    torch = next((str(run.get("torch", "")) for run in runs if run.get("torch")), "")
    package = next((str(run.get("package", "")) for run in runs if run.get("package")), "")
    answers = _of_trace(name, collected.answers)
    asserted = [answer for answer in answers if answer.kind == "assert"]
    modes: dict[str, Cell] = {}
    for mode in MODES:
        entries = [run["modes"][mode] for run in runs if mode in run.get("modes", {})]
        cases = [case for entry in entries for case in entry["cases"]]
        reason = next((entry["reason"] for entry in entries if entry["reason"]), "")
        seconds = round(sum(entry["seconds"] for entry in entries), 3)
        cell = worst([_cell(case) for case in cases]) if cases else Cell("no inputs" if reason else "", reason)
        guards = max((len(case["guards"]) for case in cases), default=0)
        modes[mode] = replace(cell, cases=len(cases), seconds=seconds, guards=guards)
        about = f"{name} {mode}"
        answers += (answer for case in cases for answer in _of_case(case, about, package, asserted))
    return Report(torch, (), tuple(merged(answers)), (Subject(name, modes),))


def _cell(case: Mapping[str, Any]) -> Cell:
    script = "" if case["status"] == "passes" else case["script"]
    return Cell(case["status"], case["message"], len(case["guards"]), script=script)


def _of_trace(name: str, answers: Sequence[Answer]) -> list[Answer]:
    """The answers about compiled repros, each about its mode; errors are left out, for their cases say them.

    So are later compilations where a size became a constant, which says why.
    """
    chosen: dict[str, list[Answer]] = {}
    for answer in answers:
        case = _CASE.search(answer.function)
        if case is not None and case[1] in MODES and answer.kind in _OF_TRACE:
            own = chosen.setdefault(case[1], [])
            own.append(_without_repro(replace(answer, function=f"{name} {case[1]}", advice="")))
    for mode, own in chosen.items():
        if any(answer.kind == "specialized" for answer in own):
            chosen[mode] = [answer for answer in own if answer.kind != "recompiled"]
    return [answer for own in chosen.values() for answer in own]


def _without_repro(answer: Answer) -> Answer:
    """`answer` without the line of the repro, which is another in each case, where torch's is there."""
    place, user = answer.place, answer.user
    if user is not None and user.path.startswith("<"):
        user = None
    if place is not None and place.path.startswith("<"):
        place = replace(place, path="", line=0, function="")
        return replace(answer, place=place, user=user, owner=COMPILED if answer.owner == COMPILED else GENERATED)
    return replace(answer, user=user)


def _of_case(case: Mapping[str, Any], function: str, package: str, asserted: Sequence[Answer]) -> list[Answer]:
    """The answer of how one case came out; none where it passes."""
    status, message = case["status"], str(case["message"])
    if function.endswith(" fake") and status in ("throws", "wrong"):
        frame = _registered(case.get("place", ""))
        return [Answer("fake", f"the fake {message}", owner(frame, package) if frame else "", frame, None, function)]
    if status in ("throws", "crashes", "hangs"):
        sources = case.get("sources") or {}
        text = first_sentence(_PLACE.sub("", message), sources) if status == "throws" else f"{status}: {message}"
        return [_asked(Answer("error", text, *_thrown(message, case.get("place", ""), package), None, function), case)]
    if status == "wrong":
        return [Answer("wrong", message, "", None, None, function)]
    if status == "recompiles" and case.get("reason"):
        answer = recompilation(case["reason"], function, package)
        return [_without_repro(replace(answer, text=message))]
    if status == "refuses":
        return [_refusal(case, function, package, asserted)]
    return []


def _registered(source: str) -> Frame | None:
    """The line `FILE:LINE` as a place."""
    match = _LINE.fullmatch(source)
    return Frame(match["path"], int(match["line"]), "") if match else None


def _thrown(message: str, outside: str, package: str) -> tuple[str, Frame | None]:
    """(whose line an error came from, that line): torch's at the end of the message, else `outside`, a library's."""
    place = _PLACE.search(message) or _PLACE.search(f" [{outside}]")
    if place is None:
        return "", None
    inside = package and place["path"].startswith("torch/")
    path = f"{package}{place['path'].removeprefix('torch')}" if inside else place["path"]
    frame = Frame(path, int(place["line"]), place["function"])
    whose = COMPILED if place["below"] or message.startswith("Cannot call") else owner(frame, package)
    return whose, None if passes_calls_on(path, package) else frame


def _asked(answer: Answer, case: Mapping[str, Any]) -> Answer:
    """`answer` with what of C++ asked, where the case says that."""
    native, argument = asked_by(case.get("asked") or {})
    if not (native or argument):
        return answer
    whose = answer.owner if is_compiled(answer.owner) else called_by(answer.owner)
    return replace(answer, owner=schema_owner(argument) if argument else whose, native=native, argument=argument)


def _refusal(case: Mapping[str, Any], function: str, package: str, asserted: Sequence[Answer]) -> Answer:
    """The answer for a size that is refused, with the line whose condition it does not satisfy, or that raised."""
    message = str(case["message"])
    expression = _ASSERTION.search(message)
    condition = in_arguments(expression[1], case.get("sources") or {}) if expression else ""
    cause = next((answer for answer in asserted if condition and answer.text == condition), None)
    if cause is None:
        whose, place = _thrown(message, case.get("place", ""), package)
        return _asked(Answer("refused", _PLACE.sub("", message), whose, place, None, function), case)
    return Answer("refused", message, cause.owner, cause.place, None, function)
