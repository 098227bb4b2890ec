"""Evidence: what running an operator before and after a change showed, stored under a digest of the changed code."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from codemod.borders.documents import Shape, fit, load_json
from codemod.borders.files import read_file
from codemod.borders.quoting import file_name
from codemod.digest import digest
from codemod.errors import SymfixError
from codemod.model.choices import BACKENDS
from codemod.writing.changes import Change
from codemod.writing.files import make_folder, replace_file

VERSION = 1
_VERDICT = {
    "status": frozenset(["passes", "throws", "wrong", "crashes", "hangs"]), "mode": int, "message": str,
    "guards": [str], "frames": int, "unbacked": str,
}  # fmt: skip
_DOCUMENT: Shape = {
    "version": frozenset([VERSION]), "operator": str,
    "outcome": frozenset(["cured", "unchanged", "worse", "not provable"]), "key": str, "reason": str,
    "before": (None, _VERDICT), "after": (None, _VERDICT), "repro": str, "versions": {str: str}, "compiled": [str],
    "seconds": float, "checks?": {str: [str]}, "opcheck?": {str: [str]}, "inputs?": str,
    "network?": frozenset(["", "cut off", "open"]), "backend?": frozenset(BACKENDS), "test?": str,
}  # fmt: skip
FOLDER = "evidence"
BACKEND, INDUCTOR = BACKENDS
_OF_INDUCTOR = ("torch/_inductor/", "_inductor/")  # from the root of a checkout, and of the package
FAKE = "fake_as_kernel"
"""How the tests among those of opcheck begin that compare a fake with its kernel (codemod/runner/fakes.py)."""

Status = Literal["passes", "throws", "wrong", "crashes", "hangs"]
Outcome = Literal["cured", "unchanged", "worse", "not provable"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one run showed. `mode` is the failure mode that the error's text indicates (1 to 4), 0 for none."""

    status: Status
    mode: int = 0
    message: str = ""
    guards: tuple[str, ...] = ()
    """Guards on sizes that the compiled code depends on."""
    frames: int = 0
    """How often it was compiled over all the sizes."""
    unbacked: str = ""
    """The status with unbacked sizes, "" where that was not run."""

    @property
    def fails_unbacked(self) -> bool:
        """Whether it was run with unbacked sizes, and did not pass."""
        return self.unbacked not in ("", "passes")


@dataclass(frozen=True, slots=True)
class Evidence:
    """The result for one operator. `key` identifies the code that was run: see `evidence_key`."""

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
    checks: dict[str, tuple[str, str]] = field(default_factory=dict)
    """How each check of `codemod.model.xfails` ended before and after: "passes", "fails" or "absent"."""
    opcheck: dict[str, tuple[str, str]] = field(default_factory=dict)
    """How each test of `torch.library.opcheck` ended before and after: "passes", or why it fails."""
    inputs: str = ""
    """Where the arguments of the case that decides come from, "" where none was run."""
    network: Literal["", "cut off", "open"] = ""
    """Whether its runs had a network, "" where none was run."""
    backend: str = BACKEND
    """The backend that its cases were compiled with: see `backend_for`."""
    test: str = ""
    """A test method (see `codemod.prove.regression`) that was run: it fails before and passes after. "" for none."""

    @property
    def cured_checks(self) -> tuple[str, ...]:
        """The checks that fail before and pass after."""
        return tuple(check for check, ends in self.checks.items() if ends == ("fails", "passes"))

    @property
    def drawn(self) -> tuple[str, ...]:
        """The overloads of PyTorch whose meta equals the kernel on every call that was compared, after the change."""
        names = (name.partition(" ") for name, ends in self.opcheck.items() if ends[1] == "passes" != ends[0])
        return tuple(overload for test, _, overload in names if test == FAKE and overload)

    @property
    def passed_before(self) -> bool:
        """Whether there was nothing to cure."""
        return self.before is not None and self.before.status == "passes"


def describe_opcheck(name: str) -> str:
    """What a test of `Evidence.opcheck` shows, as the subject of a sentence."""
    test, _, overload = name.partition(" ")
    if test != FAKE:
        return f"opcheck's {name}"
    return f"the meta of {overload} beside its kernel" if overload else "the fake beside its kernel"


def backend_for(changes: Iterable[Change]) -> str:
    """The backend of torch.compile that runs what changed: Inductor's own code is run by no other."""
    return INDUCTOR if any(change.path.startswith(_OF_INDUCTOR) for change in changes) else BACKEND


def evidence_key(changes: Iterable[Change]) -> str:
    """A digest of the files of a shard before and after its edits, and of what runs them; any other code has another.

    What BACKEND runs is not told apart from what was kept before there was another.
    """
    ordered = sorted(changes, key=lambda change: change.path)
    backend = backend_for(ordered)
    parts = [part for change in ordered for part in (change.path, change.old, change.new)]
    return digest(*parts, *([] if backend == BACKEND else [backend]))[:24]


class EvidenceStore:
    """Evidence on disk: a folder for each key in `folder`, a JSON file for each operator and torch in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self, key: str) -> list[Evidence]:
        """All evidence for exactly this code, the newest first; several entries for an operator differ in versions."""
        entries = []
        for path in (self._folder / key).glob("*.json"):
            try:
                modified = path.stat().st_mtime_ns
                document = load_json(read_file(path), str(path), "")
                fit(document, _DOCUMENT, str(path), "")
            except (OSError, SymfixError):  # proved again
                continue
            del document["version"]
            entries.append((-modified, path.name, _from_json(document)))
        return [evidence for _, _, evidence in sorted(entries, key=operator.itemgetter(0, 1))]

    def save(self, *evidence: Evidence) -> None:
        """Store `evidence`, all there is of one shard over one torch, in the place of what was stored for it.

        Raises OSError where it cannot be written.
        """
        written = set()
        places = set()
        for entry in evidence:
            torch = file_name(entry.versions.get("torch", ""))
            path = self._folder / entry.key / f"{file_name(entry.operator)}-{torch}.json"
            make_folder(path.parent)
            replace_file(path, json.dumps({"version": VERSION, **asdict(entry)}, indent=1).encode("ascii"))
            written.add(path)
            places.add((path.parent, torch))
        for folder, torch in places:
            for path in set(folder.glob(f"*-{torch}.json")) - written:
                path.unlink()


def any_evidence(journal: Path) -> bool:
    """Whether `symfix prove` stored anything in `journal`, for whatever code."""
    return (journal / FOLDER).is_dir()


def evidence_for(journal: Path, changes: Iterable[Change]) -> list[Evidence]:
    """What `symfix prove` stored for exactly `changes`, those of a shard, the newest first.

    `journal` is `Run.journal`. Empty where nothing was proved, or the code has changed since.
    """
    return EvidenceStore(journal / FOLDER).all(evidence_key(changes))


def _from_json(document: dict[str, Any]) -> Evidence:
    fields = dict(document)
    for name in ("before", "after"):
        if fields[name] is not None:
            fields[name] = Verdict(**{**fields[name], "guards": tuple(fields[name]["guards"])})
    fields["compiled"] = tuple(fields["compiled"])
    for name in ("checks", "opcheck"):
        fields[name] = {check: tuple(ends) for check, ends in fields.get(name, {}).items() if len(ends) == 2}
    return Evidence(**fields)
