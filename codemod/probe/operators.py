"""Probing operators over an installed torch: each in a process of its own, and kept by content."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import time
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codemod.borders.private import private_folder, read_private
from codemod.borders.quoting import file_name
from codemod.digest import digest
from codemod.errors import SymfixError
from codemod.model.choices import BACKENDS
from codemod.probe.answers import Report, merged, parse_report
from codemod.probe.collect import Collector
from codemod.probe.outcomes import report_of
from codemod.probe.subjects import MODES
from codemod.probe.trace import read_trace, trace_files
from codemod.prove.executor import work_through
from codemod.prove.inquiry import ask
from codemod.prove.isolate import Ended
from codemod.prove.run_folder import remove_dead, run_folder
from codemod.prove.target import Target
from codemod.terminal import one_line
from codemod.tree.checkout import user_cache
from codemod.writing.files import replace_file

SECONDS = 300.0
"""How long the modes of one operator may take, a mode that hangs apart."""
_TOGETHER = dict.fromkeys(("unbacked", "sizes"), ("unbacked", "sizes"))
"""What is not tried again where a mode ended its process beside that mode: `sizes` needs the graphs of `unbacked`."""
_UNUSED_SECONDS = 30 * 24 * 3600.0
_PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Selection:
    """The operators that were asked for, of one installed torch. `state` identifies all the code that they run."""

    target: Target
    imports: tuple[str, ...]
    names: tuple[str, ...]
    torch: str
    state: str
    search: tuple[str, ...] = ()
    """Folders that imports look into last: those of PYTHONPATH and the one that symfix was started in."""
    backend: str = BACKENDS[0]
    cannot: tuple[str, ...] = ()
    """What this torch cannot tell, a sentence each."""


def select(target: Target, globs: Sequence[str], imports: Sequence[str], backend: str = BACKENDS[0]) -> Selection:
    """The operators that `globs` name in the torch of `target` once `imports` are there.

    Raises SymfixError where they cannot be imported, or no operator has such a name.
    """
    search = (*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), os.getcwd())
    with run_folder() as folder:
        ended, document = _run(target, folder, {"choose": list(globs), "imports": list(imports), "search": search})
    if "subjects" not in document:
        raise SymfixError(f"{target.python}: its operators and modules cannot be listed: {one_line(ended.cause)}")
    if not document["subjects"]:
        named = ", ".join(globs)
        raise SymfixError(f"--op {named}: torch {document['torch']} has no such operator; --import names a library's")
    return Selection(target, tuple(imports), tuple(document["subjects"]), document["torch"], document["state"], search,
                     backend, tuple(document["cannot"]))  # fmt: skip


def probe_all(selection: Selection, executor: Executor, jobs: int) -> Generator[tuple[Report, bool], None, None]:
    """A report for each operator as it comes about, and whether it was kept from an earlier run.

    `jobs` of them are handed to `executor` at a time. Ends all processes it has started, and waits for them, when the
    caller stops early or is interrupted. Raises SymfixError where a machine of `executor` has another torch.
    """
    folder = _kept_folder(selection)

    def submit(name: str) -> Future[Report]:
        return executor.submit(probe_operator, selection, name)

    ended = work_through(executor, selection.names, functools.partial(_kept, folder), submit, jobs)
    with contextlib.closing(ended):
        for name, report, was_kept in ended:
            if report.torch not in ("", selection.torch):
                raise SymfixError(f"{name}: ran over torch {report.torch}, not {selection.torch}; the machines of"
                                  f" --executor need the same {selection.target.python}")  # fmt: skip
            hung = any(cell.status == "hangs" for cell in report.subjects[0].modes.values())
            if folder is not None and not (was_kept or hung):  # a machine with much to do looks like that too
                with contextlib.suppress(OSError):
                    replace_file(_file(folder, name), report.to_json().encode("ascii"))
            yield report, was_kept


def joined(reports: Sequence[Report], selection: Selection) -> Report:
    """One report of several operators of a selection, in the order of their names."""
    ordered = sorted(reports, key=lambda report: report.subjects[0].name)
    answers = merged([answer for report in ordered for answer in report.answers])
    return Report(
        selection.torch, (), tuple(answers), tuple(report.subjects[0] for report in ordered), selection.cannot
    )


def probe_operator(selection: Selection, name: str) -> Report:
    """What one operator answers. A mode that ends its process, or does not end, costs that mode alone."""
    modes = list(MODES)
    runs: list[dict[str, Any]] = []
    collector = Collector()
    while modes:
        with run_folder() as folder:
            traces = folder / "traces"
            job = {"probe": name, "modes": modes, "imports": list(selection.imports), "trace": str(traces),
                   "search": selection.search, "backend": selection.backend}  # fmt: skip
            ended, document = _run(selection.target, folder, job)
            if traces.is_dir() and any(traces.iterdir()):
                for path in trace_files(traces):
                    with contextlib.suppress(SymfixError):  # cut off before its first record
                        collector.take(read_trace(path))
        runs.append(document)
        running = document.get("running")
        if document.get("done"):
            break
        if not isinstance(running, dict):  # nothing of it began
            runs.append(_with_ended({"modes": {}}, modes[0], ended))
            break
        runs[-1] = _with_ended(document, running["mode"], ended)
        begun = _TOGETHER.get(running["mode"], ())
        modes = [mode for mode in modes if mode not in document["modes"] and mode not in begun]
    return report_of(name, runs, collector.report())


def _with_ended(document: dict[str, Any], mode: str, ended: Ended) -> dict[str, Any]:
    """`document` with a case of `mode` that ended the process, or did not end in time."""
    running = document.get("running") or {"name": "", "script": ""}
    status = "hangs" if ended.how == "timed out" else "crashes"
    message = one_line(ended.cause) or f"exit code {ended.code}"
    case = {**running, "status": status, "message": message, "guards": [], "frames": 0}
    entry = document["modes"].get(mode, {"cases": [], "reason": "", "seconds": 0.0})
    modes = {**document["modes"], mode: {**entry, "cases": [*entry["cases"], case]}}
    return {**document, "modes": modes}


def _run(target: Target, folder: Path, job: Mapping[str, Any]) -> tuple[Ended, dict[str, Any]]:
    """How the job ended, and what it wrote; an empty table where that cannot be read."""
    ended, document = ask(target, folder, job, SECONDS)
    return ended, document if isinstance(document, dict) else {}


def _kept_folder(selection: Selection) -> Path | None:
    """The folder of what was answered over exactly this code; None where nothing can be kept."""
    remove_dead()
    code = [path.read_bytes() for path in _own_code()]
    base = user_cache()
    top = private_folder(base / "probe", base)
    if top is None:
        return None
    for folder in top.iterdir():
        with contextlib.suppress(OSError):
            if folder.stat().st_mtime < time.time() - _UNUSED_SECONDS:
                shutil.rmtree(folder)
    folder = (
        top / digest(selection.target.python, *selection.target.missing, selection.state, selection.backend, *code)[:24]
    )
    kept = private_folder(folder, base)
    if kept is not None:
        with contextlib.suppress(OSError):
            os.utime(kept)
    return kept


def _own_code() -> list[Path]:
    """The code that makes answers: what runs beside torch, and what reads its traces."""
    return [path for package in ("probe", "runner") for path in sorted((_PACKAGE / package).glob("*.py"))]


def _kept(folder: Path | None, name: str) -> Report | None:
    """What was answered earlier about an operator; None where nothing was, or it cannot be read."""
    if folder is None:
        return None
    path = _file(folder, name)
    try:
        report = parse_report(read_private(path), str(path))
    except (OSError, SymfixError):
        return None
    return report if [subject.name for subject in report.subjects] == [name] else None


def _file(folder: Path, name: str) -> Path:
    return folder / f"{file_name(name)}-{digest(name)[:8]}.json"
