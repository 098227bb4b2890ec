"""The dashboard of `scan`: totals, the operators that matter most to users first, and what the columns mean."""

from __future__ import annotations

import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codemod.model.findings import Finding, Level, Mode
from codemod.reporting.report import operator_findings, plural
from codemod.terminal import shorten, shorten_path, style, table, visible, width

THROWING = frozenset({Mode.DIRECT_THROW, Mode.TENSOR_ITERATOR})
"""The modes in which a symbol cannot pass; in the others other sizes compile again."""

_FEWEST_ROWS, _FRAME = 5, 4
"""Rows that are always shown; lines of the table that are none: its head, the count of the rest, and empty ones."""
_LEGEND = (
    "throws: calls no symbol passes; guards: places where other sizes compile again",
    "fix: safe, or a reviewer decides, partly, none; seen: what prove saw of it",
)
_OUTCOMES = {"worse": "red", "cured": "green", "unchanged": "", "not provable": ""}
# aten/src/ATen/functorch and c10/core/DispatchKey.h: kernels that run under vmap, grad and the like alone.
_TRANSFORMED = re.compile(r" is registered for (?:FuncTorch|Batched)")


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator of the dashboard: how many findings throw, guard, and are of each level; `example` is one of them.

    `internal` says that users do not call it, or meet all of its findings under a transform such as vmap alone.
    """

    name: str
    throws: int
    guards: int
    levels: Counter[Level]
    example: Finding
    internal: bool
    met: int
    """How many of those that throw are met without a transform."""
    seen: str = ""

    @property
    def fix(self) -> str:
        """What a plan does about it: "safe", "review", "partly" or "none"."""
        if not self.levels[Level.MANUAL]:
            return "review" if self.levels[Level.REVIEW] else "safe"
        return "partly" if self.levels[Level.SAFE] or self.levels[Level.REVIEW] else "none"


_KEYS: dict[str, Callable[[Operator], tuple[Any, ...]]] = {
    "impact": lambda o: (not o.throws, o.internal, o.seen != "cured", -o.met, -o.throws - o.guards, o.name),
    "findings": lambda o: (-o.throws - o.guards, o.name),
    "name": lambda o: (o.name,),
}


def operators(
    findings: Sequence[Finding], ops: Sequence[str] = (), seen: Mapping[str, str] | None = None, sort: str = "impact"
) -> list[Operator]:
    """The operators (those that `ops` match), sorted; `seen` has the outcome of the evidence by name."""
    made = []
    for name, own in operator_findings(findings, ops).items():
        throwing = [finding for finding in own if finding.mode in THROWING]
        met = sum(not _transformed(finding) for finding in throwing)
        internal = name.rpartition("::")[2].startswith("_") or all(map(_transformed, own))
        example = min(own, key=lambda finding: (finding.mode not in THROWING, len(finding.operators)))
        levels = Counter(finding.level for finding in own)
        outcome = (seen or {}).get(name, "")
        made.append(Operator(name, len(throwing), len(own) - len(throwing), levels, example, internal, met, outcome))
    return sorted(made, key=_KEYS[sort])


def _transformed(finding: Finding) -> bool:
    return any(_TRANSFORMED.search(step.text) for step in finding.reach)


def heading(listed: Sequence[Operator]) -> str:
    """The first line: `538 operators: 402 throw, 136 guard; fixable 310, partly 115, not 113; cured 2`."""
    throw = sum(bool(operator.throws) for operator in listed)
    fixes = Counter(operator.fix for operator in listed)
    cured = sum(operator.seen == "cured" for operator in listed)
    line = (
        f"{plural(len(listed), 'operator')}: {throw} throw, {len(listed) - throw} guard;"
        f" fixable {fixes['safe'] + fixes['review']}, partly {fixes['partly']}, not {fixes['none']}"
    )
    return style(line + (f"; cured {cured}" if cured else ""), "bold")


def operator_table(listed: Sequence[Operator], rows: int) -> list[str]:
    """The first `rows` operators (all for 0), on a terminal no wider than that, and the legend."""
    if not listed:
        return []
    shown = listed[:rows] if rows else listed
    fits = sys.stdout.isatty()
    with_seen = any(operator.seen for operator in listed)
    head = ["operator", "throws", "guards", "fix", *(["seen"] if with_seen else [])]
    cells = [
        [visible(o.name), str(o.throws or "·"), str(o.guards or "·"), o.fix, *([o.seen or "·"] if with_seen else [])]
        for o in shown
    ]
    if fits:
        longest = max(16, min(30, width() // 2 - 10))
        cells = [[shorten(name, longest), *rest] for name, *rest in cells]
    taken = sum(max(len(row[column]) for row in [head, *cells]) + 2 for column in range(len(head)))
    lines = table([[*head, "for example at"], *([*row, ""] for row in cells)], right=(1, 2))
    lines = [lines[0], *(_row(o, f"{line:{taken}}", width() - taken if fits else 0)
                         for o, line in zip(shown, lines[1:], strict=True))]  # fmt: skip
    lines[0] = style(lines[0], "bold")
    left = len(listed) - len(shown)
    if left:
        lines.append(style(f"… and {plural(left, 'more operator')}: --all, or symfix scan | less", "dim"))
    return [*lines, *(style(shorten(line, width()) if fits else line, "dim") for line in _LEGEND)]


def _row(operator: Operator, cells: str, columns: int) -> str:
    """A line of the table, whose place takes `columns` (0 for any), with the outcome in its colour."""
    place = visible(f"{operator.example.path}:{operator.example.line}")
    colour = _OUTCOMES.get(operator.seen, "")
    if colour:
        before, outcome, after = cells.rpartition(operator.seen)
        cells = before + style(outcome, colour) + after
    return cells + (shorten_path(place, columns) if columns else place)


def room(others: int) -> int:
    """How many operators fit on the terminal beside `others` lines; 0, which is all of them, where it is none."""
    if not sys.stdout.isatty():
        return 0
    return max(_FEWEST_ROWS, shutil.get_terminal_size().lines - others - _FRAME - len(_LEGEND))
