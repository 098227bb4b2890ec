"""What `scan` prints: findings a line each, operators by level, refusals by reason; and the same as CSV."""

from __future__ import annotations

import csv
import functools
import io
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence

from codemod.borders.quoting import cell
from codemod.model.findings import Finding, Level
from codemod.planning.naming import base_name, matches_operator
from codemod.terminal import one_line, shorten, style, table, visible, width, without_command

LEVEL_STYLES = {Level.SAFE: "green", Level.REVIEW: "yellow", Level.MANUAL: "red"}
"""The colour of each level, as `rich` and `codemod.terminal.style` name it."""

_MOST_REMARKS = 10
_LONGEST_REMARK = 3
"""Lines that a remark takes at most."""
_COLUMNS = (
    "path", "line", "column", "level", "mode", "rule", "refusal", "function", "operators", "message", "reason", "group"
)  # fmt: skip


def level_name(level: Level) -> str:
    """The level as options spell it, in its colour."""
    return style(level.name.lower(), LEVEL_STYLES[level])


def finding_lines(findings: Iterable[Finding]) -> list[str]:
    """One line for each finding, `path:line:column: level rule: message`, as editors and CI logs read it."""
    return [
        f"{visible(f.path)}:{f.line}:{f.column}: {level_name(f.level)} {style(f.rule, 'bold')}: {one_line(f.message)}"
        + (style(f" [{f.refusal}: {one_line(f.reason)}]", "dim") if f.refusal else "")
        for f in findings
    ]


def operator_findings(findings: Iterable[Finding], ops: Sequence[str] = ()) -> dict[str, list[Finding]]:
    """The findings of each operator (of `ops`; overloads together), by its name."""
    listed = list(findings)
    globs = _asked(listed, ops)
    own: dict[str, list[Finding]] = {}
    for finding in listed:
        for name in _names(finding.operators, globs):
            own.setdefault(name, []).append(finding)
    return own


def operator_counts(findings: Iterable[Finding], ops: Sequence[str] = ()) -> list[tuple[str, Counter[Level], Finding]]:
    """Each operator (of `ops`; overloads together) with its findings by level and one of them, most affected first.

    The one is the first that the fewest other operators share, for it says most about this one.
    """
    own = operator_findings(findings, ops)
    ranked = sorted(own, key=lambda name: (-len(own[name]), name))
    return [
        (name, Counter(f.level for f in own[name]), min(own[name], key=lambda f: len(f.operators))) for name in ranked
    ]


@functools.cache
def _names(operators: tuple[str, ...], ops: tuple[str, ...]) -> frozenset[str]:
    matching = (name for name in operators if not ops or any(matches_operator(glob, name) for glob in ops))
    return frozenset(map(base_name, matching))


def _asked(findings: Iterable[Finding], ops: Sequence[str]) -> tuple[str, ...]:
    """`ops`, where one of them is an operator of `findings`; else a shard was asked for, which all of them are in."""
    return tuple(ops) if any(_names(finding.operators, tuple(ops)) for finding in findings) else ()


def refusal_counts(findings: Iterable[Finding]) -> list[tuple[str, int, Finding]]:
    """Each reason why places are left alone, with how many and the first of them, most frequent first."""
    counts: Counter[str] = Counter()
    first: dict[str, Finding] = {}
    for finding in findings:
        if finding.refusal:
            counts[finding.refusal] += 1
            first.setdefault(finding.refusal, finding)
    return [(code, counts[code], first[code]) for code in sorted(counts, key=lambda code: (-counts[code], code))]


def refusal_table(findings: Iterable[Finding], most: int = 0) -> list[str]:
    """The refusals by reason with their counts, most frequent first, with an example; `most` of them, 0 for all."""
    ranked = refusal_counts(findings)
    if not ranked:
        return []
    shown = ranked[:most] if most else ranked
    room = width() - max(len(code) for code, _, _ in shown) - len(str(ranked[0][1])) - 6
    rows = [("  " + code, str(count), _example(first, room)) for code, count, first in shown]
    left = len(ranked) - len(shown)
    more = [style(f"  … and {plural(left, 'more reason')}", "dim")] if left else []
    return [style("left alone, by reason", "bold"), *table(rows, right=(1,)), *more]


def _example(finding: Finding, columns: int) -> str:
    place = f"{finding.path.rpartition('/')[2]}:{finding.line}"
    return shorten(one_line(f"{finding.reason or finding.message} ({place})"), columns)


def totals(findings: Sequence[Finding], files: int, suppressed: int, ops: Sequence[str] = ()) -> list[str]:
    """Two lines of sums; `files` is how many were looked at."""
    counts = Counter(finding.level for finding in findings)
    globs = _asked(findings, ops)
    operators = frozenset[str]().union(*(_names(finding.operators, globs) for finding in findings))
    touched = len({finding.path for finding in findings})
    where = f"in {plural(len(operators), 'operator')} and {touched:,} of {plural(files, 'file')}"
    levels = ", ".join(f"{counts[level]:,} {level_name(level)}" for level in Level)
    tail = f"; {plural(suppressed, 'finding')} suppressed" if suppressed else ""
    return [f"{plural(len(findings), 'finding')} {where}", levels + tail]


def remark_lines(remarks: Sequence[str]) -> list[str]:
    """What a plan remarks about its tree, the first of it, each in a few lines of the width."""
    shape = textwrap.TextWrapper(width(), subsequent_indent="  ", max_lines=_LONGEST_REMARK, placeholder=" …")
    lines = [line for remark in remarks[:_MOST_REMARKS] for line in shape.wrap(one_line(remark))]
    if len(remarks) > _MOST_REMARKS:
        lines.append(style(f"… and {len(remarks) - _MOST_REMARKS:,} more lines (--format json has all)", "dim"))
    return lines


def findings_csv(findings: Iterable[Finding]) -> str:
    """One row for each finding, on one line; several operators are separated by spaces."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for f in findings:
        special = {"level": f.level.name.lower(), "mode": int(f.mode), "operators": " ".join(f.operators)}
        values = (special.get(name, getattr(f, name)) for name in _COLUMNS)
        writer.writerow([cell(value) if isinstance(value, str) else value for value in values])
    return "".join(map(without_command, out.getvalue().splitlines(keepends=True)))


def plural(count: int, noun: str, many: str = "") -> str:
    """`1 file`, `1,975 files`; `many` is the plural of a noun that takes no s."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"
