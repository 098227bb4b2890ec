"""What `symfix fix` prints: the steps of one operator, and the table of several."""

from __future__ import annotations

import shlex
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence

from codemod.bundle.description import Description
from codemod.bundle.observed import piece
from codemod.fix.landing import Landing
from codemod.model.findings import Finding
from codemod.model.xfails import describe_check
from codemod.planning.naming import matches_operator
from codemod.prove.evidence import Evidence, describe_opcheck
from codemod.prove.table import verdict_text
from codemod.reporting.report import plural
from codemod.terminal import listed, one_line, shorten, style, visible, width

_LABEL = 11
_FEWEST_LINES, _AROUND = 12, 22
"""Lines of a diff that are always shown, and lines that the other steps take."""
_MOST_CHECKS = 3
_COLOURS = {
    "cured": "green", "worse": "red", "blocked": "yellow", "left alone": "yellow", "not cured": "yellow",
    "not provable": "yellow", "not reproduced": "yellow", "nothing found": "dim",
}  # fmt: skip


def step(label: str, text: str, kept: bool = False) -> list[str]:
    """The lines of one step: its label, and what came of it; `kept` says that nothing had to be done."""
    wrapped = textwrap.wrap(one_line(text) + (" (kept)" if kept else ""), max(30, width() - _LABEL - 2)) or [""]
    head, *rest = wrapped
    return [f"  {style(f'{label:{_LABEL}}', 'bold')}{head}", *(f"  {'':{_LABEL}}{line}" for line in rest)]


def heading(name: str, findings: Sequence[Finding], globs: Sequence[str]) -> str:
    """The line that an operator begins with: what was asked for, and the names that findings have for it."""
    names = dict.fromkeys(name for finding in findings for name in finding.operators)
    operators = [operator for operator in names if operator != name]
    meant = [operator for operator in operators if any(matches_operator(glob, operator) for glob in globs)]
    return style(visible(name), "bold", "cyan") + style(f"  {listed(meant, most=3)}" if meant else "", "dim")


def reproduced(evidence: Sequence[Evidence], torch: str) -> list[str]:
    """How the failure shows before the change."""
    lines = []
    for entry in evidence:
        if entry.before is None:
            continue
        message = next(iter(entry.before.message.splitlines()), "")
        failed = entry.before.status != "passes"
        said = f": {message}" if failed and message else ""
        if not failed and entry.before.fails_unbacked:
            said = f", and {entry.before.unbacked} with unbacked sizes" + (f": {message}" if message else "")
        elif not failed and entry.before.frames > 1:
            said = f", compiled {entry.before.frames} times over its sizes"
        shown = f"{entry.operator}{piece(entry)} {verdict_text(entry.before)}"
        lines += step("reproduce", f"{shown} over torch {torch}{said}")
    return lines


def proved(evidence: Sequence[Evidence], reused: bool) -> list[str]:
    """What the change makes of it."""
    lines = []
    for entry in evidence:
        if entry.before is not None and entry.after is not None:
            counts = entry.before.frames, entry.after.frames
            passes = entry.before.status == entry.after.status == "passes"
            unbacked = entry.before.unbacked, entry.after.unbacked
            ends = f"{entry.before.status} → {entry.after.status}"
            if passes and counts[0] != counts[1]:
                ends = f"compiled {counts[0]} → {counts[1]} times"
            elif passes and all(unbacked) and unbacked[0] != unbacked[1]:
                ends = f"with unbacked sizes {unbacked[0]} → {unbacked[1]}"
            text = f"{entry.operator}{piece(entry)} {entry.outcome}: {ends}"
        else:
            text = f"{entry.operator} {entry.outcome}: {entry.reason}"
        lines += step("prove", text, reused)
        mended = [name for name, (old, new) in entry.opcheck.items() if new == "passes" != old]
        lines += step("", f"{', '.join(map(describe_opcheck, mended))}: fails → passes") if mended else []
        for check in entry.cured_checks[:_MOST_CHECKS]:
            lines += step("", f"{describe_check(check)}: fails → passes")
        more = len(entry.cured_checks) - _MOST_CHECKS
        lines += step("", f"and {plural(more, 'other check')}: fails → passes") if more > 0 else []
    return lines


def planned(diff: Sequence[str], whole: bool) -> list[str]:
    """The change, cut to what fits a screen unless `whole`, so that what goes before and after it is seen too."""
    room = max(_FEWEST_LINES, shutil.get_terminal_size().lines - _AROUND)
    shown = list(diff) if whole or len(diff) <= room else list(diff[:room])
    left = len(diff) - len(shown)
    return [*shown, *([style(f"… and {plural(left, 'more line')}: symfix diff shows all", "dim")] if left else [])]


def beside(description: Description) -> str:
    """What lands beside the change: expected failures that go, and tests."""
    removed, tests = description.follow_up.removed, description.follow_up.tests
    parts = []
    if removed:
        titles = ", ".join(dict.fromkeys(entry.title for entry in removed))
        parts.append(f"{plural(len(removed), 'expected failure')} removed: {titles}")
    if tests:
        parts.append(f"{plural(len(tests), 'test')} added: {', '.join(tests)}")
    return "; ".join(parts) or "no expected failure goes, and no test fits"


def stopped(landing: Landing) -> list[str]:
    """Why nothing lands, and what a person would do."""
    lines = step("stopped", f"{landing.state}: {landing.because}")
    if landing.findings:
        return [*lines, *step("next", f"{shlex.join(['symfix', 'scan', '--op', landing.name])} explains every site")]
    return lines


def summary(landings: Sequence[Landing], branches: Mapping[str, str]) -> list[str]:
    """The table of several operators: what became of each, and where it is; cut to the columns of a terminal alone."""
    names = max(len("operator"), *(len(visible(landing.name)) for landing in landings))
    states = max(len("outcome"), *(len(landing.state) for landing in landings))
    room = max(20, width() - names - states - 4) if sys.stdout.isatty() else sys.maxsize
    lines = [style(f"{'operator':{names}}  {'outcome':{states}}  branch, or what stops it", "bold")]
    for landing in landings:
        where = branches.get(landing.name, "") or landing.because or "not committed"
        state = style(f"{landing.state:{states}}", _COLOURS[landing.state])
        lines.append(f"{visible(landing.name):{names}}  {state}  {shorten(one_line(where), room)}")
    cured = sum(landing.state == "cured" for landing in landings)
    return [*lines, "", f"{cured} of {plural(len(landings), 'operator')} cured"]
