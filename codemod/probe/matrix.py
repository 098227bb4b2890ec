"""The report about operators: a table of operators and modes, its legend, and the lines that caused what is in it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from codemod.borders.quoting import code, markdown
from codemod.probe.answers import KINDS, Answer, Report
from codemod.probe.report import place_text, unsaid_lines
from codemod.probe.subjects import MODES, STATUSES, Cell, Regression, Subject, modes_met
from codemod.reporting.report import plural
from codemod.terminal import and_more, one_line, shorten, style, visible, width

_STYLES = {"crashes": "red", "hangs": "red", "wrong": "red", "throws": "red", "refuses": "red", "recompiles": "yellow",
           "guards": "yellow", "passes": "green", "no inputs": "dim", "": "dim"}  # fmt: skip
_NAMED = 6
"""How many operators are named at a line that several have to do with."""
_WHOLE = frozenset({"error", "wrong", "refused", "fake"})
"""Kinds of which nothing is left out."""
_LEAST = 20


def matrix_lines(report: Report, answers: Sequence[Answer], everything: bool) -> list[str]:
    """The table of the operators that ask for something, or of all; its legend; the causing lines; the totals."""
    shown = [subject for subject in report.subjects if everything or subject.asks]
    lines = [*_table(shown), *([""] if shown else [])]
    lines += [*_legend(shown), *([""] if shown else [])]
    lines += cause_lines([answer for answer in answers if everything or answer.asks])
    return [*lines, *unsaid_lines(report), totals(report)]


def totals(report: Report) -> str:
    """One line: how many operators were asked, and in how many something is to be done."""
    count = len(report.subjects)
    asking = sum(subject.asks for subject in report.subjects)
    rest = f"{asking} with something to see" if asking else "all pass in every mode that they have"
    modules = sum(":" in subject.name and "::" not in subject.name for subject in report.subjects)
    operators = [plural(count - modules, "operator")] if count > modules or not modules else []
    subjects = " and ".join([*operators, *([plural(modules, "module")] if modules else [])])
    return f"{subjects} over torch {visible(report.torch)}: {rest}"


def regression_lines(regressions: Sequence[Regression]) -> list[str]:
    """A line for each mode that passed and does not."""
    return [
        f"{style(f'{r.subject} {r.mode}', 'bold')}  {r.before.short} → "
        f"{style(r.after.short, _STYLES[r.after.status])}  {one_line(r.after.message)}".rstrip()
        for r in regressions
    ]


def cause_lines(answers: Sequence[Answer]) -> list[str]:
    """Each line that caused something, with what it did and to which operators; the kinds in their order."""
    by_cause: dict[tuple[str, str, str], list[Answer]] = {}
    for answer in answers:
        place = place_text(answer.place) if answer.place is not None and answer.place.path else ""
        by_cause.setdefault((answer.kind, place or answer.whose, answer.native or answer.argument), []).append(answer)
    ranks = list(KINDS)
    ordered = sorted(by_cause.items(), key=lambda item: (ranks.index(item[0][0]), -len(item[1]), item[0]))
    lines: list[str] = []
    for kind in KINDS:
        own = [(key, group) for key, group in ordered if key[0] == kind]
        if own:
            lines.append(f"{style(kind, 'bold')}: {KINDS[kind]}")
            for (_, place, _), group in own:
                lines += _group_lines(place, group)
            lines.append("")
    return lines


def _group_lines(place: str, group: Sequence[Answer]) -> Iterator[str]:
    owner = next((answer.whose for answer in group if answer.owner), "")
    if place and place != owner:
        yield f"  {place}  {style(f'[{visible(owner)}]', 'dim')}"
    else:
        yield f"  {style(f'[{visible(owner)}]', 'dim') if owner else 'no line of the program is named'}"
    about: dict[str, list[str]] = {}
    for answer in group:
        about.setdefault(answer.text, []).append(answer.function)
    shown = len(about) if group[0].kind in _WHOLE else _NAMED
    for text, functions in list(about.items())[:shown]:
        rest = list(dict.fromkeys(map(visible, functions)))
        yield f"      {one_line(text)}: {', '.join(rest[:_NAMED])}{and_more(len(rest) - _NAMED)}"
    if len(about) > shown:
        rest = sorted({visible(answer.function) for answer in group if answer.text in list(about)[shown:]})
        named = f"{', '.join(rest[:_NAMED])}{and_more(len(rest) - _NAMED)}"
        yield f"      {plural(len(about) - shown, 'condition')} more, of {named}"
    first = next((answer for answer in group if answer.finding or answer.advice), None)
    if first is not None:
        yield from (f"      {style(one_line(text), 'cyan')}" for text in (first.advice, first.finding) if text)
        yield from [f"      {style(visible(first.command), 'cyan', 'bold')}"] if first.command else []


def _table(subjects: Sequence[Subject]) -> Iterator[str]:
    """The rows; names are cut where a terminal has not the columns, and whole elsewhere."""
    if not subjects:
        return
    modes = modes_met(subjects)
    rows = [[subject.modes.get(mode, Cell()) for mode in modes] for subject in subjects]
    widths = [max(len(mode), *(len(row[number].short) for row in rows)) for number, mode in enumerate(modes)]
    longest = max(len(visible(subject.name)) for subject in subjects)
    if sys.stdout.isatty():
        longest = min(longest, max(_LEAST, width() - sum(widths) - len(widths) - 1))
    yield f"{'':{longest}} {' '.join(map(str.ljust, modes, widths))}".rstrip()
    for subject, row in zip(subjects, rows, strict=True):
        cells = [style(cell.short.ljust(wide), _STYLES[cell.status]) for cell, wide in zip(row, widths, strict=True)]
        yield f"{shorten(visible(subject.name), longest):{longest}} {' '.join(cells)}".rstrip()


def _legend(subjects: Sequence[Subject]) -> Iterator[str]:
    met = {cell.status for subject in subjects for cell in subject.modes.values()}
    if subjects:
        yield from (f"{mode:10} {MODES[mode]}" for mode in modes_met(subjects))
        yield from (f"{short + (' N' if name == 'guards' else ''):10} {meaning}"
                    for name, (short, meaning) in STATUSES.items() if name in met)  # fmt: skip


def matrix_markdown(report: Report, answers: Sequence[Answer]) -> Iterator[str]:
    """The operators that ask for something as a table of Markdown, and the lines that caused it as another."""
    yield f"### symfix probe: {markdown(totals(report))}"
    yield ""
    modes = modes_met(report.subjects)
    yield f"| operator | {' | '.join(modes)} |"
    yield f"|---|{'---|' * len(modes)}"
    for subject in report.subjects:
        if subject.asks:
            cells = " | ".join(markdown(subject.modes.get(mode, Cell()).short) for mode in modes)
            yield f"| {code(subject.name)} | {cells} |"
    yield ""
    for line in unsaid_lines(report):
        yield f"- {markdown(line)}"
    yield ""
    yield "| kind | what | operator and mode | where | whose |"
    yield "|---|---|---|---|---|"
    for answer in answers:
        if answer.asks:
            frame = answer.place if answer.place is not None and answer.place.path else None
            where = code(f"{Path(frame.path).name}:{frame.line}") if frame else ""
            fields = (answer.kind, code(answer.text), code(answer.function), where, markdown(answer.whose))
            yield f"| {' | '.join(fields)} |"
