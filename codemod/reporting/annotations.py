"""What a GitHub workflow shows: annotations on the lines of a change, and a summary of the job.

The commands and how they are escaped are those of "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePath

from codemod.model.findings import Finding, Level
from codemod.model.groups import make_groups, order
from codemod.reporting.report import finding_lines, operator_counts, plural, refusal_counts, totals
from codemod.terminal import one_line, visible
from codemod.tree.sources import Sources
from codemod.tree.touched import Touched

SHOWN = 10
"""GitHub shows this many annotations of each kind for a step, and drops the rest without a word."""

_KINDS = {Level.SAFE: "error", Level.REVIEW: "warning", Level.MANUAL: "notice"}
_TITLES = {Level.SAFE: "symfix apply fixes it", Level.REVIEW: "can be fixed, for review", Level.MANUAL: "left alone"}
_MOST_ROWS = 50


def annotate(findings: Sequence[Finding], sources: Sources, prefix: str, touched: Touched | None) -> list[str]:
    """Lines for the log of a workflow: a command for each finding that GitHub shows, the others as text.

    Of each kind, those on `touched` lines come first, and of them those of different groups.
    `prefix` leads from the workspace to the checkout.
    """
    place: dict[Finding, tuple[bool, int]] = {}
    for group in make_groups(findings):
        ranked = sorted(group.findings, key=lambda f: touched is not None and not touched.holds(f))
        place.update((f, (touched is not None and not touched.holds(f), rank)) for rank, f in enumerate(ranked))
    commands: list[str] = []
    rest: list[Finding] = []
    for level in Level:
        ranked = sorted((f for f in findings if f.level == level), key=lambda f: (place[f], order(f)))
        commands += (_command(finding, sources, prefix) for finding in ranked[:SHOWN])
        rest += ranked[SHOWN:]
    if not rest:
        return commands
    left = f"{plural(len(rest), 'finding')} more: GitHub shows {SHOWN} annotations of each kind for a step"
    # The mark keeps a file's name from being read as a command.
    return [*commands, left, *(f"- {line}" for line in finding_lines(sorted(rest, key=order)))]


def summary(findings: Sequence[Finding], files: int, suppressed: int) -> str:
    """The same as a Markdown page for $GITHUB_STEP_SUMMARY: sums, the operators, and why places are left alone."""
    lines = ["### symfix", "", *totals(findings, files, suppressed)]
    ranked = operator_counts(findings)
    if ranked:
        lines += ["", "| operator | safe | review | manual | for example at |", "|---|--:|--:|--:|---|"]
    for name, counts, example in ranked[:_MOST_ROWS]:
        cells = [_code(name), *(str(counts[level] or "") for level in Level), _code(f"{example.path}:{example.line}")]
        lines.append(f"| {' | '.join(cells)} |")
    if len(ranked) > _MOST_ROWS:
        lines += ["", f"… and {len(ranked) - _MOST_ROWS} more operators"]
    refused = refusal_counts(findings)
    if refused:
        lines += ["", "| left alone | times | for example |", "|---|--:|---|"]
    for code, count, example in refused:
        reason = one_line(example.reason or example.message)
        lines.append(f"| {code} | {count} | {_text(reason)} {_code(f'{example.path}:{example.line}')} |")
    return "\n".join(lines) + "\n\n"


def workspace_prefix(root: PurePath) -> str:
    """What leads from $GITHUB_WORKSPACE, to which annotations are relative, to `root`; "" where it is the same."""
    workspace = os.environ.get("GITHUB_WORKSPACE", "")
    if not workspace:
        return ""
    way = os.path.relpath(root, os.path.realpath(workspace))
    return "" if way == "." or way.startswith("..") else way + "/"


def _command(finding: Finding, sources: Sources, prefix: str) -> str:
    (line, column), (last, stop) = (sources.point(finding.path, at) for at in (finding.start, finding.end))
    properties = {"file": prefix + finding.path, "line": line, "endLine": last}
    if line == last:
        properties |= {"col": column, "endColumn": stop}
    properties["title"] = f"{finding.rule}: {_TITLES[finding.level]}"
    message = one_line(finding.message)
    if finding.reason:
        message += f"\n{one_line(finding.reason)}"
    if finding.reach:
        step = finding.reach[-1]
        message += f"\nA symbolic tensor arrives: {one_line(step.text)} ({step.path}:{step.line})"
    told = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{_KINDS[finding.level]} {told}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _text(text: str) -> str:
    """`text` in a table of Markdown, as it reads."""
    for mark in "\\`*_[]<>|":
        text = text.replace(mark, f"&#{ord(mark)};")
    return text


def _code(text: str) -> str:
    return f"<code>{_text(visible(text))}</code>"
