"""The evidence that speaks of exactly the code of a shard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from codemod.changes import Change
from codemod.edits import Edit, apply_edits
from codemod.evidence import Evidence, EvidenceStore, evidence_key
from codemod.groups import Group
from codemod.selection import base_name
from codemod.shards import Shard, closure


def evidence_of(
    store: EvidenceStore, shard: Shard, by_name: Mapping[str, Shard], sources: Mapping[str, bytes]
) -> tuple[Evidence, ...]:
    """What `store` holds of the operators of `shard`, made with its changes on its bases, or with its changes alone.

    Evidence of other code is not quoted.
    """
    operators = dict.fromkeys([shard.about, *shard.operators, *map(base_name, shard.operators)])
    found: dict[str, Evidence] = {}
    for groups in (closure(shard, by_name), shard.groups):
        key = evidence_key(_changes(groups, sources))
        for operator in operators:
            one = store.load(operator, key)
            if one is not None:
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
