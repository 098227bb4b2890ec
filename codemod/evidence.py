"""Evidence: what running an operator before and after a change showed, kept by the code it speaks of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from codemod.changes import Change

VERSION = 1

Status = Literal["passes", "throws", "wrong", "crashes", "hangs"]
Outcome = Literal["cured", "unchanged", "worse", "not provable"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one run showed. `mode` is the failure mode that the error's text tells (1 to 4), 0 where none."""

    status: Status
    mode: int = 0
    message: str = ""
    guards: tuple[str, ...] = ()
    """Guards on sizes that the compiled code depends on."""
    frames: int = 0
    """How often it was compiled over all the sizes."""
    unbacked: str = ""
    """The status with unbacked sizes, "" where that was not run."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of one operator. `key` names the code it speaks of: see `evidence_key`."""

    operator: str
    outcome: Outcome
    key: str
    reason: str = ""
    before: Verdict | None = None
    after: Verdict | None = None
    repro: str = ""
    """The script that was run."""
    versions: dict[str, str] = field(default_factory=dict)
    """Of `torch`, `tree`, `python`, `compiler`."""
    compiled: tuple[str, ...] = ()
    """The sources that type-check before and after."""
    seconds: float = 0.0

    @property
    def passed_before(self) -> bool:
        """Whether there was nothing to cure."""
        return self.before is not None and self.before.status == "passes"


def evidence_key(changes: Iterable[Change]) -> str:
    """A digest of the files of a shard before and after its edits; any other code has another."""
    digest = hashlib.sha256()
    for change in sorted(changes, key=lambda change: change.path):
        for part in (change.path.encode("utf-8", "surrogateescape"), change.old, change.new):
            digest.update(b"%d:" % len(part) + part)
    return digest.hexdigest()[:24]


class EvidenceStore:
    """Evidence on disk, one JSON file for each operator and key, in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, operator: str, key: str) -> Evidence | None:
        """What is known of `operator` with exactly this code, None where nothing is."""
        try:
            document = json.loads(self._path(operator, key).read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(document, dict) or document.pop("version", None) != VERSION:
            return None
        return _from_json(document)

    def save(self, evidence: Evidence) -> None:
        """Keep `evidence`. Raises OSError where it cannot be written."""
        path = self._path(evidence.operator, evidence.key)
        path.parent.mkdir(parents=True, exist_ok=True)
        staged = path.with_suffix(".tmp")
        staged.write_text(json.dumps({"version": VERSION, **asdict(evidence)}, indent=1), encoding="ascii")
        staged.replace(path)

    def _path(self, operator: str, key: str) -> Path:
        name = "".join(c if c.isalnum() or c in "_.-" else "-" for c in operator)
        return self._folder / f"{name}-{key}.json"


def _from_json(document: dict[str, Any]) -> Evidence:
    fields = dict(document)
    for name in ("before", "after"):
        if fields[name] is not None:
            fields[name] = Verdict(**{**fields[name], "guards": tuple(fields[name]["guards"])})
    fields["compiled"] = tuple(fields["compiled"])
    return Evidence(**fields)
