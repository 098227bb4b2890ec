"""The evidence that speaks of exactly the code of a shard."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from codemod.bundle.shards import Shard, closure
from codemod.prove.evidence import Evidence, evidence_for
from codemod.writing.changes import changes_in


def evidence_of(
    journal: Path, shard: Shard, by_name: Mapping[str, Shard], sources: Mapping[str, bytes]
) -> tuple[Evidence, ...]:
    """What `symfix prove` kept in `journal` about the operators of `shard`, one each, sorted.

    It speaks of the shard's changes on its bases, else of its changes alone; evidence of other code is not quoted.
    """
    found: dict[str, Evidence] = {}
    for groups in (closure(shard, by_name), shard.groups):
        for one in evidence_for(journal, changes_in(groups, sources)):
            found.setdefault(one.operator, one)
    return tuple(found[name] for name in sorted(found))
