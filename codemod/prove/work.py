"""Proving one shard: type-check, build, run before, run after, judge."""

from __future__ import annotations

import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import dropwhile
from operator import ne
from pathlib import Path
from typing import Any

from codemod.borders.files import read_file
from codemod.model.transform import Override
from codemod.model.xfails import describe_check
from codemod.planning.naming import matches_operator
from codemod.prove import check, nursery
from codemod.prove.build import Side, build, on_both, python_path, sides
from codemod.prove.compiler import Diagnostic
from codemod.prove.evidence import BACKEND, Evidence, Outcome, Status, backend_for
from codemod.prove.installed import built, over_installed, packages_of
from codemod.prove.isolate import RUNNER, Ended, Limits, run
from codemod.prove.regression import make_opcheck_test, make_test
from codemod.prove.run_folder import LOCK, run_folder
from codemod.prove.task import Settings, Task
from codemod.prove.verdict import ended, headline, joined, judge, weighed

_ENDS = 3  # so many cases of an operator may end the process before the rest of them is given up


@dataclass(frozen=True, slots=True)
class _Job:
    """Operators that are run in one process, before and after."""

    operators: tuple[str, ...]
    pieces: tuple[str, ...]
    imports: tuple[str, ...]
    functions: tuple[str, ...]
    stand_ins: tuple[str, ...]
    """The packages whose compiled modules are among the libraries that are loaded."""
    fakes: tuple[str, ...] = ()
    """The operators whose metas are compared with their kernels."""
    backend: str = BACKEND


@dataclass(frozen=True, slots=True)
class _Overlay:
    """What puts one side's code in the place of the installed one: libraries, and folders to import from."""

    libraries: tuple[str, ...] = ()
    preloaded: tuple[str, ...] = ()
    python_path: tuple[str, ...] = ()
    torch: bool = False
    """Whether torch itself is imported from there."""


def prove(settings: Settings, task: Task) -> list[Evidence]:
    """The evidence for one shard: an entry for each operator that was run, or one that says why none was."""
    started = time.monotonic()
    backend = backend_for(task.changes)
    task = replace(task, overrides=over_installed(settings, task.overrides))
    if any(not override.preload and override.packages is None for override in task.overrides):
        nursery.prepare(_server(settings), environment(settings.cache, (), settings.target.support))
    before, after = sides(settings, task.changes)
    checked = check.check(settings, task, before, after)

    def make_evidence(operator: str, outcome: Any, reason: str, **more: Any) -> Evidence:
        seconds = round(time.monotonic() - started, 1)
        fields = {"versions": settings.versions, "compiled": checked.compiled, "seconds": seconds, **more}
        return Evidence(operator, outcome, task.key, reason, backend=backend, **fields)

    if checked.broken:
        return [make_evidence(task.shard, "worse", checked.broken)]
    usable: list[Override] = []
    pairs: list[tuple[_Overlay, _Overlay]] = []
    reasons = [checked.reason] if checked.reason else []
    for override in task.overrides:
        pair = _make_overlays(settings, task, override, before, after)
        if isinstance(pair, str):
            reasons.append(pair)
        else:
            usable.append(override)
            pairs.append(pair)
    if not usable:
        return [make_evidence(task.shard, "not provable", next(iter(reasons), "no way is known to run it"))]
    overlays = (_merge(pair[0] for pair in pairs), _merge(pair[1] for pair in pairs))
    with ThreadPoolExecutor(1) as pool:  # the checks run beside the cases
        run_checks = partial(_run_identified, settings, "checks", task.checks, usable)
        checking = pool.submit(lambda: on_both(run_checks, *overlays))
        results = (result for job in _jobs(usable, backend) for result in _run_job(settings, job, overlays))
        entries = [
            make_evidence(name, outcome, _with_obstacle(outcome, reason, reasons), **more)
            for name, outcome, reason, more in results
        ]
        ends_before, ends_after = checking.result()
    if task.checks and entries:
        entries[0] = replace(
            entries[0], checks={check: (ends_before[check], ends_after[check]) for check in task.checks}
        )
        cured = entries[0].cured_checks
        if cured:  # then these show the cure, whatever the samples did that were tried
            if entries[0].outcome == "unchanged":
                entries[0] = replace(entries[0], outcome="cured", reason=f"{describe_check(cured[0])}: fails → passes")
            return entries
    return [_with_test(settings, usable, overlays, entry) for entry in entries]


def _run_job(
    settings: Settings, job: _Job, overlays: tuple[_Overlay, _Overlay]
) -> Iterator[tuple[str, Outcome, str, dict[str, Any]]]:
    """For each operator of the job: its name, the outcome, the reason, and the other fields of its evidence."""
    before, after = _run_both(settings, job, *overlays)
    seen = {"network": "cut off" if before["network"] == after["network"] == "cut off" else "open"}
    for operator in job.operators:
        name = operator.removeprefix("aten::")
        entry_before, entry_after = before["operators"].get(operator), after["operators"].get(operator)
        if entry_before is None or entry_after is None or not entry_before["cases"]:
            yield name, "not provable", (entry_before or {}).get("reason") or "the run said nothing", {**seen}
        elif not entry_after["cases"]:
            yield name, "worse", f"only before the change: {entry_after['reason']}", {**seen}
        else:
            judgement = judge(entry_before["cases"], entry_after["cases"])
            opcheck = _paired(entry_before.get("opcheck"), entry_after.get("opcheck"))
            judgement = weighed(judgement, opcheck)
            more = {"before": judgement.before, "after": judgement.after, "repro": judgement.repro,
                    "opcheck": opcheck, "inputs": _inputs(operator, judgement.case)}  # fmt: skip
            yield name, judgement.outcome, judgement.reason, {**more, **seen}


def _with_obstacle(outcome: Outcome, reason: str, reasons: Sequence[str]) -> str:
    """`reason`, and where nothing could be run what else of the library could not be laid over torch."""
    return f"{reason}; {reasons[0]}" if outcome == "not provable" and reasons else reason


def _paired(before: Any, after: Any) -> dict[str, tuple[str, str]]:
    """The ends of the tests that ran on both sides: the checkout's code could have written anything."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return {}
    return {name: (str(before[name]), str(after[name])) for name in before if name in after}


def _inputs(operator: str, case: str) -> str:
    """Where the arguments of a case come from, as its name tells."""
    kind, _, name = case.partition(": ")
    if kind == "own":
        return f"the script {name}"
    return "its schema" if name.startswith(f"{operator} ") else "PyTorch's samples" if case else ""


def _with_test(
    settings: Settings, overrides: Sequence[Override], overlays: tuple[_Overlay, _Overlay], evidence: Evidence
) -> Evidence:
    """`evidence` with a regression test, where it can be written and was seen to fail before and to pass after."""
    if evidence.outcome != "cured" or evidence.after is None:
        return evidence
    library = "::" in evidence.operator  # of PyTorch's own operators a test compares with eager, as its tests do
    without_fake = library and evidence.before is not None and evidence.before.mode == 3 and evidence.opcheck
    test = make_opcheck_test(evidence.operator, evidence.repro) if without_fake else ""
    test = test or make_test(evidence.operator, evidence.repro, evidence.after.frames, evidence.backend)
    if not test:
        return evidence
    ends_before, ends_after = on_both(partial(_run_identified, settings, "tests", (test,), overrides), *overlays)
    return replace(evidence, test=test) if (ends_before[test], ends_after[test]) == ("fails", "passes") else evidence


def find_repro(settings: Settings, task: Task) -> str:
    """The script that shows best how an operator of the shard fails before the change, "" for none."""
    task = replace(task, overrides=over_installed(settings, task.overrides))
    before, after = sides(settings, task.changes)
    for override in task.overrides:
        pair = _make_overlays(settings, task, override, before, after)
        if not isinstance(pair, str):
            for job in _jobs([override], backend_for(task.changes)):
                for entry in _run(settings, job, pair[0], None)["operators"].values():
                    shown = headline(entry["cases"])
                    if shown is not None:
                        return str(shown["script"])
    return ""


def _make_overlays(
    settings: Settings, task: Task, override: Override, before: Side, after: Side
) -> tuple[_Overlay, _Overlay] | str:
    """The override built for both sides, to run over the installed code, or why that cannot be done."""
    old = {change.path: change.old for change in task.changes}
    new = {change.path: change.new for change in task.changes}
    overlay_before, overlay_after = on_both(
        lambda side: _make_overlay(settings, override, built(task.overrides), *side), (before, old), (after, new)
    )
    if isinstance(overlay_before, str):
        return overlay_before
    return overlay_after if isinstance(overlay_after, str) else (overlay_before, overlay_after)


def _make_overlay(
    settings: Settings, override: Override, whole: bool, side: Side, contents: Mapping[str, bytes]
) -> _Overlay | str:
    """The override built for one side; `whole` says that all of the library's C++ is, by whatever override."""
    if override.reason and not own_scripts(settings, override.operators):
        return override.reason
    libraries: tuple[str, ...] = ()
    if override.parts:
        if settings.compiler is None:
            return "there is no C++ compiler"
        library = build(side, override, settings.compiler)
        if isinstance(library, Diagnostic):
            return f"does not build over torch {settings.target.torch_version}: {check.shown(library, side)}"
        libraries = (str(library),)
    path: tuple[str, ...] = ()
    if override.modules or override.imports:
        path = tuple(python_path(side, override, contents, whole))
    preloaded, loaded = (libraries, ()) if override.preload else ((), libraries)
    return _Overlay(loaded, preloaded, path, bool(path) and override.packages is not None)


def _merge(overlays: Iterable[_Overlay]) -> _Overlay:
    libraries: dict[str, None] = {}
    preloaded: dict[str, None] = {}
    path: dict[str, None] = {}
    torch = False
    for overlay in overlays:
        torch |= overlay.torch
        libraries.update(dict.fromkeys(overlay.libraries))
        preloaded.update(dict.fromkeys(overlay.preloaded))
        path.update(dict.fromkeys(overlay.python_path))
    return _Overlay(tuple(libraries), tuple(preloaded), tuple(path), torch)


def _jobs(overrides: Sequence[Override], backend: str) -> list[_Job]:
    """The operators to run: those that are run in the same pieces, and import the same, share a process."""
    pieces: dict[str, set[str]] = defaultdict(set)
    imports: dict[str, set[str]] = defaultdict(set)
    for override in overrides:
        for operator in override.operators:
            pieces[operator].update(override.pieces)
            imports[operator].update(override.imports)
    together: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = defaultdict(list)
    for operator, names in pieces.items():
        together[tuple(sorted(names)), tuple(sorted(imports[operator]))].append(operator)
    functions = tuple(sorted({name for override in overrides for name in override.functions}))
    stand_ins = tuple(packages_of(overrides)) if built(overrides) else ()
    fakes = {operator for override in overrides if override.fakes for operator in override.operators}
    return [
        _Job(tuple(operators), *key, functions, stand_ins, tuple(o for o in operators if o in fakes), backend)
        for key, operators in together.items()
    ]


def _run_identified(
    settings: Settings, kind: str, identities: Sequence[str], overrides: Sequence[Override], overlay: _Overlay
) -> dict[str, str]:
    """How each check or test (`kind`) of `identities` ends on one side; what ends the process fails."""
    ends: dict[str, str] = {}
    imports = sorted({name for override in overrides for name in override.imports})
    stand_ins = list(packages_of(overrides)) if built(overrides) else []
    while len(ends) < len(identities):
        left = [identity for identity in identities if identity not in ends]
        with run_folder() as folder:
            document = {
                kind: left, "libraries": overlay.libraries, "python_path": overlay.python_path, "imports": imports,
                "stand_ins": stand_ins,
            }  # fmt: skip
            (folder / "job.json").write_text(json.dumps(document), encoding="ascii")
            _start(settings, overlay, folder)
            report = _read(folder / "out.json") or {}
        ends.update(report.get(kind, {}))
        if not report.get("done"):
            running = report.get("running") or {"name": left[0]}
            ends[running["name"]] = "fails"
    return ends


def _run_both(
    settings: Settings, job: _Job, before: _Overlay, after: _Overlay
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The runner's reports on both sides; the second runs the cases that the first found."""
    report_before = _run(settings, job, before, None)
    cases = {
        operator: [{name: case[name] for name in ("name", "piece", "script")} for case in entry["cases"]]
        for operator, entry in report_before["operators"].items()
        if entry["cases"]
    }
    none = {"operators": {}, "network": report_before["network"]}
    return report_before, _run(settings, job, after, cases) if cases else none


def _run(settings: Settings, job: _Job, overlay: _Overlay, cases: Mapping[str, Any] | None) -> dict[str, Any]:
    """The runner's report; a case that ends its process is skipped when the operators from its own on are run again."""
    skip: list[str] = []
    left = list(job.operators)
    ends: Counter[str] = Counter()
    reports: list[dict[str, Any]] = []
    failure = ""
    cut_off = True
    with run_folder() as folder:
        document = {
            "libraries": overlay.libraries, "python_path": overlay.python_path,
            "pieces": job.pieces or None, "functions": job.functions, "imports": job.imports,
            "stand_ins": job.stand_ins, "fakes": job.fakes, "backend": job.backend,
            "repro": own_scripts(settings, job.operators) or None, "cases": cases,
            "cache": _cache(settings),
        }  # fmt: skip
        fields = {key: value for key, value in document.items() if value is not None}
        while left:
            (folder / "job.json").write_text(json.dumps({**fields, "operators": left, "skip": skip}), encoding="ascii")
            (folder / "out.json").unlink(missing_ok=True)
            done = _start(settings, overlay, folder)
            cut_off = cut_off and done.cut_off
            report = _read(folder / "out.json")
            if done.how == "ended" and done.code == 0 and report is not None:
                reports.append(report)
                break
            how: Status = "hangs" if done.how == "timed out" else "crashes"
            running = (report or {}).get("running")
            cause = done.cause
            failure = f"the run {done.how}: {cause}"
            reports.append(ended(report, how, cause))
            if not running or not running.get("name"):
                break
            skip.append(running["name"])
            left = list(dropwhile(partial(ne, running.get("operator")), left)) or left
            ends[left[0]] += 1
            if ends[left[0]] == _ENDS:
                del left[0]
    return {**joined(job.operators, reports, failure), "network": "cut off" if cut_off else "open"}


def _start(settings: Settings, overlay: _Overlay, folder: Path) -> Ended:
    """Run the job in `folder`: by a process that has torch already, unless the torch to import is another."""
    job, out = folder / "job.json", folder / "out.json"
    command = (settings.target.python, str(RUNNER))
    limits = Limits(settings.seconds, settings.memory)
    variables = environment(folder, overlay.preloaded, settings.target.support)
    if not overlay.preloaded and not overlay.torch:
        done = nursery.run(_server(settings), job, out, folder, variables, limits)
        if done is not None:
            return done
    return run((*command, str(job), str(out)), limits, variables, folder, folder / LOCK)


def _server(settings: Settings) -> tuple[str, ...]:
    """The command of a process that has torch, and for a tree of PyTorch its samples, and runs jobs."""
    return settings.target.python, str(RUNNER), "--serve", _cache(settings) if settings.version else ""


def _cache(settings: Settings) -> str:
    """The folder where the runner caches what it finds out about the installed torch."""
    return str(settings.cache / "runner")


def own_scripts(settings: Settings, operators: Sequence[str]) -> dict[str, str]:
    """The user's script for each of these operators that has one."""
    return {
        operator: script
        for operator in operators
        for glob, script in settings.repros.items()
        if matches_operator(glob, operator)
    }


def environment(folder: Path, preloaded: Sequence[str], support: str) -> dict[str, str]:
    """The environment of a run: its caches and temporary files in `folder`, and one thread.

    `support` is a folder that Python imports from too, "" for none.
    """
    inherited = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "CXX", "CC", "VIRTUAL_ENV")
    values = {name: os.environ[name] for name in inherited if name in os.environ}
    for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"):
        values[name] = str(folder)
    values.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", PYTHONNOUSERSITE="1")
    values.update(TORCHINDUCTOR_COMPILE_THREADS="1")
    values["CUDA_VISIBLE_DEVICES"] = ""
    if support:
        values["PYTHONPATH"] = support
    if preloaded:
        values["LD_PRELOAD"] = ":".join(preloaded)
    return values


def _read(path: Path) -> dict[str, Any] | None:
    """The report of a run, None where none can be read: the checkout's code could write anything there."""
    try:
        document = json.loads(read_file(path))
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
