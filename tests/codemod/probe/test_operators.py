"""Probing one operator after the other: what ends a process costs one mode, and answers are kept by content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codemod.errors import SymfixError
from codemod.probe import operators
from codemod.probe.answers import Report
from codemod.probe.subjects import MODES
from codemod.prove.executor import make_executor
from codemod.prove.isolate import Ended
from codemod.prove.target import Target

TARGET = Target("/x/python", "3.11", "", "/x/torch", "2.13.0", True, "c++20")
DONE = Ended("ended", 0, "")
CASE = {"name": "", "script": "", "status": "passes", "message": "", "guards": [], "frames": 1}


def selection(state: str = "a", *names: str) -> operators.Selection:
    return operators.Selection(TARGET, (), names or ("add",), "2.13.0", state)


def probed(chosen: operators.Selection) -> Iterator[tuple[Report, bool]]:
    return operators.probe_all(chosen, make_executor("", 1), 1)


def passing(modes: list[str]) -> dict[str, Any]:
    entries = {mode: {"cases": [CASE], "reason": "", "seconds": 1.0} for mode in modes}
    return {"torch": "2.13.0", "package": "/x/torch", "traced": True, "running": None, "done": True,
            "modes": entries}  # fmt: skip


class Runs:
    """Stands in for processes: passes in all modes but those in `ends`, each of which ends its process once."""

    def __init__(self, **ends: Ended) -> None:
        self.ends = ends
        self.asked: list[list[str]] = []

    def __call__(self, target: Target, folder: Path, job: Mapping[str, Any]) -> tuple[Ended, dict[str, Any]]:
        modes = list(job["modes"])
        self.asked.append(modes)
        for number, mode in enumerate(modes):
            if mode in self.ends:
                document = passing(modes[:number])
                document["modes"][mode] = {"cases": [], "reason": "", "seconds": 0.0}
                running = {"mode": mode, "name": f"{mode}:add:0", "script": "import torch"}
                return self.ends[mode], {**document, "running": running, "done": False}
        return DONE, passing(modes)


def test_a_crash_and_a_hang_cost_their_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(backward=Ended("crashed", -11, ""), unbacked=Ended("timed out", -9, ""))
    monkeypatch.setattr(operators, "_run", runs)
    modes = operators.probe_operator(selection(), "add").subjects[0].modes
    assert {mode: cell.status for mode, cell in modes.items()} == {
        "forward": "passes", "backward": "crashes", "inplace": "passes", "out": "passes", "vmap": "passes",
        "unbacked": "hangs", "sizes": "", "spec": "passes", "fake": "passes",
    }  # fmt: skip
    assert modes["backward"].message == "SIGSEGV"
    assert runs.asked == [list(MODES), ["inplace", "out", "vmap", "unbacked", "sizes", "spec", "fake"],
                          ["spec", "fake"]]  # fmt: skip


def test_a_process_that_says_nothing_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "_run", lambda *_: (Ended("ended", 1, "ImportError: no mylib"), {}))
    modes = operators.probe_operator(selection(), "add").subjects[0].modes
    assert (modes["forward"].status, modes["forward"].message) == ("crashes", "ImportError: no mylib")


def test_answers_are_kept_until_the_code_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs()
    monkeypatch.setattr(operators, "_run", runs)

    def kept(chosen: operators.Selection) -> dict[str, bool]:
        return {report.subjects[0].name: was for report, was in probed(chosen)}

    assert kept(selection("a", "add", "mul")) == {"add": False, "mul": False}
    assert kept(selection("a", "add", "mul", "sub")) == {"add": True, "mul": True, "sub": False}
    assert kept(selection("b", "add")) == {"add": False}
    assert kept(replace(selection("a", "add"), backend="inductor")) == {"add": False}


def test_what_did_not_end_in_time_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "_run", Runs(forward=Ended("timed out", -9, "")))
    assert [was for _, was in probed(selection())] == [False]
    assert [was for _, was in probed(selection())] == [False]
    monkeypatch.setattr(operators, "_run", Runs(forward=Ended("crashed", -6, "")))
    assert [was for _, was in probed(selection())] == [False]
    assert [was for _, was in probed(selection())] == [True]


def test_a_name_that_nothing_has_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    listed: dict[str, Any] = {"torch": "2.13.0", "subjects": [], "state": "a", "cannot": ["it has no trace"]}
    monkeypatch.setattr(operators, "_run", lambda *_: (DONE, listed))
    with pytest.raises(SymfixError, match=r"--op nothing: torch 2\.13\.0 has no such operator"):
        operators.select(TARGET, ["nothing"], [])
    listed["subjects"] = ["add"]
    assert operators.select(TARGET, ["add"], []).cannot == ("it has no trace",)
    monkeypatch.setattr(operators, "_run", lambda *_: (Ended("ended", 1, "ModuleNotFoundError: mylib"), {}))
    with pytest.raises(SymfixError, match="cannot be listed: ModuleNotFoundError: mylib"):
        operators.select(TARGET, ["add"], ["mylib"])


def test_reports_are_joined_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "_run", Runs())
    reports = [operators.probe_operator(selection(), name) for name in ("mul", "add")]
    assert [subject.name for subject in operators.joined(reports, selection()).subjects] == ["add", "mul"]
