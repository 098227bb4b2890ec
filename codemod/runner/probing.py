"""Probe one operator: run its samples in each mode with torch's structured trace on, and write how each came out.

A case compiles a file of its own, named `<MODE:SUBJECT:NUMBER>`, by which the trace tells modes apart.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import torch
import torch._dynamo

from . import (
    assumptions,
    backends,
    cases,
    causes,
    check,
    factories,
    fakes,
    opinfo,
    schema,
    sizes,
    specs,
    subjects,
    tracing,
)
from .documents import write_json

CASES = {"forward": 4, "unbacked": 4, "backward": 2, "inplace": 1, "out": 3, "vmap": 1, "spec": 2}
"""How many cases of each mode are run; `sizes` goes on with the graphs of `unbacked`."""
LOOKED_AT = 200
"""So many calls with `out=` are looked at for those that are least alike: each may take another way to the result."""
FORECAST = 12
"""Of these so many are run on fakes, and those come first that make sizes constants."""
BUDGET = 20.0
"""Seconds of processor time to look for the cases of one mode."""
NO_INPUTS = "no inputs could be made that eager accepts"
OWN_NAMESPACES = frozenset({"aten", "prim", "prims", "quantized", "quantized_decomposed"})
"""Those of PyTorch, whose fakes its own tests compare."""
_REASON = re.compile(r"- \d+/\d+: (.+)")
_UNKNOWN = re.compile(r"\bu\d+\b")
End = tuple[str, str, dict[str, Any]]
"""A status, its message, and what more a case has: the guard that did not hold (`reason`), or what raised (`place`,
`asked`)."""
Find = Callable[[str, "Report"], Iterator[cases.Case]]
"""The cases of a mode; says in the report why there are none."""
Compare = Callable[[], tuple[dict[str, str], str]]
"""How the fake is beside the kernel (`fakes.check`), nothing where there is none, and where it is registered."""


class Report:
    """How the cases came out so far, on disk after every one, so that a killed run leaves them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        package = os.path.dirname(torch.__file__)
        self.document: dict[str, Any] = {
            "torch": torch.__version__, "package": package, "traced": False,
            "running": None, "done": False, "modes": {},
        }  # fmt: skip

    def running(self, mode: str, case: Any) -> None:
        """Say what is about to run, for it may not return; `case` is None while one is looked for."""
        running = {"mode": mode, "name": case.name if case else "", "script": case.script if case else ""}
        self.document["running"] = running
        self.mode(mode)
        self.write()

    def mode(self, mode: str) -> dict[str, Any]:
        """The entry of a mode: its cases, why it has none ("" where the operator has no such form), its seconds."""
        entry: dict[str, Any] = self.document["modes"].setdefault(mode, {"cases": [], "reason": "", "seconds": 0.0})
        return entry

    def add(self, mode: str, case: Any, status: str, message: str = "", **more: Any) -> None:
        """How a case came out."""
        sources = {symbol: assumptions.SOURCES[symbol] for symbol in _UNKNOWN.findall(message)
                   if symbol in assumptions.SOURCES}  # fmt: skip
        fields = {"name": case.name, "script": case.script, "status": status, "message": message, "sources": sources}
        self.mode(mode)["cases"].append({"guards": [], "frames": 0, **fields, **more})

    def write(self) -> None:
        """Write it."""
        write_json(self._path, self.document)


def choose(job: dict[str, Any], out: Path) -> None:
    """Write the subjects that the globs of `job` name, and what identifies this torch. Raises what imports raise."""
    names = subjects.chosen(job["choose"])
    code = subjects.state(job.get("imports") or ())
    write_json(out, {"torch": torch.__version__, "subjects": names, "state": code, "cannot": specs.cannot()})


def run(job: dict[str, Any], out: Path) -> None:
    """Probe the subject of `job` in its modes, in turn."""
    report = Report(out)
    report.document["traced"] = tracing.start(job["trace"])
    subject = job["probe"]
    own = "::" in subject and subject.partition("::")[0] not in OWN_NAMESPACES

    def compare() -> tuple[dict[str, str], str]:
        return (fakes.check(subject), fakes.source(subject)) if own else ({}, "")

    probe(job["modes"], report, partial(_cases, subject), compare)


def probe(modes: Sequence[str], report: Report, find: Find, compare: Compare) -> None:
    """Run the cases that `find` has of each mode."""
    for mode in modes:
        if mode == "sizes":
            continue  # with `unbacked`, whose graphs these are
        if mode == "spec" and not specs.available():
            report.mode(mode)
            continue
        started = time.process_time()
        report.running(mode, None)
        if mode == "fake":
            _fake(*compare(), report)
        for case in islice(find(mode, report), CASES.get(mode, 0)):
            report.running(mode, case)
            if mode == "unbacked":
                _unbacked(case, report, "sizes" in modes)
            elif mode == "spec":
                _spec(case, report)
            else:
                _compiled(mode, case, report)
            torch._dynamo.reset()
            report.running(mode, None)
        within = report.mode("sizes")["seconds"] if mode == "unbacked" and "sizes" in modes else 0.0
        report.mode(mode)["seconds"] += round(time.process_time() - started - within, 3)
    report.document.update(running=None, done=True)
    report.write()


def _cases(subject: str, mode: str, report: Report) -> Iterator[cases.Case]:
    """The cases of a mode, the first that eager accepts of each call."""
    piece = piece_of(mode)
    if mode == "out" and not factories.is_factory(subject):
        made = list(islice(cases_of(subject, mode, report, unlike(_calls(subject, piece, LOOKED_AT))), FORECAST))
        yield from made[:1]
        yield from sorted(made[1:], key=cases.constants, reverse=True)
        return
    if factories.is_factory(subject):
        made = list(factories.cases(subject, piece, f"{mode}:{subject}:0"))
        report.mode(mode)["reason"] = NO_INPUTS if piece in factories.PIECES and not made else ""
        yield from made
    else:
        yield from cases_of(subject, mode, report, _calls(subject, piece))


def piece_of(mode: str) -> str:
    """The piece of an operator (`script.PIECES`) that the cases of a mode run."""
    return "forward" if mode in ("unbacked", "spec") else mode


def cases_of(subject: str, mode: str, report: Report, calls: Iterable[cases.Call]) -> Iterator[cases.Case]:
    """The case of each of `calls` that eager accepts; says in the report where it accepts none of them."""
    piece = piece_of(mode)
    until = time.process_time() + BUDGET
    any_case = False
    for number, call in enumerate(calls):
        made = cases.make(subject, piece, f"{mode}:{subject}:{number}", call)[:1]
        any_case = any_case or bool(made)
        report.mode(mode)["reason"] = "" if any_case else NO_INPUTS
        yield from made
        if time.process_time() > until:
            return


def unlike(calls: Iterable[cases.Call]) -> Iterator[cases.Call]:
    """The first `LOOKED_AT` of `calls`, the next always one that has most of what those before it had not."""
    left = [(_features(call), call) for call in islice(calls, LOOKED_AT)]
    met: set[tuple[Any, ...]] = set()
    while left:
        chosen = max(range(len(left)), key=lambda number: len(left[number][0] - met))  # the first of equal ones
        features, call = left.pop(chosen)
        met |= features
        yield call


def _features(call: cases.Call) -> set[tuple[Any, ...]]:
    """The ranks of a call's tensors, the types of its other arguments, its texts, and any two of these.

    What is left out and None are the same.
    """
    features: list[tuple[Any, ...]] = []
    for place, value in (*enumerate(call.positional), *call.named.items()):
        if isinstance(value, torch.Tensor):
            features.append((place, value.dim()))
        elif value is not None:
            features.append((place, value if isinstance(value, str) else type(value).__name__))
    return {*features, *combinations(features, 2)}


def _calls(subject: str, piece: str, count: int = opinfo.SAMPLES) -> Iterator[Any]:
    if "::" in subject:
        yield from schema.calls(subject, piece)
    for entry in opinfo.entries():
        if opinfo.label(entry) == subject:
            yield from opinfo.calls(entry, piece, count)


def _compiled(mode: str, case: Any, report: Report) -> None:
    result = check.attempt(case.script, case.name, False, enough=2)
    if result.eager:
        return
    status = "recompiles" if result.status == "passes" and result.frames > 1 else result.status
    if status == "passes" and result.guards:
        status = "guards"
    report.add(mode, case, status, result.message, guards=result.guards, frames=result.frames, place=result.place,
               asked=result.asked)  # fmt: skip


def _fake(ends: dict[str, str], source: str, report: Report) -> None:
    for end in ends.values():
        status = {fakes.PASSES: "passes", fakes.STOPS: "throws"}.get(end.partition(":")[0], "wrong")
        report.add("fake", cases.Case("", "", ""), status, "" if status == "passes" else end, place=source)


def _unbacked(case: Any, report: Report, with_sizes: bool) -> None:
    """Compile the case with every size unbacked; with `with_sizes` call the graph on its inputs in other sizes too."""
    repro = check.Repro(case.script, case.name)
    if not repro.markable():
        return
    n = repro.sizes[0]
    expected = {n: repro.results(repro.operator, n)}
    result = check.Result(random=check.arbitrary(repro, expected))
    compiled = check.free(repro, expected, result)
    report.add("unbacked", case, result.unbacked, result.unbacked_message, place=result.place, asked=result.asked)
    if with_sizes and result.unbacked == "passes":
        report.running("sizes", case)
        started = time.process_time()
        status, message, more = _other_sizes(repro, compiled, result.random)
        report.add("sizes", case, status, message, **more)
        report.mode("sizes")["seconds"] += round(time.process_time() - started, 3)


def _spec(case: Any, report: Report) -> None:
    """Compile the case with a variable for every size, and call it on its inputs in other sizes."""
    repro = check.Repro(case.script, case.name)
    if not repro.markable():
        return
    n = repro.sizes[0]
    expected = {n: repro.results(repro.operator, n)}
    random = check.arbitrary(repro, expected)
    torch._dynamo.reset()
    try:
        shapes: Any = {"dynamic_shapes": specs.spec(repro.operator, repro.inputs(n))}
        compiled = torch.compile(repro.operator, backend=backends.chosen(), fullgraph=True, **shapes)
        mismatch = check.difference(repro.results(compiled, n), expected[n], random)
    except Exception as error:
        place = causes.where(causes.chain(error), outside=True)
        report.add("spec", case, "throws", causes.describe(error), place=place, asked=causes.asked(error))
        return
    status, message, more = ("wrong", mismatch, {}) if mismatch else _other_sizes(repro, compiled, random, False)
    report.add("spec", case, status, message, **more)


def _other_sizes(repro: check.Repro, compiled: Any, random: bool, mark: bool = True) -> End:
    """The worst that the graph does in other sizes that eager takes; where all are well, with other strides.

    With `mark` the sizes of each call are marked as unbacked; strides are tried only then.
    """
    ends: dict[str, End] = {}
    for label, inputs in sizes.others(repro.inputs(repro.sizes[0])):
        try:
            expected = _seeded(repro.operator, inputs)
        except Exception:  # not valid
            continue
        status, message, reason = _called(compiled, inputs, expected, random, mark)
        if status in ("passes", *ends) or "stride" in reason:
            continue  # how an input's strides follow from its sizes is no question of the operator's
        if not sizes.settled(repro.operator, inputs, random):
            continue
        if status == "wrong" and _same_for_known_sizes(repro, inputs, expected, random):
            continue
        ends[status] = status, f"{label}: {message}", {"reason": reason}
    if not ends and mark:
        ends = _other_strides(repro, random)
    return next((ends[status] for status in ("wrong", "refuses", "recompiles") if status in ends), ("passes", "", {}))


def _other_strides(repro: check.Repro, random: bool) -> dict[str, End]:
    """How a call ends, by its status, whose tensors lie in memory in the opposite order; empty where well.

    Strides are guarded, so a graph is compiled for these, of a name that is no mode's: it is no recompilation of the
    operator's. What fails for known sizes too has another cause.
    """
    inputs = repro.inputs(repro.sizes[0])
    permuted = [fakes.permuted(value) if sizes.is_sized(value) else value for value in inputs]
    if all(new.stride() == old.stride() for new, old in zip(permuted, inputs, strict=True) if sizes.is_sized(old)):
        return {}
    try:
        expected = _seeded(repro.operator, permuted)
    except Exception:  # not valid
        return {}
    operator = check.Repro(repro.text, f"strides:{repro.name}").operator
    try:
        actual = _seeded(torch.compile(operator, backend=backends.chosen(), fullgraph=True), permuted, mark=True)
    except Exception as error:
        status, message = "refuses", causes.describe(error)
        place, asked = causes.where(causes.chain(error), outside=True), causes.asked(error)
    else:
        status, message, place, asked = "wrong", check.difference(actual, expected, random), "", {}
    if not message or _same_for_known_sizes(repro, permuted, expected, random):
        return {}
    return {status: (status, f"strides in the opposite order: {message}", {"place": place, "asked": asked})}


def _called(compiled: Any, inputs: Sequence[Any], expected: Any, random: bool, mark: bool) -> tuple[str, str, str]:
    """(status, message, the guard that did not hold) of a call of a graph that was compiled for other sizes."""
    try:
        with torch._dynamo.config.patch(error_on_recompile=True):
            actual = _seeded(compiled, inputs, mark)
    except torch._dynamo.exc.RecompileError as error:
        reason = _REASON.search(str(error))
        text = reason[1] if reason else causes.first_line(error)
        return "recompiles", text.partition("  # ")[0], text
    except Exception as error:
        return "refuses", causes.first_line(error), ""
    mismatch = check.difference(actual, expected, random)
    return ("wrong", mismatch, "") if mismatch else ("passes", "", "")


def _same_for_known_sizes(repro: check.Repro, inputs: Sequence[Any], expected: Any, random: bool) -> bool:
    """Whether a graph for exactly these sizes is unlike eager too: then no size that was unknown is the cause."""
    operator = check.Repro(repro.text, f"known:{repro.name}").operator
    try:
        actual = _seeded(torch.compile(operator, backend=backends.chosen(), dynamic=False), inputs)
    except Exception:
        return True
    return check.difference(actual, expected, random) != ""


def _seeded(function: Callable[..., Any], inputs: Sequence[Any], mark: bool = False) -> Any:
    tensors = sizes.copied(inputs)
    if mark:
        check.mark(tensors)
    torch.manual_seed(0)
    return function(*tensors)
