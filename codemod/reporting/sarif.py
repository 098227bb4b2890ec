"""SARIF 2.1.0, the format in which code scanning and editors take results of static analysis.

The field names and their meaning are those of the OASIS standard of 27 March 2020; what GitHub reads of them, and the
limits it sets, are in its "SARIF support for code scanning".
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from codemod.borders.quoting import json_text, sarif
from codemod.model.edits import Edit, by_path
from codemod.model.findings import Finding, Level, Step
from codemod.model.groups import make_groups, order
from codemod.model.plan import Plan
from codemod.model.transform import Rule
from codemod.reporting.manual import rule_markdown, rule_text
from codemod.terminal import decode, encode, one_line
from codemod.tree.sources import Sources

MOST_RESULTS = 25_000
"""GitHub rejects a run of more results, and shows the first 5,000 by severity."""

MOST_SHARED = 100
"""A fix of more edits stands with the first result of its group alone: in each, it would grow with their square."""

LEVELS = {Level.SAFE: "error", Level.REVIEW: "warning", Level.MANUAL: "note"}
"""What can be fixed at once fails a check, what needs a person warns, what has to stay is noted."""

_ROOT = "%SRCROOT%"
_DOES = "What it does:"


def sarif_log(
    plan: Plan, chosen: Sequence[Finding], rules: Sequence[Rule], sources: Sources, prints: Mapping[Finding, str]
) -> bytes:
    """The document for `chosen`, findings of `plan`: the most urgent first, at most MOST_RESULTS of them.

    `prints` holds their fingerprints; `rules` are all there are.
    """
    by_name = {rule.name: rule for rule in rules}
    names = sorted({finding.rule for finding in chosen})
    places = _Places(sources)
    fixes = _fixes(plan.findings, places)
    results = [
        _result(finding, names.index(finding.rule), places, fixes.get(finding, ()), prints[finding])
        for finding in sorted(chosen, key=lambda finding: (finding.level, order(finding)))[:MOST_RESULTS]
    ]
    described = [_rule(by_name[name]) if name in by_name else {"id": name} for name in names]
    notifications = [{"level": "error", "message": {"text": sarif(failure)}} for failure in plan.failures]
    if len(results) < len(chosen):
        left_out = f"{len(chosen) - len(results)} of {len(chosen)} results are left out: GitHub takes {MOST_RESULTS}"
        notifications.append({"level": "warning", "message": {"text": left_out}})
    identity = "/".join(["symfix", *plan.options.get("paths", ())])
    return sarif_document(plan.symfix, described, results, notifications, identity, sources.root, not plan.failures)


def sarif_document(
    version: str,
    rules: Sequence[Mapping[str, Any]],
    results: Sequence[Mapping[str, Any]],
    notifications: Sequence[Mapping[str, Any]],
    identity: str,
    root: Path,
    successful: bool = True,
) -> bytes:
    """The document of one run of symfix in its `version`; `identity` tells runs of one kind from others."""
    run = {
        "tool": {"driver": {"name": "symfix", "semanticVersion": version, "rules": rules}},
        "automationDetails": {"id": f"{identity}/"},
        "invocations": [{"executionSuccessful": successful, "toolExecutionNotifications": notifications}],
        "originalUriBaseIds": {_ROOT: {"uri": root.as_uri() + "/"}},
        "columnKind": "utf16CodeUnits",
        "results": results,
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    document = {"$schema": schema, "version": "2.1.0", "runs": [run]}
    return json_text(document, indent=1, exact=False).encode("ascii") + b"\n"


def _rule(rule: Rule) -> dict[str, Any]:
    first = inspect.cleandoc(rule.doc).partition("\n")[0]
    return {
        "id": rule.name,
        "shortDescription": {"text": _sentence(first)},
        "fullDescription": {"text": _sentence(description(rule) or first)},
        "help": {"text": rule_text(rule), "markdown": rule_markdown(rule)},
        "defaultConfiguration": {"level": LEVELS[rule.level]},
        "properties": {"tags": ["symbolic-shapes", f"mode-{int(rule.mode)}", rule.level.name.lower()]},
    }


def description(rule: Rule) -> str:
    """What a rule does, as its manual page says: the paragraph that begins so, else the first that is no example."""
    _, _, page = inspect.cleandoc(rule.doc).partition("\n")
    paragraphs = [one_line(part) for part in page.strip("\n").split("\n\n") if part.strip() and part[0] != " "]
    said = (part for part in paragraphs if part.startswith(_DOES))
    text = next(said, next(iter(paragraphs), "")).removeprefix(_DOES).strip()
    return text[:1].upper() + text[1:]


def _result(
    finding: Finding, rule_index: int, places: _Places, fixes: Sequence[Mapping[str, Any]], fingerprint: str
) -> dict[str, Any]:
    message = sarif(f"{finding.message}: {finding.reason}" if finding.reason else finding.message)
    location: dict[str, Any] = {"physicalLocation": places.location(finding.path, finding.start, finding.end)}
    if finding.function:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.function, "kind": "function"}]
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": LEVELS[finding.level],
        "message": {"text": _sentence(message)},
        "locations": [location],
        "partialFingerprints": {"symfix/v1": fingerprint, "primaryLocationLineHash": f"{fingerprint}:1"},
        "properties": {
            "mode": int(finding.mode),
            "level": finding.level.name.lower(),
            "refusal": finding.refusal,
            "operators": list(finding.operators),
            "group": finding.group,
        },
    }
    if finding.reach or finding.flow:
        here = {"location": {**location, "message": {"text": message}}, "importance": "essential"}
        reach, flow = ([_flow_location(step) for step in steps] for steps in (finding.reach, finding.flow))
        result["codeFlows"] = [
            {
                "message": {"text": "How a symbolic tensor arrives, and where the value goes."},
                "threadFlows": [{"locations": [*reach, here, *flow]}],
            }
        ]
    if fixes:
        result["fixes"] = fixes
    return result


def _flow_location(step: Step) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": artifact(step.path)}
    if step.line:
        physical["region"] = {"startLine": step.line}
    return {"location": {"physicalLocation": physical, "message": {"text": sarif(step.text)}}}


def _fixes(findings: Sequence[Finding], places: _Places) -> dict[Finding, list[dict[str, Any]]]:
    """The fix of each finding: all the edits of its group, for half of them would not compile.

    None where an edit writes bytes that are no text.
    """
    fixes: dict[Finding, list[dict[str, Any]]] = {}
    for group in make_groups(findings):
        edits = group.edits
        if not edits or not all(map(_is_text, edits)):
            continue
        count = len(group.findings)
        text = "Make the value symbolic" if count == 1 else f"Make the value symbolic, with all {count} places it needs"
        changes = [
            {
                "artifactLocation": artifact(path),
                "replacements": [places.replacement(edit) for edit in in_file],
            }
            for path, in_file in by_path(edits).items()
        ]
        fix = [{"description": {"text": _sentence(text)}, "artifactChanges": changes}]
        holders = group.findings if len(edits) <= MOST_SHARED else group.findings[:1]
        fixes.update((finding, fix) for finding in holders)
    return fixes


class _Places:
    """Where bytes stand, in lines and UTF-16 code units from 1, as SARIF counts."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def location(self, path: str, start: int, end: int) -> dict[str, Any]:
        """The bytes [start, end) of a file as a physicalLocation."""
        region = {**self._region(path, start, end), "snippet": {"text": decode(self._sources.of(path)[start:end])}}
        return {"artifactLocation": artifact(path), "region": region}

    def replacement(self, edit: Edit) -> dict[str, Any]:
        """An edit as a replacement."""
        return {
            "deletedRegion": self._region(edit.path, edit.start, edit.end),
            "insertedContent": {"text": decode(edit.new)},
        }

    def _region(self, path: str, start: int, end: int) -> dict[str, int]:
        (first, column), (last, stop) = self._sources.point(path, start), self._sources.point(path, end)
        return {"startLine": first, "startColumn": column, "endLine": last, "endColumn": stop}


def _is_text(edit: Edit) -> bool:
    try:
        edit.new.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def artifact(path: str) -> dict[str, str]:
    """A file of the tree, by its path below the root."""
    return {"uri": quote(encode(path)), "uriBaseId": _ROOT}


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…")) else text + "."
