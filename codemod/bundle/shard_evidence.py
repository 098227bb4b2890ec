"""The stored evidence for exactly the code of a shard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from codemod.bundle.shards import Shard, closure
from codemod.planning.naming import base_name
from codemod.prove.evidence import Evidence, any_evidence, evidence_for
from codemod.writing.changes import changes_in

_WEIGHT = ("worse", "cured", "unchanged", "not provable")


def evidence_of(
    journal: Path, shard: Shard, by_name: Mapping[str, Shard], sources: Mapping[str, bytes]
) -> tuple[Evidence, ...]:
    """What `symfix prove` stored in `journal` for the operators of `shard`, one entry each, sorted.

    Evidence for the shard's changes on its bases comes before that for its changes alone; that for other code is not
    returned.
    """
    by_operator: dict[str, Evidence] = {}
    if not any_evidence(journal):  # the key to it are the files as a shard makes them
        return ()
    for groups in (closure(shard, by_name), shard.groups):
        for entry in evidence_for(journal, changes_in(groups, sources)):
            by_operator.setdefault(entry.operator, entry)
    return tuple(by_operator[name] for name in sorted(by_operator))


def outcomes(journal: Path, shards: Sequence[Shard], sources: Mapping[str, bytes]) -> dict[str, str]:
    """The outcome of each operator, by its name, of all the shards that show it the one that counts most."""
    by_name = {shard.name: shard for shard in shards}
    seen: dict[str, str] = {}
    for shard in shards:
        for entry in evidence_of(journal, shard, by_name, sources):
            name = base_name(entry.operator)
            seen[name] = min(seen.get(name, entry.outcome), entry.outcome, key=_WEIGHT.index)
    return seen
