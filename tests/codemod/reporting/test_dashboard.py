"""The dashboard of `scan`."""

from __future__ import annotations

import sys
from collections import Counter

import pytest

from codemod.model.findings import Finding, Level, Mode, Step
from codemod.reporting.dashboard import heading, operator_table, operators, room


def finding(operator: str, mode: Mode = Mode.DIRECT_THROW, level: Level = Level.SAFE, key: str = "", line: int = 1,
            path: str = "a.cc") -> Finding:  # fmt: skip
    reach = (Step("a.cc", 1, f"{operator} is registered for {key}"),) if key else ()
    return Finding(path, 0, 1, line, 1, mode, "r", level, "f", (operator,), "m", reach=reach)


def names(findings: list[Finding], sort: str = "impact", seen: dict[str, str] | None = None) -> list[str]:
    return [operator.name for operator in operators(findings, (), seen, sort)]


def test_what_throws_at_users_comes_first() -> None:
    findings = [
        finding("aten::guards", Mode.PYTHON_BRANCH), finding("aten::guards", Mode.LEAK),
        finding("aten::_private"), finding("aten::_private"), finding("aten::_private"),
        *(finding("aten::batched", key="FuncTorchBatched", line=n) for n in range(9)),
        finding("aten::meta", key="Meta"), finding("aten::iterates", Mode.TENSOR_ITERATOR), finding("aten::iterates"),
    ]  # fmt: skip
    assert names(findings) == ["iterates", "meta", "_private", "batched", "guards"]
    assert names(findings, seen={"meta": "cured"})[0] == "meta"
    assert names(findings, "findings") == ["batched", "_private", "guards", "iterates", "meta"]
    assert names(findings, "name") == ["_private", "batched", "guards", "iterates", "meta"]


def test_the_heading_counts_what_the_table_shows() -> None:
    findings = [
        finding("aten::safe"), finding("aten::safe", Mode.LEAK), finding("aten::review", level=Level.REVIEW),
        finding("aten::partly"), finding("aten::partly", level=Level.MANUAL),
        finding("aten::none", Mode.LEAK, Level.MANUAL),
    ]  # fmt: skip
    listed = operators(findings, (), {"safe": "cured", "review": "unchanged"})
    assert heading(listed) == "4 operators: 3 throw, 1 guard; fixable 2, partly 1, not 1; cured 1"
    assert operator_table(listed, 0)[:5] == [
        "operator  throws  guards  fix     seen       for example at",
        "safe           1       1  safe    cured      a.cc:1",
        "partly         2       ·  partly  ·          a.cc:1",
        "review         1       ·  review  unchanged  a.cc:1",
        "none           ·       1  none    ·          a.cc:1",
    ]
    counts = Counter(operator.fix for operator in listed)
    assert counts == {"safe": 1, "review": 1, "partly": 1, "none": 1}


def test_the_example_throws_where_anything_does() -> None:
    [operator] = operators([finding("aten::add", Mode.LEAK, line=3), finding("aten::add", line=7)])
    assert operator.example.line == 7


def test_a_terminal_is_filled_and_not_more(monkeypatch: pytest.MonkeyPatch) -> None:
    path = "aten/src/ATen/native/quite/a/long/way/down/AndAnAbsurdlyLongFileNameThatFillsTheLine.cpp"
    listed = operators([finding(f"aten::an_operator_with_quite_a_long_name_{n}", path=path) for n in range(99)])
    whole = operator_table(listed, room(20))
    assert len([line for line in whole if line.startswith("an_operator")]) == 99  # what is no terminal gets all of it
    assert all(path in line for line in whole[1:100])
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "40")
    lines = operator_table(listed, room(18))
    assert len(lines) + 18 + 1 <= 40
    assert max(map(len, lines)) <= 80
    assert "… and 83 more operators: --all, or symfix scan | less" in lines


def test_names_and_paths_give_no_orders_to_a_terminal() -> None:
    assert "\x1b" not in "".join(operator_table(operators([finding("aten::a\x1b[2Jdd", path="\x1b[2J.cc")]), 0))


def test_nothing_found_is_no_table() -> None:
    assert operator_table([], 0) == []
