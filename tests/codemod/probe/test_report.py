"""The report of a program as text."""

from __future__ import annotations

from codemod.probe.answers import Answer, Compilation, Report
from codemod.probe.report import text_lines
from codemod.probe.trace import Frame

LINE = Frame("/home/u/norm.py", 3, "norm", "return layer_norm(x)")


def test_what_a_line_asked_of_each_layer_stands_together_cut_after_three() -> None:
    answers = [
        Answer("specialized", f"layers[{n}].eps == 1e-05", "your code", LINE, None, "f (m.py:1)") for n in range(5)
    ]
    lines = text_lines(Report("2.9", (), tuple(answers)), answers, everything=False)
    assert lines[:6] == [
        "f (m.py:1)",
        "  specialized  layers[0].eps == 1e-05",
        "               layers[1].eps == 1e-05",
        "               layers[2].eps == 1e-05",
        "               and 2 more at this line; --format json has all",
        "               /home/u/norm.py:3 in norm: return layer_norm(x)  [your code]",
    ]
    assert lines[-1] == "5 answers"


def _guard(number: int, owner: str = "torch", finding: str = "") -> Answer:
    place = Frame("/x/torch/_refs/__init__.py", number, "reshape", "if a:")
    return Answer("guard", f"x.size(0) > {number}", owner, place, LINE, "f (m.py:1)", finding=finding)


def test_of_the_guards_that_torch_adds_for_one_line_the_first_stand_there() -> None:
    answers = [*map(_guard, range(7)), _guard(8, "flash_attn"), _guard(9, finding="size-branch (review): a branch")]
    report = Report("2.9", (), tuple(answers))
    lines = text_lines(report, answers, everything=False)
    shown = [line.split()[-1] for line in lines if "x.size(0)" in line]
    assert shown == ["0", "1", "2", "8", "9"]
    assert "  guard        4 more lines of torch for /home/u/norm.py:3 in norm; --all shows them" in lines
    assert sum("x.size(0)" in line for line in text_lines(report, answers, everything=True)) == len(answers)


def test_more_than_a_screen_ends_with_what_costs_most() -> None:
    functions = [f"f{n} (m.py:{n})" for n in range(12)]
    again = [Answer("recompiled", "2 <= x.size(0)", "your code", LINE, None, function, 2) for function in functions]
    error = Answer("error", "Could not guard", "your code", LINE, None, functions[3])
    report = Report("2.9", tuple(Compilation(f"f{n}", "m.py", n, 3) for n in range(12)), (*again, error))
    lines = text_lines(report, report.answers, everything=False)
    place = "               /home/u/norm.py:3 in norm: return layer_norm(x)  [your code]"
    assert lines[-8:-1] == [
        "",
        "begin with",
        "  error        Could not guard",
        place,
        "  recompiled   2 <= x.size(0)  (24 times)",
        place,
        "",
    ]
    few = Report("2.9", (), (again[0], error))
    assert "begin with" not in text_lines(few, few.answers, everything=False)


def test_breaks_for_other_reasons_take_one_line_with_their_places() -> None:
    places = [Frame("/home/u/norm.py", line, "norm", "print(x)") for line in range(3, 8)]
    answers = [Answer("unrelated", "a call", "your code", place, None, f"f{place.line}") for place in places]
    lines = text_lines(Report("2.9", (), tuple(answers)), answers, everything=False)
    first = ", ".join(f"/home/u/norm.py:{line}" for line in (3, 4, 5))
    said = f"5 more lines break the graph for other reasons than sizes: {first}, …; --all shows why"
    assert lines == [said, "0 answers"]
    (line, _) = text_lines(Report("2.9", (), (answers[0],)), [answers[0]] * 2, everything=False)
    assert line == "1 more line breaks the graph for other reasons than sizes: /home/u/norm.py:3; --all shows why"
    assert "  unrelated    a call" in text_lines(Report("2.9", (), tuple(answers)), answers, everything=True)
