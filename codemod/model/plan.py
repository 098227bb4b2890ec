"""The plan: every finding and the hash of every file they rest on, as one versioned JSON document.

Bytes (an edit's `old` and `new`) and paths are written as text: UTF-8 as it reads, and each byte that is no UTF-8 as
the lone surrogate U+DC00 + byte, `\\udc80` to `\\udcff` (Python's "surrogateescape"), so that nothing is lost.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codemod.borders.documents import Shape, load_document
from codemod.borders.files import read_below, read_file
from codemod.borders.quoting import json_text
from codemod.errors import SymfixError
from codemod.model.choices import SCOPES
from codemod.model.decisions import DECISION, HASHES, Decision, decision_from_json, decision_to_json
from codemod.model.edits import EDIT, edit_from_json, edit_to_json
from codemod.model.findings import Finding, Level, Mode, Step

FORMAT = "symfix-plan"
VERSION = 2

_STEP = {"path": Path, "line": int, "text": str}
_FINDING = {
    "path": Path, "start": int, "end": int, "line": int, "column": int, "mode": frozenset(map(int, Mode)), "rule": str,
    "level": frozenset(level.name.lower() for level in Level), "function": str, "operators": [str], "message": str,
    "reason": str, "refusal": str, "group": str, "id": str, "reach": [_STEP], "flow": [_STEP], "edits": [EDIT],
}  # fmt: skip
_OPTIONS = {
    "paths?": [Path], "op?": [str], "mode?": [int], "rule?": [str], "level?": str, "vocabulary?": str,
    "torch?": str, "scope?": frozenset(SCOPES),
}  # fmt: skip
_PLAN: Shape = {
    "symfix": str, "options": _OPTIONS, "suppressed": int, "failures": [str], "remarks?": [str],
    "findings": [_FINDING], "decisions": [DECISION], "files": HASHES,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plan:
    """What an analysis found. `files` maps each path it rests on to the sha256 of its bytes, "" where it is absent."""

    findings: tuple[Finding, ...]
    files: dict[str, str]
    options: dict[str, Any] = field(default_factory=dict)
    suppressed: int = 0
    """How many findings a comment in the source told symfix to leave out."""
    failures: tuple[str, ...] = ()
    """One line for each file that could not be analysed."""
    remarks: tuple[str, ...] = ()
    """Lines about the tree that are no findings, such as the registrations that were not understood."""
    symfix: str = ""
    """The version that made it."""
    decisions: tuple[Decision, ...] = ()
    """What a reviewer decided about its changes."""

    def stale(self, root: Path, paths: Iterable[str] | None = None) -> list[str]:
        """The files, of `paths` or of all, that are no longer what they were when the plan was made, sorted."""
        chosen = self.files if paths is None else [path for path in paths if path in self.files]
        return sorted(path for path in chosen if _sha256(root, path) != self.files[path])

    def to_json(self) -> str:
        """The document, ASCII only, the same bytes for the same plan."""
        document = {
            "format": FORMAT,
            "version": VERSION,
            "symfix": self.symfix,
            "options": self.options,
            "suppressed": self.suppressed,
            "failures": list(self.failures),
            **({"remarks": list(self.remarks)} if self.remarks else {}),
            "findings": [_finding_to_json(finding) for finding in self.findings],
            "decisions": [decision_to_json(decision) for decision in self.decisions],
            "files": dict(sorted(self.files.items())),
        }
        return json_text(document, indent=1)

    @classmethod
    def from_json(cls, text: str | bytes, name: str = "the plan") -> Plan:
        """The plan a document holds. Raises SymfixError, calling it `name`, where it is none or of another version."""
        remedy = "make it with: symfix scan --format json"
        document = load_document(text, name, "symfix plan", (FORMAT, VERSION), _PLAN, remedy)
        try:
            return cls(
                findings=tuple(_finding_from_json(entry) for entry in document["findings"]),
                files=document["files"],
                options=document["options"],
                suppressed=document["suppressed"],
                failures=tuple(document["failures"]),
                remarks=tuple(document.get("remarks", ())),
                symfix=document["symfix"],
                decisions=tuple(decision_from_json(entry) for entry in document["decisions"]),
            )
        except ValueError as error:
            raise SymfixError(f"{name}: damaged ({error}); {remedy}") from error


def _finding_to_json(finding: Finding) -> dict[str, Any]:
    return {
        "path": finding.path,
        "start": finding.start,
        "end": finding.end,
        "line": finding.line,
        "column": finding.column,
        "mode": int(finding.mode),
        "rule": finding.rule,
        "level": finding.level.name.lower(),
        "function": finding.function,
        "operators": list(finding.operators),
        "message": finding.message,
        "reason": finding.reason,
        "refusal": finding.refusal,
        "group": finding.group,
        "id": finding.id,
        "reach": [{"path": step.path, "line": step.line, "text": step.text} for step in finding.reach],
        "flow": [{"path": step.path, "line": step.line, "text": step.text} for step in finding.flow],
        "edits": [edit_to_json(edit) for edit in finding.edits],
    }


def _finding_from_json(entry: dict[str, Any]) -> Finding:
    fields = dict(entry)
    fields["mode"] = Mode(entry["mode"])
    fields["level"] = Level[entry["level"].upper()]
    fields["operators"] = tuple(entry["operators"])
    fields["reach"] = tuple(Step(**step) for step in entry["reach"])
    fields["flow"] = tuple(Step(**step) for step in entry["flow"])
    fields["edits"] = tuple(edit_from_json(edit) for edit in entry["edits"])
    return Finding(**fields)


def _sha256(root: Path, path: str) -> str:
    try:
        content = read_file(path) if os.path.isabs(path) else read_below(root, path)
        return hashlib.sha256(content).hexdigest()
    except OSError:
        return ""
