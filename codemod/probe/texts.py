"""Answers from what people have at hand: the text of an error, a report of draft_export, or what TORCH_LOGS printed."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from codemod.probe.answers import ARROW, Answer, Compilation, Report, merged
from codemod.probe.breaks import Break, advice_for, logged_breaks
from codemod.probe.collect import LOCATION, first_sentence, recompilation
from codemod.probe.draft import read_draft
from codemod.probe.fakes import lacking
from codemod.probe.places import PYTHON, TORCH, asking, called_by, folder_of, in_full, owner, schema_owner
from codemod.probe.spelling import guard_kind, in_arguments
from codemod.probe.trace import Frame, printed_frames
from codemod.probe.violations import suggested_fixes, violation
from codemod.runner.asking import argument_in, askers_in
from codemod.runner.assumptions import SAID
from codemod.runner.causes import TELLING

# What logging puts before a line: `[rank0]:V1122 06:59:39.722000 123 torch/file.py:12] [0/1] `.
_PREFIX = re.compile(r"^(?:\[rank\d+\]:\s?)?(?:[VDIWEC]\d{4} \S+ \d+ \S+\] )?(?:\[\S+\] )*")
_GUARD = re.compile(r"\b(?P<prefix>eval|runtime_assert) (?P<expression>.+?) \[guard added\](?P<location>.*)")
_RECOMPILING = re.compile(r"Recompiling function (?P<function>\S+) in (?P<path>\S+):(?P<line>\d{1,9})\b")
_REASON = re.compile(r"^\s*- \d+/\d+: (.+)$")
_REASON_GOES_ON = re.compile(r"^\s*- (?!\d+/\d+: )(.*)$")
_CAUSED = re.compile(rf"^\s*Caused by: (?P<text>.*?)\s*#\s*{LOCATION.pattern}")
_ASSUMED = re.compile(
    r"could not evaluate (.+?) due to data dependency, it was assumed to be (\w+) with no runtime assertions(.*)"
)
_COLOUR = re.compile(r"\x1b\[[\d;]*m")


def read_text(text: str) -> Report:
    """What a text says about shapes: an error with its traceback, recompilations, guards, silent assumptions, and what
    draft_export reports.

    A report without answers where it says nothing of the kind. The version of torch is not in such a text.
    """
    printed = _COLOUR.sub("", text).splitlines()
    lines = [_PREFIX.sub("", line, count=1) for line in printed]
    paths = dict.fromkeys(frame.path for frame in printed_frames(lines))
    torch = folder_of(paths)
    answers = read_draft(lines)
    again: list[Compilation] = []
    for number, line in enumerate(lines):
        if recompiling := _RECOMPILING.search(line):
            again.append(Compilation(recompiling["function"], recompiling["path"], int(recompiling["line"]), 1))
        elif reason := _REASON.match(line):
            said = "\n".join([reason[1], *_goes_on(lines, number + 1)])
            answers.append(recompilation(said, again[-1].label if again else "", torch, paths))
        elif guard := _GUARD.search(line):
            kind = "assert" if guard["prefix"] == "runtime_assert" else guard_kind(guard["expression"])
            answers.append(_answer(kind, in_arguments(guard["expression"], {}), guard["location"], torch, paths))
        elif assumed := _ASSUMED.search(line):
            answers.append(_answer("assumed", f"{assumed[1]} is {assumed[2]}", assumed[3], torch, paths))
    broken = dict(logged_breaks(printed))
    answers += [_broken(each, torch) for each in broken.values() if each is not None]
    taken = {number for numbers in broken for number in numbers}
    lines = [line for number, line in enumerate(lines) if number not in taken]
    telling = next((match[0] for line in lines if (match := TELLING.search(line))), "")
    plain = "\n".join(lines)
    fake = "" if telling else lacking(plain)
    if fake:
        answers.append(replace(_error(lines, fake, torch, paths), kind="fake"))
    elif telling or violation(plain):
        advice = "" if telling else "; ".join(suggested_fixes(plain))
        error = _error(lines, first_sentence(telling or plain), torch, paths)
        answers.append(replace(error, advice=f"torch suggests for dynamic_shapes: {advice}" if advice else ""))
    compilations = tuple(replace(each, count=1 + times) for each, times in Counter(again).items())
    return Report("", compilations, tuple(merged(answers)))


def _broken(found: Break, torch: str) -> Answer:
    place, user, whose = asking((), found.stack, torch)
    sentence = first_sentence(found.text)
    return Answer("break", sentence, whose, place, user, "", advice=advice_for(found.setting), stack=found.stack)


def _goes_on(lines: Sequence[str], start: int) -> Iterator[str]:
    """The further lines of a reason to compile again, of which the first would be `lines[start]`."""
    below = (_REASON_GOES_ON.match(lines[number]) for number in range(start, len(lines)))
    return (match[1] for match in takewhile(bool, below) if match)


def _answer(kind: str, text: str, location: str, torch: str, paths: Collection[str]) -> Answer:
    place = _frame(LOCATION.search(location), torch, paths)
    return Answer(kind, text, owner(place, torch), place, None, "")


def _error(lines: Sequence[str], sentence: str, torch: str, paths: Collection[str]) -> Answer:
    """The error and the line that asked: torch says it ("Caused by"), else it is the innermost line of the program."""
    caused = _frame(next((match for line in lines if (match := _CAUSED.match(line))), None), torch, paths)
    own = _user_frames(lines, torch)
    user = own[-1] if own else None
    place = user if user is not None and caused is not None and _may_be(caused, user) else caused or user
    native, argument = _asked(lines)
    whose = owner(place, torch)
    if native or argument:
        whose = schema_owner(argument) if argument else called_by(whose if place is not None else "")
    user = user if user != place else None
    return Answer("error", sentence, whose, place, user, "", native=native, argument=argument, stack=tuple(own))


def _may_be(caused: Frame, user: Frame) -> bool:
    """Whether "Caused by", which has the name of a file cut short, names the line of `user`."""
    another_file = os.path.isabs(caused.path) and caused.path != user.path
    return not another_file and (caused.line, caused.function) == (user.line, user.function)


def _asked(lines: Sequence[str]) -> tuple[str, str]:
    """(the C++ functions that asked, the argument that is a plain number), "" for what the text does not say."""
    said = next((line.removeprefix(SAID) for line in lines if line.startswith(SAID)), None)
    if said is not None:
        native, _, argument = said.partition("; ")
        return native, argument
    text = "\n".join(lines)
    native = ARROW.join(askers_in(text))
    return native, "" if native else argument_in(text)


def _user_frames(lines: Sequence[str], torch: str) -> list[Frame]:
    """The program's lines, the innermost last, of what torch calls its stack where it prints that, else of the
    traceback.
    """
    starts = [index for index, line in enumerate(lines) if re.match(r"\s*(?:from user code:|User Stack)", line)]
    stack = list(printed_frames(lines[starts[-1] :])) if starts else []
    return [frame for frame in stack or printed_frames(lines) if owner(frame, torch) not in (TORCH, PYTHON)]


def _frame(match: re.Match[str] | None, torch: str, paths: Collection[str]) -> Frame | None:
    if match is None:
        return None
    frame = Frame(match["path"], int(match["line"]), match["function"], match.groupdict().get("text") or "")
    return in_full(frame, torch, paths)
