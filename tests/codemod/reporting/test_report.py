from __future__ import annotations

import pytest

from codemod.model.findings import Finding, Level, Mode
from codemod.reporting.report import (
    finding_lines,
    findings_csv,
    operator_counts,
    refusal_table,
    remark_lines,
    totals,
)
from codemod.terminal import shorten, shorten_path


def finding(line: int, *operators: str, level: Level = Level.SAFE, refusal: str = "", path: str = "a.cc") -> Finding:
    reason = f"because {line}" if refusal else ""
    return Finding(
        path, 0, 1, line, 1, Mode.LEAK, "r", level, "f", operators, "two\n  lines", reason=reason, refusal=refusal
    )


def test_a_finding_takes_one_line_whatever_it_quotes() -> None:
    found = finding(7, level=Level.MANUAL, refusal="stored")
    assert finding_lines([found]) == ["a.cc:7:1: manual r: two lines [stored: because 7]"]


def test_names_and_source_give_no_orders_to_a_terminal() -> None:
    found = finding(7, level=Level.MANUAL, path="a\n::error::\x1b[2Jb ü.cc")
    assert finding_lines([found])[0].startswith("a\\n::error::\\x1b[2Jb ü.cc:7:1: ")


def test_overloads_are_counted_together_and_the_most_specific_site_is_the_example() -> None:
    findings = [finding(1, "aten::add.out", "aten::mul"), finding(2, "aten::add.Tensor", "aten::add.out")]
    ranked = [(name, counts.total(), example.line) for name, counts, example in operator_counts(findings)]
    assert ranked == [("add", 2, 1), ("mul", 1, 1)]
    assert [name for name, _, _ in operator_counts(findings, ("m*",))] == ["mul"]
    findings.append(finding(3, "aten::add.Tensor"))
    assert operator_counts(findings)[0][2].line == 3


def test_remarks_are_a_line_each_and_the_first_of_many() -> None:
    assert remark_lines(()) == []
    assert remark_lines(["a\x1b[2J\n b"]) == ["a\\x1b[2J b"]
    lines = remark_lines([f"line {n}" for n in range(1_012)])
    assert (len(lines), lines[9], lines[10]) == (11, "line 9", "… and 1,002 more lines (--format json has all)")


def test_a_long_remark_is_broken_and_at_last_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    long = "none is installed, and no requirement names one, so that it is written for the newest (--torch VERSION)"
    assert remark_lines([long, "b"]) == [
        long[:80].rpartition(" ")[0],
        f"  {long[:80].rpartition(' ')[2]}{long[80:]}",
        "b",
    ]
    lines = remark_lines(["word " * 100])
    assert (len(lines), lines[2][-6:]) == (3, "word …")
    assert all(len(line) <= 80 for line in lines)


def test_a_long_table_says_how_much_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    refusals = refusal_table([finding(n, level=Level.MANUAL, refusal=f"reason-{n % 3}") for n in range(40)])
    assert [line.split()[:2] for line in refusals[1:]] == [["reason-0", "14"], ["reason-1", "13"], ["reason-2", "13"]]
    assert all(len(line) <= 80 for line in refusals)
    assert refusal_table([finding(n, refusal=f"reason-{n}") for n in range(9)], most=2)[-1] == "  … and 7 more reasons"


def test_nothing_found_is_no_table() -> None:
    assert refusal_table([]) == []
    assert totals([], 1234, 0) == ["0 findings in 0 operators and 0 of 1,234 files", "0 safe, 0 review, 0 manual"]
    assert totals([finding(1)], 1, 2)[1] == "1 safe, 0 review, 0 manual; 2 findings suppressed"


def test_csv_keeps_what_spans_lines_on_one() -> None:
    assert findings_csv([finding(3, "aten::add", "aten::mul")]).splitlines()[1:] == [
        "a.cc,3,1,safe,4,r,,f,aten::add aten::mul,two\\n  lines,,"
    ]


def test_shortened_text_fits() -> None:
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abcde…"
    assert shorten_path("a/b/c.cc:1", 8) == "…/c.cc:1"
    assert shorten_path("a/b/c.cc:1", 10) == "a/b/c.cc:1"
    assert shorten_path("a/abcdefgh.cc", 6) == "…gh.cc"
