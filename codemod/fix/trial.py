"""One run of a program: how it ended, what it printed, what its compiled functions returned, and what torch said."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from codemod.borders.documents import load_json
from codemod.borders.files import read_file
from codemod.errors import SymfixError
from codemod.probe.answers import Report
from codemod.probe.collect import first_sentence
from codemod.probe.fakes import lacking
from codemod.probe.refused import with_refused
from codemod.probe.script import ERRORS, PRINTED, Processes, Program, says, tells, traced
from codemod.probe.texts import read_text
from codemod.probe.violations import suggested_fixes, violation
from codemod.runner.causes import TELLING

_LARGEST = 64 << 20
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
# What no two runs print alike: dates and times, how long something took, addresses, folders of files.
_VARYING = re.compile(
    r"\d{4}-\d\d-\d\d|\d?\d:\d\d(?::\d\d)?(?:[.,]\d+)?|\b\d+(?:\.\d+)? ?(?:[mµun]?s|secs?|seconds?|minutes?|it/s)\b"
    r"|\b0x[0-9a-f]+|(?:/[^\s/:'\"]+)+/"
)
_ERROR = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception|Exit|Interrupt|Violation|Unsupported)\b.*")
_RELATIVE, _ABSOLUTE = 1e-4, 1e-5
_COARSE = {"torch.float16": 1e-2, "torch.bfloat16": 2e-2}
"""How far compiled code may be from eager's numbers, by dtype."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a compiled function from outside. Columns count bytes from 0; -1 is one that Python does not say."""

    function: tuple[str, int, str]
    """The file, first line and name of what is compiled."""
    path: str
    line: int
    column: int
    end: tuple[int, int]
    """The line and the column behind its last byte."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One run. `error` is the last line of what it wrote to stderr where it failed."""

    status: int
    error: str
    printed: str
    returned: tuple[Any, ...]
    calls: tuple[Call, ...]
    report: Report
    processes: Processes = field(default_factory=Processes)
    suggested: tuple[str, ...] = ()
    """Where it failed, what torch suggests to change in `dynamic_shapes`."""
    captured: frozenset[str] = frozenset()
    """The functions that are seen to be in a graph, their own or a caller's."""

    @property
    def files(self) -> frozenset[str]:
        """Files whose code ran, as far as anything tells."""
        answers = self.report.answers
        frames = [f for answer in answers for f in answer.frames]
        paths = {*(frame.path for frame in frames), *(compiled.path for compiled in self.report.compilations)}
        paths |= {path for call in self.calls for path in (call.path, call.function[0])}
        return self.processes.loaded | {os.path.realpath(path) for path in paths if os.path.isabs(path)}

    @property
    def compilations(self) -> int:
        """How many times torch compiled something, all functions together."""
        return sum(compilation.count for compilation in self.report.compilations)

    @property
    def errors(self) -> int:
        """How many times torch could not compile something."""
        failed = [answer for answer in self.report.answers if answer.kind == "error"]
        traced = [answer for answer in failed if answer.function]  # the error that ended the program is told once more
        again = (not answer.function and any(tells(each, answer) for each in traced) for answer in failed)
        return sum(answer.count for answer, counted in zip(failed, again, strict=True) if not counted)

    @property
    def breaks(self) -> int:
        """How often a graph broke for the sake of shapes."""
        return sum(answer.count for answer in self.report.answers if answer.kind == "break")

    @property
    def end(self) -> str:
        """How it ended, in words."""
        if not self.status:
            return "ends well"
        return f"fails: {self.error}" if self.error else f"ends with {self.status}"


def run_trial(program: Program, eager: bool = False, seconds: float | None = None) -> Trial:
    """Run `program` to its end; with `eager` nothing in it is compiled.

    Raises SymfixError where its processes are not seen, so that nothing can be said of it.
    """
    with traced(program, records=True, eager=eager, seconds=seconds) as ended:
        if ended.unattended:
            raise SymfixError(ended.unattended)
        printed = _text(ended.folder / PRINTED)
        written = _text(ended.folder / ERRORS) + (printed if ended.status else "")  # pytest prints what failed
        records = [record for path in ended.records for record in _records(path)]
        calls = (call for record in records if (call := _call(record)) is not None)
        collector = ended.collector()
        report = collector.report()
        error = _last_error(written) if ended.status else ""
        error = next((a.text for a in report.answers if a.kind == "error" and says(a.text, error)), error)
        if ended.status:  # what fails outside of Dynamo is in no trace
            made = with_refused(report.answers, [written])
            report = replace(report, answers=(*made, *read_text(written).answers))
        return Trial(
            ended.status,
            error,
            printed,
            tuple(_result(record) for record in records),
            tuple(dict.fromkeys(calls)),
            report,
            ended.processes,
            suggested_fixes(written) if ended.status else (),
            frozenset(collector.captured),
        )


def same_values(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether compiled functions returned the same, to the precision of their dtypes."""
    return len(first) == len(second) and all(map(_close, first, second))


def same_text(first: str, second: str) -> bool:
    """Whether the same was printed, numbers to the precision of float32; times, addresses and folders apart."""
    first, second = (_VARYING.sub("", text) for text in (first, second))
    if _NUMBER.sub("0", first) != _NUMBER.sub("0", second):
        return False
    pairs = zip(_NUMBER.findall(first), _NUMBER.findall(second), strict=True)
    return all(a == b or _near(float(a), float(b), _RELATIVE) for a, b in pairs)


def _close(first: Any, second: Any, relative: float = _RELATIVE) -> bool:
    if isinstance(first, dict) and isinstance(second, dict):
        relative = _COARSE.get(str(first.get("dtype")), relative)
        return first.keys() == second.keys() and all(_close(first[key], second[key], relative) for key in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(_close(a, b, relative) for a, b in zip(first, second, strict=True))
    if isinstance(first, (int, float)) and isinstance(second, (int, float)):
        return _near(float(first), float(second), relative)
    return bool(first == second)


def _near(first: float, second: float, relative: float) -> bool:
    return math.isclose(first, second, rel_tol=relative, abs_tol=_ABSOLUTE)


def _text(path: Path) -> str:
    try:
        return read_file(path, _LARGEST).decode("utf-8", "replace")
    except OSError as error:
        raise SymfixError(f"the program's output cannot be read: {error.strerror}") from error


def _last_error(written: str) -> str:
    """The cause that torch names, else the last line that reads as an exception, else the last line."""
    if TELLING.search(written):
        return first_sentence(written)
    if fake := lacking(written):
        return fake
    if violation(written):
        return first_sentence(written)
    lines = [line.strip() for line in written.splitlines() if line.strip()]
    named = [line for line in lines if _ERROR.match(line)]
    return (named or lines or [""])[-1][:300]


def _records(path: Path) -> Iterable[dict[str, Any]]:
    for line in _text(path).splitlines():
        try:
            document = load_json(line, "record", "")
        except SymfixError:  # cut off
            continue
        if isinstance(document, dict):
            yield document


def _result(record: dict[str, Any]) -> Any:
    return {key: record[key] for key in ("returned", "raised") if key in record}


def _call(record: dict[str, Any]) -> Call | None:
    match record:
        case {
            "function": [str(file), int(first), str(name)],
            "caller": [str(path), int(line), int(column), int(last), int(end)],
        }:
            return Call((file, first, name), path, line, column, (last, end))
    return None
