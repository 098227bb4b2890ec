"""The stored evidence for what a reviewer sees: of all changes of a shard, or of the safe ones alone."""

from __future__ import annotations

from pathlib import Path

from codemod.bundle.shard_evidence import Ran, StoredRuns
from codemod.bundle.shards import make_shards
from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode
from codemod.model.groups import Group
from codemod.prove.evidence import FOLDER, Evidence, EvidenceStore, evidence_key
from codemod.writing.changes import changes_in

SOURCES = {"a.cc": b"x.size(0)\n", "b.cc": b"if (x.numel())\n"}


def group(path: str, old: bytes, new: bytes, level: Level) -> Group:
    start = SOURCES[path].index(old)
    edit = Edit(path, start, start + len(old), old, new)
    return Group(
        (Finding(path, start, edit.end, 1, 1, Mode.DIRECT_THROW, "r", level, "f", ("foo",), "m", edits=(edit,)),)
    )


SAFE = group("a.cc", b"size", b"sym_size", Level.SAFE)
REVIEW = group("b.cc", b"numel", b"sym_numel", Level.REVIEW)


def keep(journal: Path, *groups: Group) -> Evidence:
    evidence = Evidence("foo", "cured", evidence_key(changes_in(groups, SOURCES)))
    EvidenceStore(journal / FOLDER).save(evidence)
    return evidence


def runs(journal: Path, *groups: Group) -> StoredRuns:
    return StoredRuns(journal, make_shards(groups, sources=SOURCES), SOURCES, None)


def test_a_run_of_the_safe_changes_is_evidence_of_those_alone(tmp_path: Path) -> None:
    assert runs(tmp_path, SAFE, REVIEW).of("foo") == Ran()
    evidence = keep(tmp_path, SAFE)
    assert runs(tmp_path, SAFE, REVIEW).of("foo") == Ran((evidence,), frozenset({SAFE.id}))


def test_a_run_of_all_changes_counts_before_that_of_the_safe_ones(tmp_path: Path) -> None:
    keep(tmp_path, SAFE)
    evidence = keep(tmp_path, SAFE, REVIEW)
    both = frozenset({SAFE.id, REVIEW.id})
    assert runs(tmp_path, SAFE, REVIEW).of("foo") == Ran((evidence,), both)
    assert runs(tmp_path, REVIEW).of("foo") == Ran()
