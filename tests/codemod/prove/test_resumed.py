"""A job whose cases end its process is resumed where it ended."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from codemod.model.transform import Override
from codemod.prove import work
from codemod.prove.isolate import Ended

OPERATORS = ("own::first", "own::second", "own::third")


def run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cases: Mapping[str, Sequence[str]], ending: set[str]
) -> tuple[dict[str, Any], list[list[str]]]:
    """The report of a job whose operators have these cases, of which `ending` end it; what each run was asked for."""
    asked: list[list[str]] = []

    def start(settings: Any, overlay: work._Overlay, folder: Path) -> Ended:
        job = json.loads((folder / "job.json").read_bytes())
        asked.append(job["operators"])
        report: dict[str, Any] = {"operators": {}, "running": None}
        for operator in job["operators"]:
            entry: dict[str, Any] = {"reason": "", "cases": []}
            report["operators"][operator] = entry
            for name in cases[operator]:
                if name in job["skip"]:
                    continue
                case = {"name": name, "piece": "forward", "script": "pass"}
                if name in ending:
                    report["running"] = {"operator": operator, **case}
                    (folder / "out.json").write_text(json.dumps(report))
                    return Ended("ended", -11, "")
                entry["cases"].append({**case, "status": "passes"})
        (folder / "out.json").write_text(json.dumps(report))
        return Ended("ended", 0, "")

    monkeypatch.setattr(work, "_start", start)
    settings: Any = SimpleNamespace(repros={}, cache=tmp_path)
    job = work._Job(OPERATORS, (), (), (), ())
    return work._run(settings, job, work._Overlay(), None), asked


def statuses(report: dict[str, Any]) -> list[list[str]]:
    return [[case["status"] for case in report["operators"][operator]["cases"]] for operator in OPERATORS]


def test_what_was_run_is_not_run_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cases = {"own::first": ["a"], "own::second": ["b", "c", "d"], "own::third": ["e"]}
    report, asked = run(monkeypatch, tmp_path, cases, {"c"})
    assert asked == [[*OPERATORS], [*OPERATORS[1:]]]
    assert statuses(report) == [["passes"], ["passes", "crashes", "passes"], ["passes"]]


def test_an_operator_that_ends_its_process_again_and_again_costs_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cases = {"own::first": list("abcd"), "own::second": ["e"], "own::third": ["f", "g"]}
    report, asked = run(monkeypatch, tmp_path, cases, {*"abcde"})
    assert asked == [[*OPERATORS]] * 3 + [[*OPERATORS[1:]]] * 2
    assert statuses(report) == [["crashes"] * 3, ["crashes"], ["passes", "passes"]]


def test_a_job_says_what_compiles_its_cases(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    backends: list[str] = []

    def start(settings: Any, overlay: work._Overlay, folder: Path) -> Ended:
        backends.append(json.loads((folder / "job.json").read_bytes())["backend"])
        (folder / "out.json").write_text(json.dumps({"operators": {}, "running": None}))
        return Ended("ended", 0, "")

    monkeypatch.setattr(work, "_start", start)
    settings: Any = SimpleNamespace(repros={}, cache=tmp_path)
    for backend in ("aot_eager", "inductor"):
        (job,) = work._jobs([Override(("own::first",))], backend)
        work._run(settings, job, work._Overlay(), None)
    assert backends == ["aot_eager", "inductor"]
