"""The report of `probe` as text and as Markdown."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from codemod.borders.quoting import code, markdown
from codemod.probe.answers import KINDS, Answer, Report
from codemod.probe.places import COMPILED, TORCH
from codemod.probe.trace import Frame
from codemod.reporting.report import plural
from codemod.terminal import one_line, style, visible

_STYLES = {"error": "red", "wrong": "red", "refused": "red", "break": "yellow", "specialized": "red",
           "recompiled": "yellow", "guard": "yellow", "assumed": "yellow", "fake": "red", "assert": "dim",
           "unrelated": "dim"}  # fmt: skip
_WIDTH = max(map(len, KINDS)) + 2
_MOST_TEXTS = 3
"""Answers of one line that are shown."""
_MOST_GUARDS = 3
"""Lines of torch that guard what one line of the program calls, as far as they are shown."""
_MOST_COSTS = 5
_COSTS = ("error", "wrong", "refused", "break", "recompiled")
"""The kinds that were seen to cost something; the others may, in other sizes."""
_SCREEN = 40
"""Lines after which what costs most is said once more, where the reader is: at the end."""


def text_lines(report: Report, answers: Sequence[Answer], everything: bool) -> list[str]:
    """The answers under the function that they are about, a legend of the kinds that were met, and totals.

    Without `everything`, of the guards that torch adds for one line of a program the first few stand there. A report
    of more than a screen ends with what costs most.
    """
    lines: list[str] = []
    counts = {compilation.label: compilation.count for compilation in report.compilations}
    shown = [answer for answer in answers if everything or answer.asks]
    for function in dict.fromkeys([*counts, *(answer.function for answer in shown)]):
        own = [answer for answer in shown if answer.function == function]
        if not own and counts.get(function, 0) < 2:
            continue
        times = f"  compiled {_times(counts[function])}" if function in counts else ""
        lines += [style(visible(function) or "outside of compiled functions", "bold") + times]
        lines += _function_lines(_alike(own), everything)
        lines.append("")
    met = [kind for kind in KINDS if any(answer.kind == kind for answer in shown)]
    lines += [f"{style(kind.ljust(_WIDTH), _STYLES[kind])}{KINDS[kind]}" for kind in met]
    lines += [""] if met else []
    kept = sum(answer.kept for answer in answers)
    if kept and not everything:
        about = f"{plural(kept, 'more answer')} about numbers that objects keep, as the rate of a dropout"
        lines.append(style(f"{about}: none of them changed; --all shows them", "dim"))
    if not everything:
        lines += _unrelated_lines(answers)
    if len(lines) > _SCREEN:
        lines += _cost_lines(shown)
    return [*lines, *unsaid_lines(report), totals(report, shown)]


def _unrelated_lines(answers: Sequence[Answer]) -> list[str]:
    """Where the graph breaks for other reasons than sizes, in one line: it explains the functions that begin there."""
    places = {answer.place: f"{visible(short_path(answer.place.path))}:{answer.place.line}"
              for answer in answers if answer.kind == "unrelated" and answer.place is not None}  # fmt: skip
    if not places:
        return []
    named = ", ".join([*places.values()][:_MOST_TEXTS]) + (", …" if len(places) > _MOST_TEXTS else "")
    what = f"{plural(len(places), 'more line')} {'breaks' if len(places) == 1 else 'break'} the graph"
    return [style(f"{what} for other reasons than sizes: {named}; --all shows why", "dim")]


def unsaid_lines(report: Report) -> list[str]:
    """What the torch of a report cannot tell."""
    return [f"torch {visible(report.torch)} cannot tell all: {one_line(sentence)}" for sentence in report.cannot]


def totals(report: Report, shown: Sequence[Answer]) -> str:
    """One line: what was compiled, and what of it asks for something."""
    compiled = sum(compilation.count for compilation in report.compilations)
    torch = f" over torch {visible(report.torch)}" if report.torch else ""
    functions = f"{plural(len(report.compilations), 'function')} compiled {_times(compiled)}{torch}; "
    answers = plural(sum(answer.asks for answer in shown), "answer")
    fixable = sum(bool(answer.command) for answer in shown)
    return (
        (functions if report.compilations else "")
        + answers
        + (f", {fixable} with a change that symfix can make" if fixable else "")
    )


def _alike(answers: Iterable[Answer]) -> Iterable[list[Answer]]:
    """`answers`, those that say the same of one line but for the text together, as of the layers of a model."""
    groups: dict[Answer, list[Answer]] = {}
    for answer in answers:
        groups.setdefault(replace(answer, text="", count=1), []).append(answer)
    return groups.values()


def _function_lines(groups: Iterable[Sequence[Answer]], everything: bool) -> Iterable[str]:
    """The answers about one function; without `everything`, the guards of torch for a line are cut after a few."""
    of_torch: dict[Frame, list[Sequence[Answer]]] = {}
    for alike in groups:
        answer = alike[0]
        plain = answer.kind == "guard" and answer.owner in (TORCH, COMPILED) and not (answer.finding or answer.command)
        if answer.user is None or not plain or everything:
            yield from _answer_lines(alike)
            continue
        together = of_torch.setdefault(answer.user, [])
        together.append(alike)
        if len(together) <= _MOST_GUARDS:
            yield from _answer_lines(alike)
    for line, together in of_torch.items():
        hidden = len(together) - _MOST_GUARDS
        if hidden > 0:
            more = f"{plural(hidden, 'more line')} of torch for {place_text(replace(line, text=''))}; --all shows them"
            yield f"  {style('guard'.ljust(_WIDTH), _STYLES['guard'])}{style(more, 'dim')}"


def _cost_lines(shown: Sequence[Answer]) -> list[str]:
    """What failed or was compiled again, whatever function it is about, that of most compilations first."""
    counted: dict[Answer, int] = {}
    for answer in (answer for answer in shown if answer.kind in _COSTS):
        plain = replace(answer, function="", count=1)
        counted[plain] = counted.get(plain, 0) + answer.count
    most = sorted(counted, key=lambda answer: (_COSTS.index(answer.kind), -counted[answer]))
    if not most:
        return []
    lines = ["", style("begin with", "bold")]
    for answer in most[:_MOST_COSTS]:
        lines += _answer_lines([replace(answer, count=counted[answer])])
    more = len(most) - _MOST_COSTS
    return [*lines, *([style(f"  and {more:,} more of these kinds above", "dim")] if more > 0 else []), ""]


def _answer_lines(alike: Sequence[Answer]) -> list[str]:
    answer = alike[0]
    indent = " " * (_WIDTH + 2)
    heads = [style(answer.kind.ljust(_WIDTH), _STYLES[answer.kind]), *[" " * _WIDTH] * _MOST_TEXTS]
    lines = [
        f"  {head}{one_line(each.text)}" + (style(f"  ({_times(each.count)})", "dim") if each.count > 1 else "")
        for head, each in zip(heads, alike[:_MOST_TEXTS], strict=False)
    ]
    more = len(alike) - _MOST_TEXTS
    lines += [f"{indent}{style(f'and {more:,} more at this line; --format json has all', 'dim')}"] if more > 0 else []
    if answer.place is not None:
        lines.append(f"{indent}{place_text(answer.place)}  {style(f'[{visible(answer.whose)}]', 'dim')}")
    elif answer.owner:
        lines.append(f"{indent}{style(f'[{visible(answer.whose)}]', 'dim')}")
    if answer.user is not None:
        lines.append(f"{indent}from {place_text(answer.user)}")
    lines += [f"{indent}{style(one_line(text), 'cyan')}" for text in (answer.advice, answer.finding) if text]
    lines += [f"{indent}{style(visible(answer.command), 'cyan', 'bold')}"] if answer.command else []
    return lines


def place_text(frame: Frame) -> str:
    """The line, as a report names it: file, number, function and source."""
    source = f": {one_line(frame.text)}" if frame.text else ""
    function = f" in {visible(frame.function)}" if frame.function else ""
    return f"{visible(short_path(frame.path))}:{frame.line}{function}{source}"


def short_path(path: str) -> str:
    """`path` from the working directory where it lies below, from the package's folder where it is installed."""
    _, packages, rest = path.rpartition("-packages/")
    if packages:
        return rest
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return path if relative.startswith("..") else relative


def markdown_lines(report: Report, answers: Sequence[Answer]) -> Iterable[str]:
    """The answers that ask for something as a table of Markdown."""
    yield f"### symfix probe: {markdown(totals(report, answers))}"
    yield ""
    yield "| function | kind | what | where | whose | change |"
    yield "|---|---|---|---|---|---|"
    for answer in answers:
        if answer.asks:
            frame = answer.place
            where = code(f"{Path(frame.path).name}:{frame.line}") if frame else ""
            change = code(answer.command) if answer.command else markdown(answer.finding or answer.advice)
            cells = (code(answer.function), answer.kind, code(answer.text), where, markdown(answer.whose), change)
            yield f"| {' | '.join(cells)} |"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
