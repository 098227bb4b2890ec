"""The stored evidence for exactly the code of a shard."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codemod.bundle.shard_names import ShardNames
from codemod.bundle.shards import Shard, closure, make_shards
from codemod.model.findings import Level
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


@dataclass(frozen=True, slots=True)
class Ran:
    """What `symfix prove` saw of a shard, and the ids of the groups that it ran: all of them, or the safe ones."""

    evidence: tuple[Evidence, ...] = ()
    groups: frozenset[str] = frozenset()


class StoredRuns:
    """What `symfix prove` stored in `journal` for `shards`: for all that they hold, else for what of it is safe alone.

    `prove` runs the changes of a level; what a reviewer sees mixes levels, and what was safe alone proves nothing of
    the rest. `sources` holds the bytes of every file that the shards edit, `names` are theirs.
    """

    def __init__(
        self, journal: Path, shards: Sequence[Shard], sources: Mapping[str, bytes], names: ShardNames | None
    ) -> None:
        self._journal = journal
        self._sources = sources
        self._names = names
        self._shards = {shard.name: shard for shard in shards}

    def of(self, name: str) -> Ran:
        """What was run of the shard `name`."""
        return self._ran(name, self._shards) or self._ran(name, self._safe) or Ran()

    def _ran(self, name: str, by_name: Mapping[str, Shard]) -> Ran | None:
        shard = by_name.get(name)
        evidence = evidence_of(self._journal, shard, by_name, self._sources) if shard else ()
        return Ran(evidence, frozenset(group.id for group in shard.groups)) if shard and evidence else None

    @functools.cached_property
    def _safe(self) -> dict[str, Shard]:
        """The shards of the safe changes, none where nothing was ever run."""
        groups = (group for shard in self._shards.values() for group in shard.groups if group.level is Level.SAFE)
        ever = any_evidence(self._journal)
        safe = make_shards(groups, sources=self._sources, names=self._names) if ever else []
        return {shard.name: shard for shard in safe}


def outcomes(journal: Path, shards: Sequence[Shard], sources: Mapping[str, bytes]) -> dict[str, str]:
    """The outcome of each operator, by its name, of all the shards that show it the one that counts most."""
    by_name = {shard.name: shard for shard in shards}
    seen: dict[str, str] = {}
    for shard in shards:
        for entry in evidence_of(journal, shard, by_name, sources):
            name = base_name(entry.operator)
            seen[name] = min(seen.get(name, entry.outcome), entry.outcome, key=_WEIGHT.index)
    return seen
