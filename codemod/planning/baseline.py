"""A baseline: the findings that a project accepts for now, one a line, so that CI reports new ones only."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from codemod.borders.documents import load_document, read_bounded
from codemod.borders.quoting import json_text
from codemod.errors import SymfixError
from codemod.model.findings import Finding

FORMAT = "symfix-baseline"
VERSION = 1

_ENTRY = {"path": str, "rule": str, "function": str, "fingerprint": str}
_REMEDY = "make it with: symfix scan --format baseline"


@dataclass(frozen=True, slots=True)
class Entry:
    """One accepted finding. All but its fingerprint is there for the reader."""

    fingerprint: str
    path: str
    rule: str
    function: str


def baseline_json(findings: Iterable[Finding], prints: Mapping[Finding, str]) -> str:
    """The document that accepts `findings`, whose fingerprints `prints` holds: a line for each, sorted by place."""
    entries = [
        json_text({"path": f.path, "rule": f.rule, "function": f.function, "fingerprint": prints[f]}) for f in findings
    ]
    head = json.dumps({"format": FORMAT, "version": VERSION})[:-1]
    return f'{head}, "findings": [\n' + ",\n".join(entries) + "\n]}\n"


def read_baseline(path: Path) -> dict[str, Entry]:
    """The accepted findings by their fingerprints.

    Raises SymfixError where the file cannot be read or is no baseline of this version.
    """
    try:
        content = read_bounded(path)
    except OSError as error:
        raise SymfixError(f"{path}: the baseline cannot be read: {error.strerror}; {_REMEDY}") from error
    shape = {"findings": [_ENTRY]}
    document = load_document(content, str(path), "symfix baseline", (FORMAT, VERSION), shape, _REMEDY)
    entries = [Entry(e["fingerprint"], e["path"], e["rule"], e["function"]) for e in document["findings"]]
    return {entry.fingerprint: entry for entry in entries}
