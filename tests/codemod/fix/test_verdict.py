"""What makes one run of a program better than another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from codemod.fix.trial import Trial, same_text, same_values
from codemod.fix.verdict import compare, wrong_values
from codemod.probe.answers import Answer, Compilation, Report
from codemod.probe.trace import Frame


def trial(frames: int = 1, status: int = 0, printed: str = "1.0", returned: Any = 1.0, errors: int = 0) -> Trial:
    answers = tuple(Answer("error", str(number), "", None, None, "f") for number in range(errors))
    report = Report("", (Compilation("f", "case.py", 1, frames),) if frames else (), answers)
    return Trial(status, "Error: no" if status else "", printed, ({"returned": {"number": returned}},), (), report)


EAGER = trial(frames=0)


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (trial(2), trial(2), "not better"),
        (trial(2), trial(3), "not better"),
        (trial(2), trial(1, status=1), "with the change it fails"),
        (trial(2), trial(1, returned=2.0), "is not eager's"),
        (trial(2), trial(1, printed="2.0"), "what it prints"),
        (trial(1, status=1), trial(1, returned=2.0), "is not eager's"),
        (trial(2), trial(0), "no longer compiled"),
        (trial(2), trial(1, errors=1), "not better"),
    ],
)
def test_nothing_is_better_that_is_not_shown_to_be(before: Trial, after: Trial, reason: str) -> None:
    verdict = compare(before, after, EAGER)
    assert not verdict.better
    assert reason in verdict.reason


def test_what_fails_without_compiling_too_can_be_compared_with_nothing() -> None:
    failing = trial(1, status=1)
    assert "cannot be compared" in compare(failing, trial(1), failing).reason


def test_the_error_that_ended_a_program_is_counted_once() -> None:
    what, place = "Could not guard on data-dependent expression ", Frame("/case.py", 3, "f")
    traced = Answer("error", f"{what}x.size(0) > 1", "", place, None, "f (case.py:1)")
    raised = Answer("error", f"{what}u0 > 1", "", place, None, "")
    elsewhere = replace(raised, place=Frame("/case.py", 9, "f"))
    for answers, number in (((traced, raised), 1), ((raised,), 1), ((traced, elsewhere), 2), ((traced, traced), 2)):
        assert replace(trial(status=1), report=Report("", (), answers)).errors == number


def test_of_an_exported_program_nothing_is_said_of_frames_and_returned_values() -> None:
    exported = replace(trial(frames=0), returned=())
    cured = compare(replace(exported, status=1, error="Guard failed"), exported, exported)
    assert (cured.better, cured.reason) == (True, "fails: Guard failed → ends well")
    assert cured.values == "all that is printed as eager's"
    assert compare(exported, exported, exported).reason == "it is not better: frames compiled 0 → 0"


def test_fewer_frames_right_values_and_no_failure_are_better() -> None:
    assert compare(trial(3), trial(1), EAGER).reason == "frames compiled 3 → 1"
    cured = compare(trial(1, status=1, returned=None, printed=""), trial(1), EAGER)
    assert cured.better
    assert cured.reason.startswith("fails: Error: no → ends well")
    wrong = trial(1, returned=3.0, printed="3.0")
    assert wrong_values(wrong, EAGER)
    assert "wrong results → right ones" in compare(wrong, trial(1), EAGER).reason


def broken(breaks: int, functions: str, captured: str) -> Trial:
    answers = tuple(Answer("break", str(number), "", None, None, "f") for number in range(breaks))
    compilations = tuple(Compilation(name, "case.py", 1, 1) for name in functions)
    return replace(trial(), report=Report("", compilations, answers), captured=frozenset(captured))


def test_a_graph_that_breaks_less_is_better_as_long_as_all_of_it_is_compiled() -> None:
    """What stood behind the break is in the same graph then; nothing is lost that a graph is seen to hold."""
    before = broken(2, "fgh", "fgh")
    assert compare(before, broken(1, "fgh", "fgh"), EAGER).reason == "graph breaks 2 → 1; frames compiled 3 → 3"
    assert compare(before, broken(0, "f", "fgh"), EAGER).better
    assert "g is no longer compiled" in compare(before, broken(0, "f", "fh"), EAGER).reason
    assert not compare(before, before, EAGER).better


def test_results_are_the_same_to_the_precision_of_their_dtype() -> None:
    def tensor(value: float, dtype: str) -> list[Any]:
        return [{"returned": {"dtype": dtype, "shape": [1], "values": [value]}}]

    assert same_values(tensor(1.0, "torch.float32"), tensor(1.00001, "torch.float32"))
    assert not same_values(tensor(1.0, "torch.float32"), tensor(1.005, "torch.float32"))
    assert same_values(tensor(1.0, "torch.float16"), tensor(1.005, "torch.float16"))
    assert same_text("loss 0.8000000953 at 3", "loss 0.8 at 3")
    assert not same_text("loss 0.8 at 3", "loss 0.9 at 3")
    assert same_text("2026-11-22 10:00:01 /tmp/a/t.py: 1 passed in 3.21s", "2026-11-23 9:07 /x/t.py: 1 passed in 4 s")
    assert not same_text("1 passed in 3.21s", "2 passed in 3.21s")
    assert not same_text("loss 0.8", "error 0.8")
