"""The table of operators and modes, its legend, and the lines under it."""

from __future__ import annotations

import dataclasses

from codemod.probe.answers import Answer, Report
from codemod.probe.matrix import cause_lines, matrix_lines, matrix_markdown, regression_lines, totals
from codemod.probe.subjects import MODES, Cell, Regression, Subject
from codemod.probe.trace import Frame

PLACE = Frame("/x/site-packages/torch/a.py", 3, "f", "if n == 2:")
GUARD = Cell("guards", guards=12)


def report(**cells: Cell) -> Report:
    """A report of two operators: `mul`, which passes, and one that is as `cells` say."""
    well = Subject("mul", dict.fromkeys(MODES, Cell("passes")))
    asking = Subject("nn.functional.nll_loss", {mode: cells.get(mode, Cell("passes")) for mode in MODES})
    return Report("2.13.0", (), (), (well, asking), ("it has no trace",))


def guard(function: str, text: str = "x.size(0) == 2", place: Frame | None = PLACE) -> Answer:
    return Answer("guard", text, "torch", place, None, function)


def test_the_table_fits_and_only_has_what_asks_for_something() -> None:
    lines = matrix_lines(report(forward=GUARD, vmap=Cell(""), spec=Cell(""), out=Cell("throws")), [], False)
    header, row = lines[:2]
    assert header.split() == [mode for mode in MODES if mode not in ("vmap", "spec")]
    assert row.split() == ["nn.functional.nll_loss", "guard", "12", "ok", "ok", "throws", "ok", "ok", "ok"]
    assert max(map(len, lines)) <= 80
    assert not any(line.startswith("mul ") for line in lines)
    assert "guard N    passes, for sizes that satisfy so many conditions" in lines
    assert not any(line.startswith(("crash", "vmap", "spec")) for line in lines)
    assert lines[-2] == "torch 2.13.0 cannot tell all: it has no trace"
    assert lines[-1] == "2 operators over torch 2.13.0: 1 with something to see"
    everything = matrix_lines(report(forward=GUARD, vmap=Cell("")), [], True)
    assert everything[2].split()[2:7] == ["12", "ok", "ok", "ok", "-"]
    assert any(line.startswith("mul ") for line in everything)


def test_nothing_to_see_is_one_line() -> None:
    lines = matrix_lines(dataclasses.replace(report(), cannot=()), [], False)
    assert lines == ["2 operators over torch 2.13.0: all pass in every mode that they have"]


def test_a_line_is_named_once_with_all_that_it_caused() -> None:
    answers = [guard("add out"), guard("mul out"), guard("mul out", "x.size(1) == 2"), guard("mul vmap", "a", None)]
    assert cause_lines(answers) == [
        "guard: only sizes that satisfy it are served by what was compiled",
        "  torch/a.py:3 in f: if n == 2:  [torch]",
        "      x.size(0) == 2: add out, mul out",
        "      x.size(1) == 2: mul out",
        "  [torch]",
        "      a: mul vmap",
        "",
    ]
    many = cause_lines([guard(f"op{number} out") for number in range(9)])
    assert many[2].endswith("op5 out and 3 more")
    conditions = cause_lines([guard("op out", f"x.size({number}) == 2") for number in range(9)])
    assert conditions[-2] == "      3 conditions more, of op out"


def test_what_is_worse_says_how() -> None:
    regression = Regression("add", "out", Cell("guards", guards=1), Cell("throws", "no\x1b[2Jkernel"))
    assert regression_lines([regression]) == ["add out  guard 1 → throws  no\\x1b[2Jkernel"]


def test_markdown_has_both_tables() -> None:
    lines = list(matrix_markdown(report(out=Cell("throws")), [guard("nn.functional.nll_loss out")]))
    assert "| operator | forward | backward | inplace | out | vmap | unbacked | sizes | spec | fake |" in lines
    assert "| `nn.functional.nll_loss` | ok | ok | ok | throws | ok | ok | ok | ok | ok |" in lines
    assert "- torch 2.13.0 cannot tell all: it has no trace" in lines
    assert "| guard | `x.size(0) == 2` | `nn.functional.nll_loss out` | `a.py:3` | torch |" in lines


def test_operators_and_modules_are_counted_apart() -> None:
    names = ("mul", "mylib::scale", "mylib.models:tiny")
    both = [Subject(name, dict.fromkeys(MODES, Cell("passes"))) for name in names]
    rest = " over torch 2.13.0: all pass in every mode that they have"
    assert totals(Report("2.13.0", (), (), tuple(both))) == f"2 operators and 1 module{rest}"
    assert totals(Report("2.13.0", (), (), tuple(both[2:]))) == f"1 module{rest}"
    assert totals(Report("2.13.0", (), (), ())) == f"0 operators{rest}"
