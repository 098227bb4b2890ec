"""Where a program declares what it knows of its unknown sizes."""

from __future__ import annotations

import pytest

from codemod.fix.declared import declaring_edits, said_of
from codemod.fix.trial import Call
from codemod.model.edits import apply_edits
from codemod.probe.declaring import Declaration

EQUAL = Declaration("shape_id", ("a.size(0)", "kwargs['b'].size(1)"))
LEAST, MOST = Declaration("min", ("a.size(0)",), 2), Declaration("max", ("a.size(0)",), 9)
MARKS = "mark_unbacked(x, 0)\n    torch._dynamo.decorators.mark_unbacked(y, 1)"


def declare(
    marks: str, *declared: Declaration, call: str = "f(x, b=y)", parameters: tuple[str, ...] = ("a",)
) -> str | None:
    """The marks of a function that calls `f(a, …)` with all of it declared; None where one cannot be."""
    source = f"def g(x, y):\n    {marks}\n    {call}\n".encode()
    at = Call(("f.py", 1, "f"), "p.py", 3 + marks.count("\n"), -1, (0, 0))
    every = [declaring_edits("p.py", source, at, parameters, each) for each in declared]
    if not all(every):
        return None
    text = apply_edits(source, [edit for edits in every for edit in edits]).decode()
    return text.removeprefix("def g(x, y):\n    ").removesuffix(f"\n    {call}\n")


@pytest.mark.parametrize(
    ("marks", "declared", "new"),
    [
        (MARKS, EQUAL, MARKS.replace(")", ', shape_id="a.size(0)")')),
        ("mark_unbacked(x, 0, shape_id='n')\n    mark_unbacked(y, 1,)", EQUAL,
         "mark_unbacked(x, 0, shape_id='n')\n    mark_unbacked(y, 1, shape_id='n',)"),
        ("mark_unbacked(y, 0)\n    " + MARKS, LEAST,
         "mark_unbacked(y, 0)\n    " + MARKS.replace("x, 0", "x, 0, min=2")),
        ("mark_unbacked(x, 1)\n    mark_unbacked(x, 0, strict=True)", MOST,
         "mark_unbacked(x, 1)\n    mark_unbacked(x, 0, strict=True, max=9)"),
        ("mark_unbacked(x, 0, )", MOST, "mark_unbacked(x, 0, max=9)"),
    ],
)  # fmt: skip
def test_the_programs_own_marks_say_it(marks: str, declared: Declaration, new: str) -> None:
    assert declare(marks, declared) == new


@pytest.mark.parametrize(
    ("size", "call", "parameters", "new"),
    [
        ("xs[1].size(0)", "f(x, y)", ("*xs",), "mark_unbacked(x, 0)\n    mark_unbacked(y, 0, min=3)"),
        ("xs[0].size(0)", "f(x, y)", ("a", "*xs"), "mark_unbacked(x, 0)\n    mark_unbacked(y, 0, min=3)"),
        ("xs[0].size(0)", "f(*x, y)", ("*xs",), None),
        ("xs[2].size(0)", "f(x, y)", ("*xs",), None),
        ("pair[0].size(0)", "f(x, y)", ("pair", "b"), None),
        ("xs[0][0].size(0)", "f(x, y)", ("*xs",), None),
    ],
)
def test_arguments_behind_others_are_those_of_args(
    size: str, call: str, parameters: tuple[str, ...], new: str | None
) -> None:
    declared = Declaration("min", (size,), 3)
    assert declare("mark_unbacked(x, 0)\n    mark_unbacked(y, 0)", declared, call=call, parameters=parameters) == new


def test_several_things_can_be_said_of_one_size() -> None:
    new = 'mark_unbacked(x, 0, min=2, shape_id="a.size(0)", max=9)\n    mark_unbacked(y, 1, shape_id="a.size(0)")'
    assert declare("mark_unbacked(x, 0)\n    mark_unbacked(y, 1)", EQUAL, LEAST, MOST) == new
    assert declare("mark_unbacked(x, 0)", MOST, LEAST) == "mark_unbacked(x, 0, min=2, max=9)"


@pytest.mark.parametrize(
    "marks",
    [
        "mark_unbacked(x, 0)",
        "mark_unbacked(x, 0)\n    mark_dynamic(y, 1)",
        "mark_unbacked(x, [0, 1])\n    mark_unbacked(y, 1)",
        "mark_unbacked(x, d)\n    mark_unbacked(y, 1)",
        "mark_unbacked(x, 0)\n    mark_unbacked(x, 0)\n    mark_unbacked(y, 1)",
        "mark_unbacked(x, (0))\n    mark_unbacked(y, 1)",
        "mark_unbacked(x, 0, **more)\n    mark_unbacked(y, 1)",
        "mark_unbacked(x, 0, shape_id='n')\n    mark_unbacked(y, 1, shape_id='m')",
        "def h(): mark_unbacked(x, 0)\n    mark_unbacked(y, 1)",
    ],
)
def test_what_no_mark_of_its_own_can_say_is_left(marks: str) -> None:
    assert declare(marks, EQUAL) is None


@pytest.mark.parametrize("call", ["f(*x, b=y)", "f(x[0], b=y)", "f(x, **y)", "f(x, b=y); f(x, b=y)"])
def test_what_is_given_has_to_be_a_variable(call: str) -> None:
    assert declare(MARKS, EQUAL, call=call) is None


@pytest.mark.parametrize("call", ["f(x, b=y)", "f(*x, **y)"])
@pytest.mark.parametrize(
    ("head", "mark", "tied"),
    [
        ("for each in (x, y):", "mark_unbacked(each, 0)", True),
        ("for name, each in y.items():", "mark_unbacked(each, 0)", True),
        ("for name, each in y.items():", "mark_unbacked(name, 1)", False),
        ("for each in (x, y):", "mark_unbacked(other, 0)", False),
        ("for each in (x, y):", "mark_unbacked(each, 0); mark_unbacked(each, 0)", False),
    ],
)
def test_a_loop_marks_all_that_it_goes_over(call: str, head: str, mark: str, tied: bool) -> None:
    equal = Declaration("shape_id", ("a.size(0)", "kwargs['b'].size(0)"))
    new = f'{head}\n        {mark[:-1]}, shape_id="a.size(0)")' if tied else None
    assert declare(f"{head}\n        {mark}", equal, call=call) == new


def test_what_is_said_already_stays() -> None:
    assert declare("mark_unbacked(x, 0, min=1)", LEAST) is None
    assert declare(MARKS, Declaration("min", ("rows[0].size(0)",), 2)) is None


def test_it_is_said_in_words() -> None:
    assert said_of(EQUAL) == "a.size(0) and b.size(1) are declared equal (shape_id of mark_unbacked)"
    assert said_of(LEAST) == "a.size(0) is declared at least 2 (min of mark_unbacked)"
    assert said_of(MOST) == "a.size(0) is declared at most 9 (max of mark_unbacked)"
