"""The report of a program as text."""

from __future__ import annotations

from codemod.probe.answers import Answer, Report
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
