"""The report of `probe` as one HTML file, with the looks of the review page.

The matrix is HTML, so that it is there without JavaScript; the answers are data that the script shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codemod.borders.quoting import page, page_text
from codemod.pages.html import self_contained
from codemod.probe import matrix, report
from codemod.probe.answers import KINDS, Answer, Report
from codemod.probe.report import unsaid_lines
from codemod.probe.subjects import MODES, STATUSES, Cell, modes_met

_OUTSIDE = "outside of compiled functions"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the matrix: a short text, a CSS class and a title for each of its columns."""

    name: str
    asks: bool
    cells: Sequence[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Operators and modes, or functions of a program and kinds of answers. `columns` are names with their meaning."""

    noun: str
    columns: Mapping[str, str]
    rows: Sequence[Row]
    legend: Mapping[str, str]


def render(whole: Report, answers: Sequence[Answer]) -> bytes:
    """The page that shows these `answers` of a report, ASCII only; the same bytes for the same input."""
    table = _of_operators(whole) if whole.subjects else _of_program(whole, answers)
    numbers = {row.name: number for number, row in enumerate(table.rows)}
    columns = list(table.columns)
    data = {
        "columns": columns,
        "kinds": KINDS,
        "answers": [_answer(answer, numbers, columns, bool(whole.subjects)) for answer in answers],
        "cells": _cells(whole, numbers, columns),
    }
    shown = Matrix(
        table.noun,
        {page_text(name): meaning for name, meaning in table.columns.items()},
        [Row(page_text(row.name), row.asks, [(s, c, page_text(t)) for s, c, t in row.cells]) for row in table.rows],
        table.legend,
    )
    totals = ". ".join(
        [matrix.totals(whole) if whole.subjects else report.totals(whole, answers), *unsaid_lines(whole)]
    )
    kinds = [kind for kind in KINDS if any(answer.kind == kind for answer in answers)]
    owners = sorted({page_text(answer.owner) for answer in answers if answer.owner})
    return self_contained("codemod.probe.page", ("probe.js",), page(data), matrix=shown, totals=page_text(totals),
                          kinds=kinds, owners=owners)  # fmt: skip


def _of_operators(whole: Report) -> Matrix:
    modes = modes_met(whole.subjects)
    rows = [
        Row(subject.name, subject.asks, [_cell(subject.modes.get(mode, Cell())) for mode in modes])
        for subject in whole.subjects
    ]
    met = {cell.status for subject in whole.subjects for cell in subject.modes.values()}
    legend = {short: meaning for status, (short, meaning) in STATUSES.items() if status in met}
    return Matrix("operator", {mode: MODES[mode] for mode in modes}, rows, legend)


def _cell(cell: Cell) -> tuple[str, str, str]:
    return cell.short, cell.status.replace(" ", "-"), cell.message


def _of_program(whole: Report, answers: Sequence[Answer]) -> Matrix:
    """A row for each function that was compiled or that an answer is about, with how often it met each kind."""
    labels = [compilation.label for compilation in whole.compilations]
    times = {compilation.label: compilation.count for compilation in whole.compilations}
    names = list(dict.fromkeys([*labels, *(answer.function for answer in answers)]))
    kinds = {kind: meaning for kind, meaning in KINDS.items() if any(answer.kind == kind for answer in answers)}
    rows = []
    for name in names:
        own = [answer for answer in answers if answer.function == name]
        counts = {kind: sum(answer.count for answer in own if answer.kind == kind) for kind in kinds}
        cells = [(f"{count:,}" if count else "", _class(kind) if count else "", "") for kind, count in counts.items()]
        asks = any(answer.asks for answer in own) or times.get(name, 0) > 1
        compiled = (f"{times[name]:,}" if name in times else "", "", "")
        rows.append(Row(name or _OUTSIDE, asks, [compiled, *cells]))
    return Matrix("function", {"compiled": "how often it was compiled", **kinds}, rows, {})


def _class(kind: str) -> str:
    """The class of a kind's cells, which has the colour of a status."""
    return {"error": "throws", "wrong": "wrong", "refused": "refuses", "break": "recompiles", "fake": "throws",
            "specialized": "recompiles", "recompiled": "recompiles", "guard": "guards",
            "assumed": "guards"}.get(kind, "passes")  # fmt: skip


def _answer(answer: Answer, rows: Mapping[str, int], columns: Sequence[str], of_operators: bool) -> dict[str, Any]:
    name, _, mode = answer.function.rpartition(" ")
    if not of_operators:
        name, mode = answer.function or _OUTSIDE, answer.kind
    place = report.place_text(answer.place) if answer.place is not None and answer.place.path else ""
    return {
        "row": rows.get(name, -1),
        "column": columns.index(mode) if mode in columns else -1,
        "kind": answer.kind,
        "text": answer.text,
        "owner": answer.owner,
        "whose": answer.whose,
        "place": place,
        "user": report.place_text(answer.user) if answer.user is not None else "",
        "count": answer.count,
        "asks": answer.asks,
        "advice": answer.advice,
        "finding": answer.finding,
        "command": answer.command,
    }


def _cells(whole: Report, rows: Mapping[str, int], columns: Sequence[str]) -> dict[str, Any]:
    """What the deciding case of a mode says, by row and column, where it says anything: its message, its script."""
    return {
        f"{rows[subject.name]} {columns.index(mode)}": {
            "status": cell.status,
            "message": cell.message,
            "script": cell.script,
        }
        for subject in whole.subjects
        for mode, cell in subject.modes.items()
        if mode in columns and (cell.script or cell.message)
    }
