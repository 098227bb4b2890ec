"""The guards for which exported programs refuse their inputs."""

from __future__ import annotations

import pytest

from codemod.fix.candidates import places_of
from codemod.fix.trial import Trial
from codemod.probe.answers import Answer, Report
from codemod.probe.refused import is_refused, with_refused
from codemod.probe.trace import Frame

HEAD = 'Traceback (most recent call last):\n  File "/m.py", line 38, in <module>\n    got = module(x)\n'


def raised(guard: str) -> str:
    return f"{HEAD}AssertionError: Guard failed: {guard}\n"


@pytest.mark.parametrize(
    ("text", "guard"),
    [
        ("2*((x.size(2)//4)) - 1 == 23", "-1 + 2 * (x.size()[2] // 4) == 23"),
        ("x.size(1) == 3", "x.size()[1] == 3"),
        ("3 < x.size(1)", "x.size()[1] > 3"),
        ("ToFloat(floor(IntTrueDiv(x.size(1), 4))) != IntTrueDiv(x.size(1), 4)",
         "torch.sym_float(math.floor(x.size()[1] / 4)) != x.size()[1] / 4"),
        ("Mod(x.size(0), y.size(1)) == 0", "x.size()[0] % y.size()[1] == 0"),
    ],
)  # fmt: skip
def test_the_guard_is_found_however_it_is_written(text: str, guard: str) -> None:
    (answer,) = with_refused([Answer("guard", text, "", None, None, "")], [raised(guard)])
    assert is_refused(answer)


@pytest.mark.parametrize(
    ("kind", "text", "written"),
    [
        ("guard", "x.size(1) == 4", raised("x.size()[1] == 3")),
        ("guard", "x.size(1) != 3", raised("x.size()[1] == 3")),
        ("guard", "x.size(0) == 3", raised("x.size()[1] == 3")),
        ("guard", "y.size(1) == 3", raised("x.size()[1] == 3")),
        ("recompiled", "x.size(1) == 3", raised("x.size()[1] == 3")),
        ("guard", "x.size(1) == 3", f"{HEAD}AssertionError: x.size()[1] == 3\n"),
        ("guard", "x.size(1) == 3", raised("x.size()[1] == 3") + HEAD + "RuntimeError: no data\n"),  # that was caught
    ],
)
def test_others_are_left(kind: str, text: str, written: str) -> None:
    answer = Answer(kind, text, "", None, None, "", advice="as it was")
    assert with_refused([answer], [written]) == [answer]


def test_where_it_was_made_is_named_first() -> None:
    first, made = Frame("/m.py", 8, "f"), Frame("/m.py", 12, "f")
    answers = [
        Answer("guard", "x.size(0) >= 4", "", first, None, ""),
        Answer("guard", "x.size(0) == 2*x.size(1)", "", made, None, ""),
    ]
    refused = tuple(with_refused(answers, [raised("x.size()[0] == 2 * x.size()[1]")]))
    assert places_of(Trial(1, "", "", (), (), Report("", (), refused))) == [made, first]
    assert places_of(Trial(1, "", "", (), (), Report("", (), tuple(answers)))) == [first, made]
