"""What a GitHub workflow shows: annotations on the lines of a change, and a summary of the job."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePath

from codemod.borders.quoting import code, markdown, workflow_command
from codemod.model.findings import Finding, Level, Mode
from codemod.model.groups import make_groups, order
from codemod.reporting.report import finding_lines, operator_counts, plural, refusal_counts, totals
from codemod.terminal import one_line, unstyled
from codemod.tree.sources import Sources
from codemod.tree.touched import Touched

SHOWN = 10
"""GitHub shows this many annotations of each kind for a step, and drops the rest without a word."""

_KINDS = {Level.SAFE: "error", Level.REVIEW: "warning", Level.MANUAL: "notice"}
_CONSEQUENCES = {
    Mode.DIRECT_THROW: "throws where a size is a symbol",
    Mode.PYTHON_BRANCH: "branches on a size: others compile again",
    Mode.TENSOR_ITERATOR: "throws where a size is a symbol",
    Mode.LEAK: "fixes a size: others compile again",
}
_TITLES = {Level.SAFE: "symfix apply fixes it", Level.REVIEW: "can be fixed, for review", Level.MANUAL: "left alone"}
_MOST_ROWS = 50


def annotate(
    findings: Sequence[Finding], sources: Sources, prefix: str, touched: Touched | None
) -> tuple[list[str], list[str]]:
    """For the log of a workflow a command for each finding that GitHub shows, and the others as lines of text.

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
        return commands, []
    left = f"{plural(len(rest), 'finding')} more: GitHub shows {SHOWN} annotations of each kind for a step"
    return commands, [left, *finding_lines(sorted(rest, key=order))]


def summary(findings: Sequence[Finding], files: int, suppressed: int) -> str:
    """The same as a Markdown page for $GITHUB_STEP_SUMMARY: sums, the operators, and why places are left alone."""
    lines = ["### symfix", "", *map(unstyled, totals(findings, files, suppressed))]
    ranked = operator_counts(findings)
    if ranked:
        lines += ["", "| operator | safe | review | manual | for example at |", "|---|--:|--:|--:|---|"]
    for name, counts, example in ranked[:_MOST_ROWS]:
        cells = [code(name), *(str(counts[level] or "") for level in Level), code(f"{example.path}:{example.line}")]
        lines.append(f"| {' | '.join(cells)} |")
    if len(ranked) > _MOST_ROWS:
        lines += ["", f"… and {len(ranked) - _MOST_ROWS} more operators"]
    refused = refusal_counts(findings)
    if refused:
        lines += ["", "| left alone | times | for example |", "|---|--:|---|"]
    for refusal, count, example in refused:
        reason = markdown(example.reason or example.message)
        lines.append(f"| {markdown(refusal)} | {count} | {reason} {code(f'{example.path}:{example.line}')} |")
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
    properties: dict[str, str | int] = {"file": prefix + finding.path, "line": line, "endLine": last}
    if line == last:
        properties |= {"col": column, "endColumn": stop}
    properties["title"] = f"{_CONSEQUENCES[finding.mode]} ({finding.rule}; {_TITLES[finding.level]})"
    message = [one_line(finding.message)]
    if finding.reason:
        message.append(one_line(finding.reason))
    if finding.reach:
        step = finding.reach[-1]
        message.append(f"A symbolic tensor arrives: {one_line(step.text)} ({step.path}:{step.line})")
    return workflow_command(_KINDS[finding.level], properties, message)
