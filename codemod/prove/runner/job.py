"""Read a job, prove its operators one by one, write what was found after each case."""

from __future__ import annotations

import importlib
import json
import logging
import platform
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

DEFAULT_PIECES = ("forward", "backward", "inplace", "out")
BUDGET = 20.0
"""Seconds to look for cases of one operator."""
THROWING = 3
"""So many cases that are forecast to throw for symbolic sizes are run."""
OTHER = 1
"""So many that are forecast to throw for another reason."""
PASSING = 4
"""So many that are not."""


class Report:
    """What was found so far, on disk after every change, so that a killed run leaves it."""

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
        self._entry(operator)["cases"].append({**asdict(case), **asdict(result)})
        self._document["running"] = None
        self._write()

    def nothing(self, operator: str, reason: str) -> None:
        """Why an operator has no cases."""
        self._entry(operator)["reason"] = reason

    def searching(self, operator: str, name: str) -> None:
        """Say which call is tried as a case."""
        self._entry(operator)
        self._document["running"] = {"operator": operator, "name": name, "piece": "", "script": ""}
        self._write()

    def close(self) -> None:
        """Say that all is done."""
        self._document.update(running=None, done=True)
        self._write()

    def _entry(self, operator: str) -> dict[str, Any]:
        entry: dict[str, Any] = self._document["operators"].setdefault(operator, {"reason": "", "cases": []})
        return entry

    def _write(self) -> None:
        staged = self._path.with_suffix(".tmp")
        staged.write_text(json.dumps(self._document))
        staged.replace(self._path)


def candidates(job: dict[str, Any], operator: str, piece: str, index: Any) -> Iterator[tuple[str, Any]]:
    """Named calls of `operator` that exercise `piece`: of its own samples, of callers' samples, from its schema."""
    from . import opinfo, schema

    base = operator.rpartition("::")[2]
    chosen = set(job.get("entries") or ())
    entries = [e for e in opinfo.entries() if opinfo.label(e) in chosen] if chosen else opinfo.named(base)
    seen = {opinfo.label(entry) for entry in entries}
    for entry in entries:
        for number, call in enumerate(opinfo.calls(entry, piece)):
            yield f"{opinfo.label(entry)} {number}", call
    if chosen:
        return
    for entry in index.callers(operator, piece):
        if opinfo.label(entry) not in seen:
            for number, call in enumerate(opinfo.calls(entry, piece)):
                yield f"{opinfo.label(entry)} {number}", call
    for number, call in enumerate(schema.calls(operator, piece)):
        yield f"{operator} {number}", call


def search(job: dict[str, Any], operator: str, index: Any, report: Report) -> list[Any]:
    """The cases of `operator` to run, those first that are forecast to throw."""
    from . import cases, causes

    pieces = job.get("pieces") or DEFAULT_PIECES
    skipped = set(job.get("skip") or ())
    index.open()
    share = float(job.get("budget") or BUDGET) / len(pieces)
    throwing: list[Any] = []
    passing: list[Any] = []
    for piece in pieces:
        started = time.monotonic()
        said: dict[bool, set[str]] = {True: set(), False: set()}
        passed = 0
        for name, call in candidates(job, operator, piece, index):
            if time.monotonic() - started > share or len(said[True]) >= THROWING:
                break
            label = f"{piece}: {name}"
            if label in skipped:
                continue
            report.searching(operator, label)
            for case in cases.make(operator, piece, label, call):
                message = cases.probe(case)
                told = causes.telling(message)
                if message and message not in said[told] and (told or len(said[told]) < OTHER):
                    said[told].add(message)
                    throwing.append(case)
                elif not message and passed < PASSING:
                    passed += 1
                    passing.append(case)
    return throwing + passing


def prepare(job: dict[str, Any]) -> None:
    """Import torch and load what the job names."""
    import torch
    import torch._dynamo
    import torch._logging

    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    torch._dynamo.config.verbose = True  # keep the traceback below the compiler
    torch._dynamo.config.capture_scalar_outputs = True
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    for library in job.get("libraries") or ():
        torch.ops.load_library(library)  # type: ignore[no-untyped-call]
    for module in job.get("imports") or ():
        importlib.import_module(module)


def run(job: dict[str, Any], out: Path) -> None:
    """Prove every operator of `job`. Raises what loading the libraries raises."""
    sys.path[:0] = job.get("python_path") or []
    import torch

    from . import cases, check, opinfo

    prepare(job)
    report = Report(out, torch.__version__)
    index = opinfo.Index(job.get("cache"))
    own = Path(job["repro"]).read_text(encoding="utf-8") if job.get("repro") else ""
    skipped = set(job.get("skip") or ())
    for operator in job["operators"]:
        given = (job.get("cases") or {}).get(operator)
        if given is not None:
            chosen = [cases.Case(case["name"], case["piece"], case["script"]) for case in given]
        elif own:
            chosen = [cases.Case(f"own: {Path(job['repro']).name}", "forward", own)]
        else:
            chosen = search(job, operator, index, report)
        if not chosen:
            report.nothing(operator, "no inputs could be made that eager accepts")
        for case in chosen:
            if case.name not in skipped:
                report.running(operator, case)
                report.add(operator, case, check.attempt(case.script, case.name, job.get("unbacked", True)))
    report.close()


def main(arguments: list[str]) -> int:
    """Run the job of the file `arguments[0]`, write `arguments[1]`; returns the exit code."""
    job_file, out = arguments
    run(json.loads(Path(job_file).read_bytes()), Path(out))
    return 0
