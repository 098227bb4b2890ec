"""The report of `scan --op`: for each site its code, why a symbol arrives, where the value flows, and the rewrite."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from codemod.model.edits import Edit, EditConflict
from codemod.model.findings import Finding, Step
from codemod.model.groups import Group, make_groups
from codemod.reporting.report import level_name, plural
from codemod.terminal import decode, one_line, style, visible, width
from codemod.tree.sources import Sources
from codemod.writing.diff import hunks


def explanation(root: Path, findings: Sequence[Finding], chosen: Iterable[Finding]) -> list[str]:
    """Lines that explain `chosen`, by function; `findings` are all of the plan, for the edits made together.

    A file that has changed or gone since the plan was made is explained without its lines.
    """
    groups = {group.findings[0].group: group for group in make_groups(findings) if group.findings[0].group}
    by_function: dict[tuple[str, str], list[Finding]] = {}
    for finding in chosen:
        by_function.setdefault((finding.path, finding.function), []).append(finding)
    sources = Sources(root)
    lines: list[str] = []
    # First what the fewest operators share, for it says most about those asked for.
    for (path, function), members in sorted(
        by_function.items(), key=lambda item: (len(item[1][0].operators), item[0][0], item[1][0].start)
    ):
        lines += ["", style(function or "(outside any function)", "bold", "cyan") + style(f"  {path}", "dim")]
        shared = members[0].reach if all(finding.reach == members[0].reach for finding in members) else ()
        if shared:
            lines += _reach(shared)
        together = {finding.group for finding in members if finding.edits and finding.group}
        if len(together) == 1:
            lines += _company(groups[together.pop()])
            together.clear()
        for finding in members:
            lines.append("")
            lines += _site(finding, groups, sources, with_reach=not shared)
            if finding.edits and finding.group in together:
                lines += _company(groups[finding.group], indent=6)
    return lines


def _site(finding: Finding, groups: Mapping[str, Group], sources: Sources, with_reach: bool) -> list[str]:
    place = f"{finding.line}:{finding.column}"
    message = style(one_line(finding.message), "bold")
    lines = [f"  {style(place, 'bold')}  {level_name(finding.level)}  {finding.rule}  {message}"]
    text = sources.line(finding)
    if text and not finding.edits:
        lines.append(f"      {visible(text)}")
    if finding.reason:
        label = f"left alone ({finding.refusal}): " if finding.refusal else ""
        lines += _wrapped(one_line(label + finding.reason), 6)
    if with_reach and finding.reach:
        lines += _reach(finding.reach, indent=6)
    if finding.flow:
        lines += _steps("the value flows by", finding.flow, finding.path)
    group = groups.get(finding.group)
    edits = group.edits if group else finding.edits
    return lines + _before_after(sources, finding, edits)


def _company(group: Group, indent: int = 2) -> list[str]:
    """What else is changed with a group's findings; nothing of a group of one."""
    count = len(group.findings)
    files = f" in {plural(len(group.paths), 'file')}" if len(group.paths) > 1 else ""
    pad = " " * indent
    return [style(f"{pad}{count} findings{files} are changed together or not at all", "dim")] if count > 1 else []


def _reach(reach: Sequence[Step], indent: int = 2) -> list[str]:
    pad = " " * indent
    lines = [f"{pad}a symbolic tensor arrives by"]
    for step in reach:
        place = f"{step.path}:{step.line}" if step.line else step.path
        lines.append(f"{pad}  {one_line(step.text)}" + style(f"  {place}", "dim"))
    return lines


def _steps(title: str, steps: Sequence[Step], path: str) -> list[str]:
    lines = [f"      {title}"]
    for step in steps:
        place = str(step.line) if step.path == path else f"{step.path}:{step.line}"
        lines.append(f"        {style(place, 'dim')}  {one_line(step.text)}")
    return lines


def _wrapped(text: str, indent: int) -> list[str]:
    pad = " " * indent
    return textwrap.wrap(text, width(), initial_indent=pad, subsequent_indent=pad, break_long_words=False)


def _before_after(sources: Sources, finding: Finding, edits: Sequence[Edit]) -> list[str]:
    """The changed lines that hold an edit of `finding`, with all of its group's edits applied."""
    lines: list[str] = []
    for path in dict.fromkeys(edit.path for edit in finding.edits):
        source = sources.of(path)
        own = {source.count(b"\n", 0, edit.start) for edit in finding.edits if edit.path == path}
        try:
            changes = hunks(source, (edit for edit in edits if edit.path == path))
        except EditConflict:
            continue
        for hunk in changes:
            touched = range(hunk.start, hunk.start + max(1, len(hunk.old)))
            if own.isdisjoint(touched):
                continue
            if path != finding.path:
                lines.append(style(f"      {path}:{hunk.start + 1}", "dim"))
            # Line for line, a hunk's neighbours can be left to the findings they belong to.
            paired = len(hunk.old) == len(hunk.new)
            keep = [place for place, line in enumerate(touched) if line in own or not paired]
            old, new = (tuple(side[i] for i in keep) if paired else side for side in (hunk.old, hunk.new))
            texts = textwrap.dedent("\n".join(decode(line).rstrip() for line in (*old, *new))).split("\n")
            lines += (style(f"      - {text}", "red") for text in texts[: len(old)])
            lines += (style(f"      + {text}", "green") for text in texts[len(old) : len(old) + len(new)])
    return lines
