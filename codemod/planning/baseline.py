"""A baseline: the findings that a project accepts for now, one a line, so that CI reports new ones only."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

from codemod.borders.documents import load_document, read_bounded
from codemod.borders.quoting import json_text
from codemod.errors import SymfixError
from codemod.model.findings import Finding
from codemod.planning.fingerprint import fingerprints
from codemod.tree.sources import Sources

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


def renamed(
    left: Set[Finding], findings: Iterable[Finding], gone: Iterable[Entry], names: Collection[str], sources: Sources
) -> dict[Finding, str]:
    """Those of `left` that entries accept whose files are gone, each with its fingerprint of before its file moved.

    Where a file has moved to is known by its findings: there most of them would have the fingerprints of its entries.
    `findings` are all of the plan, `gone` the entries that match none, `names` the files of those that are still there.
    """
    by_path: dict[str, dict[str, Entry]] = {}
    for entry in gone:
        if entry.path not in names:
            by_path.setdefault(entry.path, {})[entry.fingerprint] = entry
    by_new_path: dict[str, list[Finding]] = {}
    for finding in findings if by_path else ():
        by_new_path.setdefault(finding.path, []).append(finding)
    moves = []
    for new in sorted({finding.path for finding in left} & by_new_path.keys()):
        there = {(finding.rule, finding.function) for finding in by_new_path[new]}
        for old, entries in by_path.items():
            if any((entry.rule, entry.function) in there for entry in entries.values()):
                before = fingerprints(by_new_path[new], sources, old)
                known = {finding: before[finding] for finding in before.keys() & left if before[finding] in entries}
                moves.append((-len(known), old, new, known))
    followed: dict[Finding, str] = {}
    taken: set[tuple[str, str]] = set()
    for _, old, new, known in sorted(moves, key=lambda move: move[:3]):
        if taken.isdisjoint((("old", old), ("new", new))):
            followed |= known
            taken |= {("old", old), ("new", new)}
    return followed
