"""The stored evidence for exactly the code of a shard."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from codemod.bundle.shards import Shard, closure
from codemod.prove.evidence import Evidence, evidence_for
from codemod.writing.changes import changes_in


def evidence_of(
    journal: Path, shard: Shard, by_name: Mapping[str, Shard], sources: Mapping[str, bytes]
) -> tuple[Evidence, ...]:
    """What `symfix prove` stored in `journal` for the operators of `shard`, one entry each, sorted.

    Evidence for the shard's changes on its bases comes before that for its changes alone; that for other code is not
    returned.
    """
    by_operator: dict[str, Evidence] = {}
    for groups in (closure(shard, by_name), shard.groups):
        for entry in evidence_for(journal, changes_in(groups, sources)):
            by_operator.setdefault(entry.operator, entry)
    return tuple(by_operator[name] for name in sorted(by_operator))
