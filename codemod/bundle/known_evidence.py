"""The evidence that speaks of exactly the code of a shard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from codemod.changes import Change
from codemod.edits import Edit, apply_edits
from codemod.evidence import Evidence, evidence_for
from codemod.groups import Group
from codemod.shards import Shard, closure


def evidence_of(
    journal: Path, shard: Shard, by_name: Mapping[str, Shard], sources: Mapping[str, bytes]
) -> tuple[Evidence, ...]:
    """What `symfix prove` kept in `journal` about the operators of `shard`, one each, sorted.

    It speaks of the shard's changes on its bases, else of its changes alone; evidence of other code is not quoted.
    """
    found: dict[str, Evidence] = {}
    for groups in (closure(shard, by_name), shard.groups):
        for one in evidence_for(journal, _changes(groups, sources)):
            found.setdefault(one.operator, one)
    return tuple(found[name] for name in sorted(found))


def _changes(groups: Iterable[Group], sources: Mapping[str, bytes]) -> list[Change]:
    by_path: dict[str, set[Edit]] = {}
    for group in groups:
        for edit in group.edits:
            by_path.setdefault(edit.path, set()).add(edit)
    changes = []
    for path, edits in sorted(by_path.items()):
        new = apply_edits(sources[path], edits)
        if new != sources[path]:
            changes.append(Change(path, sources[path], new, tuple(sorted(edits))))
    return changes
