"""Modes of operators: which is worst, what a document holds, and what is worse than before."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.errors import SymfixError
from codemod.probe.answers import Answer, Report, read_report, regressed
from codemod.probe.subjects import MODES, Cell, Subject, worsened, worst
from codemod.probe.trace import Frame

PLACE = Frame("/x/torch/a.py", 3, "f", "if n == 2:")


def subject(name: str, **statuses: str) -> Subject:
    return Subject(name, {mode: Cell(statuses.get(mode, "")) for mode in MODES})


def report(*subjects: Subject, answers: tuple[Answer, ...] = ()) -> Report:
    return Report("2.13.0", (), answers, subjects)


def guard(function: str, place: Frame = PLACE) -> Answer:
    return Answer("guard", "x.size(0) == 2", "torch", place, None, function)


@pytest.mark.parametrize(
    ("statuses", "chosen"),
    [
        (("passes", "no inputs"), "passes"),
        (("guards", "passes"), "guards"),
        (("recompiles", "refuses"), "refuses"),
        (("throws", "wrong"), "wrong"),
        (("hangs", "wrong", "crashes"), "crashes"),
        ((), ""),
    ],
)
def test_the_worst_status_is_chosen(statuses: tuple[str, ...], chosen: str) -> None:
    assert worst([Cell(status) for status in statuses]).status == chosen


@pytest.mark.parametrize("status", ["throws", "wrong", "recompiles", "refuses", "hangs", "crashes"])
def test_a_mode_that_passed_and_does_not_is_worse(status: str) -> None:
    before = [subject("add", forward="passes", out="guards", vmap="throws"), subject("mul", forward="throws")]
    after = [subject("add", forward=status, out=status, vmap=status), subject("mul", forward=status)]
    assert [(r.subject, r.mode) for r in worsened(before, after)] == [("add", "forward"), ("add", "out")]


def test_what_passes_still_or_was_not_run_is_not_worse() -> None:
    before = [subject("add", forward="passes", out="", vmap="no inputs", unbacked="passes")]
    after = [subject("add", forward="guards", out="throws", vmap="throws", unbacked="no inputs"),
             subject("new", forward="throws")]  # fmt: skip
    assert worsened(before, after) == []


def test_answers_are_new_for_operators_of_both_reports() -> None:
    before = report(subject("add", forward="passes"), answers=(guard("add out"),))
    moved = Frame(PLACE.path, 30, PLACE.function, PLACE.text)
    answers = (guard("add forward"), guard("add out", moved), guard("new forward"))
    after = report(subject("add", forward="guards"), subject("new", forward="guards"), answers=answers)
    assert regressed(before, after) == [answers[0]]


def test_a_report_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    written = report(subject("add", forward="throws"), answers=(guard("add forward"),))
    path.write_text(written.to_json())
    assert read_report(path) == written
    path.write_text(written.to_json().replace('"throws"', '"unheard"'))
    with pytest.raises(SymfixError, match="status is not one of"):
        read_report(path)
