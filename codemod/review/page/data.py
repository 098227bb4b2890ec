"""The page's data: one JSON document in which strings, lines and steps are stored once and named by number."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from codemod.borders.quoting import page_text
from codemod.bundle.shard_evidence import Ran
from codemod.bundle.shards import Shard
from codemod.model.decisions import Choice, decide, decision_to_json, with_edits
from codemod.model.edits import Edit, EditConflict, by_path
from codemod.model.findings import Finding, Step
from codemod.model.groups import Group
from codemod.model.plan import Plan
from codemod.model.transform import Rule
from codemod.review.editing import Draft
from codemod.review.page.code import Lines
from codemod.writing.diff import Span

FINDING = (
    "path", "line", "column", "mode", "level", "rule", "function", "message", "reason", "refusal", "reach", "flow",
    "operators", "code",
)  # fmt: skip
"""What stands at each place of a finding's list. Text is the number of a string, `reach` and `flow` that of a list of
steps (path, line, text), `operators` that of a list of names, `code` an excerpt where nothing is edited, else 0."""


@dataclass(slots=True)
class _Table:
    """Values that many share, each once."""

    values: list[Any] = field(default_factory=list)
    _index: dict[Any, int] = field(default_factory=dict)

    def add(self, key: Any, value: Any) -> int:
        number = self._index.setdefault(key, len(self._index))
        if number == len(self.values):
            self.values.append(value)
        return number


class _Document:
    def __init__(self, plan: Plan, sources: Mapping[str, bytes], syntax: Mapping[str, Sequence[str]]) -> None:
        self._plan = plan
        self._sources = sources
        self.lines = Lines(sources, syntax)
        self.strings = _Table()
        self.steps = _Table()
        self.operators = _Table()
        self._decided = {decision.id: decision for decision in plan.decisions}

    def text(self, value: str) -> int:
        return self.strings.add(value, value)

    def group(self, group: Group, ran: bool) -> dict[str, Any]:
        """A group: its findings, and where it edits something its id, diffs, what was decided, and whether it ran."""
        edits = bool(group.edits)
        findings = [self._finding(finding, edits) for finding in group.findings]
        entry: dict[str, Any] = {"level": int(group.level), "findings": findings}
        if edits:
            decision = self._decided.get(group.id)
            edited = decision is not None and decision.choice is Choice.EDIT
            entry |= {
                # What accepting it exports; the page puts in another choice.
                "decision": decision_to_json(decide(group, Choice.ACCEPT, self._plan.files)),
                "files": self._files(with_edits(group, decision.edits) if decision and edited else group),
                "draft": self._draft(group),
                "ran": ran,
            }
            if decision:
                entry["decided"] = decision_to_json(decision)
        return entry

    def _draft(self, group: Group) -> str:
        """The text that a reviewer may edit, "" where a page could not give it back byte for byte."""
        try:
            text = Draft(group.edits, {path: self._sources[path] for path in group.paths}).text().decode("utf-8")
        except (EditConflict, UnicodeDecodeError):
            return ""
        return text if "\r" not in text and page_text(text) == text else ""

    def _finding(self, finding: Finding, edited: bool) -> list[Any]:
        return [
            self.text(finding.path), finding.line, finding.column, int(finding.mode), int(finding.level),
            self.text(finding.rule), self.text(finding.function), self.text(finding.message),
            self.text(finding.reason), self.text(finding.refusal), self._steps(finding.reach),
            self._steps(finding.flow), self.operators.add(finding.operators, list(finding.operators)),
            0 if edited else self._excerpt(finding),
        ]  # fmt: skip

    def _steps(self, steps: Sequence[Step]) -> int:
        return self.steps.add(steps, [[self.text(step.path), step.line, self.text(step.text)] for step in steps])

    def _files(self, group: Group) -> list[dict[str, Any]]:
        return [
            {"path": self.text(path), "blocks": self._diff(path, edits)} for path, edits in by_path(group.edits).items()
        ]

    def _diff(self, path: str, edits: tuple[Edit, ...]) -> list[dict[str, Any]]:
        try:
            return self.lines.diff(path, edits)
        except EditConflict:  # apply says so, and how to get a plan that fits
            return []

    def _excerpt(self, finding: Finding) -> list[dict[str, Any]]:
        """The lines from the call to where its value ends, of each file."""
        source = self._sources.get(finding.path, b"")
        begin = source.rfind(b"\n", 0, finding.start) + 1
        span = finding.start - begin, finding.end - begin
        places: dict[str, dict[int, tuple[Span | None, list[int]]]] = {finding.path: {finding.line - 1: (span, [0])}}
        for number, step in enumerate(finding.flow, 1):
            places.setdefault(step.path, {}).setdefault(step.line - 1, (None, []))[1].append(number)
        return [{"path": self.text(path), "blocks": self.lines.excerpt(path, lines)} for path, lines in places.items()]


def build(
    plan: Plan,
    shards: Sequence[Shard],
    sources: Mapping[str, bytes],
    syntax: Mapping[str, Sequence[str]],
    *,
    title: str,
    rules: Sequence[Rule],
    ran: Mapping[str, Ran],
) -> dict[str, Any]:
    """The document that the page's script reads; `ran` is by the name of a shard.

    `sources` holds the bytes of every file that `shown_paths` names, and `syntax` what `highlight` says of them.
    """
    document = _Document(plan, sources, syntax)
    runs = {shard.name: ran.get(shard.name, Ran()) for shard in shards}
    entries = [
        {
            "name": shard.name,
            "operators": list(shard.operators),
            "bases": list(shard.bases),
            "groups": [document.group(group, group.id in runs[shard.name].groups) for group in shard.groups],
            "evidence": [asdict(record) for record in runs[shard.name].evidence],
        }
        for shard in shards
    ]
    return {
        "title": title,
        "symfix": plan.symfix,
        "suppressed": plan.suppressed,
        "failures": list(plan.failures),
        "finding": list(FINDING),
        "shards": entries,
        "strings": document.strings.values,
        "steps": document.steps.values,
        "operators": document.operators.values,
        "lines": document.lines.table,
        "rules": {rule.name: _manual(rule) for rule in rules},
    }


def merged(changed: Iterable[Shard], left: Iterable[Shard]) -> list[Shard]:
    """The shards of what is edited, as they would land, each with what is left alone under its name; sorted by name."""
    by_name = {shard.name: shard for shard in changed}
    for shard in left:
        edited = by_name.get(shard.name)
        if edited is not None:
            operators = tuple(sorted({*edited.operators, *shard.operators}))
            groups = (*edited.groups, *shard.groups)
            by_name[shard.name] = dataclasses.replace(edited, operators=operators, groups=groups)
        else:
            by_name[shard.name] = dataclasses.replace(shard, bases=())
    return [by_name[name] for name in sorted(by_name)]


def shown_paths(groups: Iterable[Group]) -> list[str]:
    """The files of which the page shows lines, sorted."""
    paths: set[str] = set()
    for group in groups:
        paths.update(group.paths, (finding.path for finding in group.findings))
        if not group.edits:
            paths.update(step.path for finding in group.findings for step in finding.flow)
    return sorted(paths)


def _manual(rule: Rule) -> dict[str, Any]:
    return {
        "mode": int(rule.mode),
        "level": int(rule.level),
        "doc": inspect.cleandoc(rule.doc),
        "examples": [[example.note, example.before, example.after] for example in rule.examples],
    }
