"""Read a job, prove its operators in turn, write the report after each case."""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from .documents import write_json

NO_INPUTS = "no inputs could be made that eager accepts"
UNDEFINED = "nothing that could be loaded defines it; the library's build may, installed beside torch"
GPU_ONLY = "its kernel needs a GPU"
ENDS = "the process ends"
DEFAULT_PIECES = ("forward", "backward", "inplace", "out")
OPINFO_NAMESPACES = ("aten", "quantized")
"""What PyTorch's own samples may call."""
BUDGET = 20.0
"""Seconds of processor time to look for cases of one operator."""
THROWING = 3
"""How many cases that are forecast to throw for symbolic sizes are run."""
ALIKE = 12
"""Once a case throws, the search ends after so many that show nothing new."""
OTHER = 1
"""How many that are forecast to throw for another reason are run."""
SAMPLES = 4
"""How many samples of an OpInfo entry that a job names are run."""
PASSING = 2
"""How many forward cases that are not forecast to throw are run; of the other pieces half as many."""


class Report:
    """The results so far, on disk after every change, so that a killed run leaves them."""

    def __init__(self, path: Path, torch_version: str) -> None:
        self._path = path
        versions = {"torch": torch_version, "python": platform.python_version()}
        self._document: dict[str, Any] = {**versions, "running": None, "done": False, "operators": {}}

    def running(self, operator: str, case: Any) -> None:
        """Say which case runs, before it does: it may not return."""
        self._document["running"] = {"operator": operator, **asdict(case)}
        self._write()

    def add(self, operator: str, case: Any, result: Any) -> None:
        """The result of a case."""
        entry = self._entry(operator)
        entry["cases"].append({**asdict(case), **asdict(result)})
        entry["reason"] = ""
        self._document["running"] = None
        self._write()

    def nothing(self, operator: str, reason: str) -> None:
        """Why an operator has no cases, while it has none."""
        self._entry(operator)["reason"] = reason
        self._write()

    def opcheck(self, operator: str, ends: dict[str, str]) -> None:
        """How the tests of `torch.library.opcheck` ended for an operator."""
        self._entry(operator)["opcheck"] = ends
        self._write()

    def close(self) -> None:
        """Mark the report as complete."""
        self._document.update(running=None, done=True)
        self._write()

    def _entry(self, operator: str) -> dict[str, Any]:
        entry: dict[str, Any] = self._document["operators"].setdefault(operator, {"reason": "", "cases": []})
        return entry

    def _write(self) -> None:
        write_json(self._path, self._document)


def sampled(operator: str, piece: str, index: Any) -> list[tuple[str, str, Iterator[Any]]]:
    """What PyTorch's samples call that exercises `piece` of `operator`: (piece, name, calls) of each OpInfo entry.

    The operator's own entries, those that call it, and where it takes no others those that call it in their backward.
    """
    from . import opinfo

    namespace, _, base = operator.rpartition("::")
    if namespace not in OPINFO_NAMESPACES:
        return []
    entries = {opinfo.label(entry): entry for entry in (*opinfo.named(base), *index.callers(operator, piece))}
    sampled_calls = [(piece, label, opinfo.calls(entry, piece)) for label, entry in entries.items()]
    if piece == "vmap" or (piece == "forward" and not sampled_calls):
        for entry in index.callers(operator, "backward"):
            if (label := opinfo.label(entry)) not in entries:
                calls = opinfo.gradients(entry) if piece == "vmap" else opinfo.calls(entry, "backward")
                sampled_calls.append(("vmap" if piece == "vmap" else "backward", label, calls))
    return sampled_calls


def candidates(operator: str, piece: str, entries: Iterable[Any]) -> Iterator[tuple[str, str, Any]]:
    """Calls of `operator`, each with its piece and a name, that exercise `piece`.

    Of PyTorch's samples (`sampled`), where there are none of PyTorch's modules, and from its schema.
    """
    from . import modules, schema

    namespace, _, base = operator.rpartition("::")
    has_samples = False
    for way, label, calls in entries:
        has_samples = True
        for number, call in enumerate(calls):
            yield way, f"{label} {number}", call
    if namespace in OPINFO_NAMESPACES and not has_samples:
        for number, call in enumerate(modules.calls(base, piece)):
            yield piece, f"{base} of a module {number}", call
    for number, call in enumerate(schema.calls(operator, piece)):
        yield piece, f"{operator} {number}", call


def search(job: dict[str, Any], operator: str, piece: str, index: Any, ended: list[str]) -> list[Any]:
    """The cases to run of one piece of `operator`, those first that are forecast to throw.

    For each call that ends its process, the cause is added to `ended`.
    """
    from . import cases, causes
    from .forks import survive

    entries = sampled(operator, piece, index)
    most = int(job.get("passing") or PASSING)
    enough = most if piece == "forward" else max(1, most // 2)
    throwing: list[Any] = []
    passing: list[Any] = []
    messages: dict[bool, set[str]] = {True: set(), False: set()}
    alike = 0
    for case, message in whole(survive(partial(forecasts, job, operator, piece, entries), ended)):
        symbolic = causes.telling(message)
        alike += 1
        if message and message not in messages[symbolic] and (symbolic or len(messages[symbolic]) < OTHER):
            messages[symbolic].add(message)
            throwing.append(cases.Case(**case))
            alike = 0
        elif not message and len(passing) < enough:
            passing.append(cases.Case(**case))
            alike = 0
        if len(messages[True]) >= THROWING or (messages[True] and alike >= ALIKE):
            break
    return throwing + passing


def whole(forecast: Iterable[Any]) -> Iterator[tuple[Any, str]]:
    """Each case of `forecasts` once, with what stops it; one whose forecast never came ended its process."""
    unknown = None
    for case, message in forecast:
        if unknown is not None and message is None:
            yield unknown, ENDS
        unknown = case if message is None else None
        if message is not None:
            yield case, message
    if unknown is not None:
        yield unknown, ENDS


def forecasts(job: dict[str, Any], operator: str, piece: str, entries: Any, first: int) -> Iterator[tuple[int, Any]]:
    """From the call of number `first` on: each case of `piece` with None, then with what is forecast to stop it."""
    from . import cases

    until = time.process_time() + float(job.get("budget") or BUDGET) / len(job.get("pieces") or DEFAULT_PIECES)
    for number, (way, name, call) in enumerate(candidates(operator, piece, entries)):
        if time.process_time() > until:
            return
        if number < first:
            continue
        yield number, None
        call.preface = call.preface or "\n".join(f"import {module}" for module in job.get("imports") or ())
        for case in cases.make(operator, way, f"{way}: {name}", call):
            yield number, [asdict(case), None]
            yield number, [asdict(case), cases.probe(case)]


def chosen(job: dict[str, Any], operator: str, index: Any, ended: list[str]) -> Iterator[Any]:
    """The cases of `operator` to run: those the job lists, the user's own, else what a search finds, piece by piece."""
    from . import cases

    listed = (job.get("cases") or {}).get(operator)
    skipped = set(job.get("skip") or ())
    if listed is not None:
        if any(case["name"] in skipped for case in listed):
            return  # one of them ended an earlier process: that is the operator's verdict
        yield from (cases.Case(case["name"], case["piece"], case["script"]) for case in listed)
    elif operator in (job.get("entries") or {}):
        yield from samples(job["entries"][operator])
    elif operator in (job.get("repro") or {}):
        path = Path(job["repro"][operator])
        yield cases.Case(f"own: {path.name}", "forward", path.read_text(encoding="utf-8"))
    else:
        for piece in job.get("pieces") or DEFAULT_PIECES:
            yield from (case for case in search(job, operator, piece, index, ended) if case.name not in skipped)


def samples(label: str) -> Iterator[Any]:
    """The cases of the first samples of an OpInfo entry, named as `opinfo.label` does, whatever their forecast."""
    from . import cases, opinfo

    for entry in opinfo.entries():
        if opinfo.label(entry) == label:
            for number, call in enumerate(islice(opinfo.calls(entry, "forward"), SAMPLES)):
                yield from cases.make(label, "forward", f"forward: {label} {number}", call)


def run(job: dict[str, Any], out: Path) -> None:
    """Prove every operator of `job`. Raises what loading the libraries raises."""
    sys.path[:0] = job.get("python_path") or []
    import torch

    from . import check, fakes, imports, opcheck, opinfo, schema
    from .setup import prepare

    obstacle = prepare(job)
    report = Report(out, torch.__version__)
    if obstacle:
        for operator in job["operators"]:
            report.nothing(operator, obstacle)
        report.close()
        return
    index = opinfo.Index(job.get("cache"))
    for operator in job["operators"]:
        report.nothing(operator, NO_INPUTS)
        ended: list[str] = []
        tried = []
        for case in chosen(job, operator, index, ended):
            tried.append(case)
            report.running(operator, case)
            report.add(operator, case, check.attempt(case.script, case.name, case.piece == "forward"))
        if ended and not tried:
            report.nothing(operator, f"{len(ended)} calls ended the process: {ended[-1]}")
        elif not tried and operator.partition("::")[0] not in OPINFO_NAMESPACES and not schema.schemas(operator):
            report.nothing(operator, UNDEFINED)
        elif not tried and (refusal := schema.refusal(operator)):
            report.nothing(operator, f"{GPU_ONLY if imports.GPU.search(refusal) else NO_INPUTS}: {refusal}")
        if tried and operator.partition("::")[0] not in OPINFO_NAMESPACES:  # those are PyTorch's to check
            # With gradients, where some are wanted: then it also asks whether there is a formula.
            case = next((case for case in tried if case.piece == "backward"), tried[0])
            report.opcheck(operator, {**opcheck.check(operator, case.script), **fakes.check(operator)})
        elif tried and operator in (job.get("fakes") or ()):
            from . import drawing

            report.opcheck(operator, drawing.check(operator, index))
    report.close()


def main(arguments: list[str]) -> int:
    """Run the job of the file `arguments[0]`, write `arguments[1]`; returns the exit code."""
    job_file, out = arguments
    job = json.loads(Path(job_file).read_bytes())
    if "checks" in job or "tests" in job:
        sys.path[:0] = job.get("python_path") or []
        from . import checks

        checks.run(job, Path(out))
    elif "draw" in job or "untraced" in job:
        from . import drawing

        drawing.run(job, Path(out))
    elif "choose" in job or "probe" in job:
        sys.path += job.get("search") or []
        from . import probing
        from .setup import prepare

        obstacle = prepare(job)
        if obstacle and "choose" in job:
            raise ImportError(obstacle)
        (probing.choose if "choose" in job else probing.run)(job, Path(out))
    else:
        run(job, Path(out))
    return 0
