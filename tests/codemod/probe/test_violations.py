"""Dimensions that are not as dynamic as a program declares them."""

from __future__ import annotations

import pytest

from codemod.probe.answers import Answer
from codemod.probe.script import with_raised
from codemod.probe.trace import Frame
from codemod.probe.violations import is_violation, suggested_fixes, violation

HEAD = 'Traceback (most recent call last):\n  File "/m.py", line 3, in <module>\n'
EQUAL = (
    'torch.E: Constraints violated (b, c)! For more information, run with TORCH_LOGS="+dynamic".\n'
    "  - The values of c = y and b = x must always be equal.\n"
    "  - Not all values of b = x are valid because b was inferred to be a constant (4). Use Dim.AUTO.\n"
    "Suggested fixes:\n  b = Dim('b', max=9)\n  c = b\n\nThe error above occurred when calling torch.export.export.\n"
)
EQUALS = (
    "Constraints violated (b, c): The values of c = y and b = x must always be equal; "
    "Not all values of b = x are valid because b was inferred to be a constant (4)"
)
FIXES = ("b = Dim('b', max=9)", "c = b")
MARKED = (
    "torch.E: Constraints violated (L['q'].size()[1])! For more.\n  - You marked q as dynamic. Do not.\n\nUser stack:\n"
)
LATER = "\nThe above exception was the direct cause of the following exception:\n\n"


@pytest.mark.parametrize(
    ("text", "said", "fixes"),
    [
        (EQUAL, EQUALS, FIXES),
        (HEAD + EQUAL, EQUALS, FIXES),
        (HEAD + EQUAL + LATER + HEAD + "RuntimeError: no export\n", EQUALS, FIXES),
        (HEAD + EQUAL + "went on without\n" + HEAD + "RuntimeError: no data\n", "", ()),  # another error ends it
        ("".join(f"E   {line}\n" for line in EQUAL.splitlines()), EQUALS, FIXES),  # as pytest shows it
        (HEAD + MARKED, "Constraints violated (L['q'].size()[1]): You marked q as dynamic", ()),
        (
            "Specializations unexpectedly required (b)! For more\n  - solving the guards for b gave 0.5.\n",
            "Specializations unexpectedly required (b): solving the guards for b gave 0.5",
            (),
        ),
        ("Suggested fixes were none", "", ()),
    ],
)
def test_what_is_violated_and_what_torch_suggests(text: str, said: str, fixes: tuple[str, ...]) -> None:
    assert (violation(text), suggested_fixes(text)) == (said, fixes)
    assert is_violation(said) is bool(said)


def test_the_error_of_a_trace_without_a_line_has_that_of_the_text_which_ended_the_process() -> None:
    marked = HEAD + MARKED + '  File "/m.py", line 12, in f\n    y = g(x)\n'
    said = "Constraints violated (q.size(1)): You marked q as dynamic"
    (answer,) = with_raised([Answer("error", said, "", None, None, "f (m.py:2)", count=2)], [marked])
    assert (answer.text, answer.function, answer.count) == (said, "f (m.py:2)", 2)
    assert answer.place == Frame("/m.py", 12, "f", "y = g(x)")
    elsewhere = Answer("error", "another", "", None, None, "f (m.py:2)")
    assert len(with_raised([elsewhere], [marked])) == 2


@pytest.mark.parametrize(
    ("traced", "line", "number"),
    [
        ("x.size(0) >= y.size(1) + 64", 7, 1),
        ("u0 >= u1 + 64", 7, 1),
        ("x.size(0) >= y.size(1) + 64", 8, 2),
        ("x.size(0) >= y.size(1) + 6", 7, 2),
        ("x.size(0) + 64", 7, 2),
        ("64 >= x.size(0)", 7, 2),
    ],
)
def test_an_error_that_a_trace_tells_with_arguments_is_told_once(traced: str, line: int, number: int) -> None:
    what = "Could not guard on data-dependent expression "
    place = Frame("/m.py", line, "f", "if n >= 64:")
    answer = Answer("error", f"{what}{traced}", "yours", place, None, "f (m.py:2)")
    text = (
        f"torch._dynamo.exc.UserError: {what}u0 >= u1 + 64 (unhinted: u0 >= u1 + 64).  (Size-like symbols: u0)\n\n"
        'from user code:\n   File "/m.py", line 7, in f\n    if n >= 64:\n'
    )
    answers = with_raised([answer], [text])
    assert (answers[0], len(answers)) == (answer, number)


@pytest.mark.parametrize(("led", "number"), [(12, 1), (13, 2)])
def test_torchs_own_line_need_not_be_the_same(led: int, number: int) -> None:
    what = "Could not guard on data-dependent expression "
    own, user = Frame("/venv/torch/nn/functional.py", 70, "norm"), Frame("/m.py", led, "f", "y = norm(x)")
    answer = Answer("error", f"{what}x.size(0) > 1", "torch", own, user, "f (m.py:2)")
    text = (
        f"UserError: {what}u0 > 1 (unhinted: u0 > 1)\n\nfrom user code:\n"
        '  File "/m.py", line 12, in f\n    y = norm(x)\n'
    )
    assert len(with_raised([answer], [text])) == number
