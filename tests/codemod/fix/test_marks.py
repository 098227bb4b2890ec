"""Lines that mark an argument's size as varying, before the call of a compiled function."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codemod.fix.calls import parameters_of
from codemod.fix.marks import DYNAMIC, UNBACKED, Mark, mark_edits, marks_for
from codemod.fix.trial import Call
from codemod.model.edits import apply_edits
from codemod.probe.answers import Answer

FUNCTION = ("case.py", 3, "f")
MARK = Mark(UNBACKED, "x", 0)


def closing(text: str, column: int) -> int:
    """The column behind the bracket that closes the first one after `column`."""
    depth, place = 0, text.index("(", column)
    while True:
        depth += (text[place] == "(") - (text[place] == ")")
        place += 1
        if not depth:
            return place


def marked(source: str, line: int, column: int = -1, parameters: tuple[str, ...] = ("x", "y")) -> str | None:
    text = source.splitlines()[line - 1]
    end = 0 if column < 0 else closing(text, column)
    edits = mark_edits(
        "case.py", source.encode(), Call(FUNCTION, "case.py", line, column, (line, end)), parameters, MARK
    )
    return apply_edits(source.encode(), edits).decode() if edits else None


def test_what_a_wrapper_is_given_by_name_is_marked_by_that_name() -> None:
    text = "kwargs['images'].size(3) == kwargs['images'].size(2)"
    marks = marks_for(Answer("recompiled", text, "", None, None, "wrapper (generic.py:9)"))
    assert [(mark.argument, mark.dimension) for mark in marks] == [("images", 3), ("images", 2)]
    mismatch = "tensor 'kwargs['images']' size mismatch at index 2. expected 4, actual 6"
    (static, _) = marks_for(Answer("recompiled", mismatch, "", None, None, ""))
    assert (static.function, static.argument, static.dimension) == (DYNAMIC, "images", 2)
    source = b"import torch\nf(images=torch.ones(2))\n"
    call = Call(("generic.py", 9, "forward"), "case.py", 2, 0, (2, 23))
    edits = mark_edits("case.py", source, call, (), marks[0])
    assert apply_edits(source, edits).decode() == (
        f"import torch\nimages = torch.ones(2)\n{UNBACKED}(images, 3)\nf(images=images)\n"
    )
    assert not mark_edits("case.py", b"import torch\nf(torch.ones(2))\n", replace(call, end=(2, 16)), (), marks[0])


@pytest.mark.parametrize(
    ("parameters", "name", "marked"),
    [(("a",), "args[1]", "y"), (("a", "*args"), "args[0]", "y"), (("args",), "args[1]", ""), ((), "args[2]", "")],
)
def test_what_a_wrapper_is_given_by_its_place_is_marked_there(
    parameters: tuple[str, ...], name: str, marked: str
) -> None:
    source, call = b"import torch\nf(x, y)\n", Call(("generic.py", 9, "forward"), "case.py", 2, 0, (2, 7))
    edits = mark_edits("case.py", source, call, parameters, Mark(UNBACKED, name, 1))
    assert apply_edits(source, edits).decode() == (
        f"import torch\n{UNBACKED}({marked}, 1)\nf(x, y)\n" if marked else source.decode()
    )


@pytest.mark.parametrize(
    "statement",
    [
        "print([f(x) for x in xs])",  # any number of times
        "print(a() + f(b()))",  # b() would be called before a()
        "if f(x): pass",  # no statement of its own
        "print(x); print(f(x))",  # no line of its own
        "print(f(*xs))",
        "print((x := g()), f(x))",
        "print(f(y=x))",
        "print(h and f(x))",  # perhaps never
    ],
)
def test_no_line_is_put_where_it_could_do_something_else(statement: str) -> None:
    assert marked(f"import torch\n{statement}\n", 2, statement.index("f(")) is None


@pytest.mark.parametrize(
    ("mark", "written"),
    [
        ("torch._dynamo.mark_dynamic(x, 0)", False),
        ("mark_static(x)", False),
        ("mark_unbacked(x, index=(1, 0))", False),
        ("maybe_mark_dynamic(x, dim)", False),
        ("mark_dynamic(t=x, index=0)", False),
        ("mark_dynamic(x, 1)", True),
        ("mark_dynamic(y, 0)", True),
        ("def other(x):\n        mark_dynamic(x, 0)", True),
    ],
)
def test_a_dimension_that_is_marked_gets_no_contrary_mark(mark: str, written: bool) -> None:
    source = f"import torch\ndef g(x):\n    {mark}\n    f(x)\n"
    assert (marked(source, source.count("\n")) is not None) is written


def test_a_name_is_marked_on_the_line_before() -> None:
    source = "import torch\nfor x in xs:\n\tprint(f(x))\n"
    assert marked(source, 3) is None  # which call it is is not said
    line = "\ttorch._dynamo.decorators.mark_unbacked(x, 0)\n"
    assert marked(source, 3, 7) == f"import torch\nfor x in xs:\n{line}\tprint(f(x))\n"


def test_what_is_no_name_gets_one_that_is_free() -> None:
    source = "import torch\r\nx = 1\r\nprint(f(g(2), y=h()))\r\n"
    expected = (
        "import torch\r\nx = 1\r\nx_ = g(2)\r\ntorch._dynamo.decorators.mark_unbacked(x_, 0)\r\nprint(f(x_, y=h()))\r\n"
    )
    assert marked(source, 3, 6) == expected


def test_a_keyword_is_found_by_the_parameters_name() -> None:
    source = "import torch\nf(y=1, x=x)\n"
    assert marked(source, 2) == "import torch\ntorch._dynamo.decorators.mark_unbacked(x, 0)\nf(y=1, x=x)\n"


def test_parameters_are_those_that_a_call_passes() -> None:
    source = b"@deco\ndef f(a, /, b, *, c): pass\nclass M:\n    def forward(self, x, y=1): pass\n"
    assert parameters_of(source, 1, "f") == ["a", "b"]
    assert parameters_of(source, 4, "forward") == ["x", "y"]
    assert parameters_of(source, 2, "g") == []
    assert parameters_of(b"def f(a, *rest, b): pass\n", 1, "f") == ["a", "*rest"]


def test_answers_name_the_marks_that_may_help() -> None:
    def asked(kind: str, text: str) -> list[Mark]:
        return marks_for(Answer(kind, text, "", None, None, "f"))

    assert asked("guard", "x.size(0) > 5") == []
    assert asked("recompiled", "2 <= x.size(1)") == [Mark(UNBACKED, "x", 1)]
    static = asked("recompiled", "tensor 'x' size mismatch at index 0. expected 3, actual 5")
    assert static == [Mark(DYNAMIC, "x", 0), Mark(UNBACKED, "x", 0)]
    assert asked("specialized", "x.size(0) == y.size(1)") == [Mark(UNBACKED, "x", 0), Mark(UNBACKED, "y", 1)]


def test_a_call_is_told_from_those_on_its_result() -> None:
    line = "torch._dynamo.decorators.mark_unbacked(x, 0)\n"
    assert marked("import torch\nf(x).g(x).h()\n", 2, 0) == f"import torch\n{line}f(x).g(x).h()\n"
    source = "import torch\nprint(f(g(2), 3).sum().item())\n"
    assert marked(source, 2, 6) == f"import torch\nx = g(2)\n{line}print(f(x, 3).sum().item())\n"
