"""Findings of recordings as lines for a person to read: places, messages, edits as diffs, source around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from typing import Any

from corpus_findings import PLACE, Decision, Finding
from corpus_recording import TreeRecording
from rich.text import Text

CONTEXT = 6
"""The lines of source that are shown before and after a finding."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def heading(finding: Finding) -> Text:
    """`path:line:column  level rule  function  [operators]`."""
    text = Text(_visible(f"{finding['path']}:{finding['line']}:{finding['column']}"), style="bold")
    operators = ", ".join(finding["operators"])
    rest = f"  {finding['level']} {finding['rule']}  {finding['function']}" + (f"  [{operators}]" if operators else "")
    return text.append(_visible(rest), style="not bold")


def show_finding(finding: Finding, recording: TreeRecording, context: int = 0) -> Iterator[Text]:
    """A finding: its place, so many lines of source around it, its message and reason, and its edits as a diff."""
    yield heading(finding)
    yield from _source(recording.source(finding["path"]), finding, context)
    yield Text(_visible(f"  {finding['message']}"))
    if finding["reason"]:
        yield Text(_visible(f"  left alone, {finding['refusal']}: {finding['reason']}"), style="yellow")
    yield from _indented(_edits_diff(None, finding, recording))


def show_decision(decision: Decision, before: TreeRecording, after: TreeRecording, context: int = 0) -> Iterator[Text]:
    """A decision that differs: the finding where it is in one recording only, else each field as it was and is."""
    if decision.before is None or decision.after is None:
        yield from show_finding(decision.finding, before if decision.after is None else after, context)
        return
    yield heading(decision.after)
    yield from _source(after.source(decision.after["path"]), decision.after, context)
    if "message" not in decision.fields:
        yield Text(_visible(f"  {decision.after['message']}"))
    for field in decision.fields:
        if field == "edits":
            yield Text("  edits: what they make of the source, before and after", style="dim")
            yield from _indented(_edits_diff(decision.before, decision.after, after))
        else:
            yield from _indented(_field_diff(field, decision.before, decision.after))


def _source(source: bytes, finding: Finding, context: int) -> Iterator[Text]:
    if not context:
        return
    lines = source.decode("utf-8", "replace").split("\n")
    line = finding["line"]
    for number in range(max(1, line - context), min(len(lines), line + context) + 1):
        mark = ">" if number == line else " "
        yield Text(_visible(f"  {mark}{number:6} {lines[number - 1]}"), style="" if number == line else "dim")


def _edits_diff(before: Finding | None, after: Finding, recording: TreeRecording) -> Iterator[str]:
    """A diff of what the edits of `before` (none: the source) and those of `after` make of the files they change."""
    edits = [*(before["edits"] if before else ()), *after["edits"]]
    for path in sorted({edit["path"] for edit in edits}):
        source = recording.source(path)
        old, new = (_lines(_edited(source, finding, path)) for finding in (before, after))
        for line in list(unified_diff(old, new, n=1, lineterm=""))[2:]:
            yield f"@@ {path} {line.split('@@')[1].strip()} @@" if line.startswith("@@") else line


def _edited(source: bytes, finding: Finding | None, path: str) -> bytes:
    """`source` with the edits of a finding applied; of two that overlap the later is left out."""
    parts: list[bytes] = []
    at = 0
    edits = (finding or {"edits": ()})["edits"]
    for edit in sorted((edit for edit in edits if edit["path"] == path), key=lambda edit: (edit["start"], edit["end"])):
        if edit["start"] >= at:
            parts += (source[at : edit["start"]], edit["new"].encode("utf-8", "surrogateescape"))
            at = edit["end"]
    return b"".join([*parts, source[at:]])


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").split("\n")


def _field_diff(field: str, before: Finding, after: Finding) -> list[str]:
    """One field as it was and as it is: on one line where both are short, else as a diff of their lines."""
    if field == "place":
        return [f"place: {_place(before)} → {_place(after)}"]
    old, new = _words(before.get(field)), _words(after.get(field))
    if len(old) <= 1 and len(new) <= 1 and sum(map(len, (*old, *new))) < 80:
        return [f"{field}: {''.join(old) or 'none'} → {''.join(new) or 'none'}"]
    return [f"{field}:", *(line for line in list(unified_diff(old, new, n=0, lineterm=""))[2:] if line[0] in "+-")]


def _place(finding: Finding) -> str:
    return "{}:{}, bytes {} to {}".format(*(finding[key] for key in PLACE))


def _words(value: Any) -> list[str]:
    """The lines of a field: of a list one for each entry."""
    if isinstance(value, list):
        steps = [entry if isinstance(entry, dict) and "text" in entry else None for entry in value]
        return [
            f"{step['path']}:{step['line']}: {step['text']}" if step else str(entry)
            for step, entry in zip(steps, value, strict=True)
        ]
    return [] if value in (None, "") else [str(value)]


def _indented(lines: Sequence[str] | Iterator[str]) -> Iterator[Text]:
    for line in lines:
        yield Text(_visible(f"    {line}"), style=_STYLES.get(line[:1], ""))


def _visible(text: str) -> str:
    """`text` with its control characters escaped, and what stands for a byte that is no UTF-8 as ?."""
    escaped = _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text.replace("\t", "    "))
    return escaped.encode("utf-8", "replace").decode()
