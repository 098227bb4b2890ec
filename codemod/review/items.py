"""The items of a review: each change of a plan, with its shard and its place in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codemod.bundle.shards import Shard
from codemod.model.findings import Finding
from codemod.model.groups import OVERLAP, Group, overlapping
from codemod.planning.naming import base_name
from codemod.tree.sources import Sources


@dataclass(frozen=True, slots=True)
class Item:
    """One change, decided as a whole: the `place`-th of its shard, from 1."""

    group: Group
    shard: Shard
    place: int
    waiting: tuple[Finding, ...] = ()
    """Findings left out for overlapping it: they are offered once it is written."""
    sharing: tuple[Group, ...] = ()
    """Other changes that make one of its edits too."""

    @property
    def id(self) -> str:
        """The id that decisions name."""
        return self.group.id


def make_items(shards: Iterable[Shard], findings: Sequence[Finding]) -> list[Item]:
    """The changes of `shards`, in their order; `findings` are all of the plan."""
    chosen = list(shards)
    makers: dict[object, list[Group]] = {}
    for shard in chosen:
        for group in shard.groups:
            for edit in group.edits:
                makers.setdefault(edit, []).append(group)
    refused = [finding for finding in findings if finding.refusal == OVERLAP]
    items = []
    for shard in chosen:
        for place, group in enumerate(shard.groups, 1):
            sharing = {maker.id: maker for edit in group.edits for maker in makers[edit] if maker.id != group.id}
            waiting = tuple(overlapping(group, refused))
            items.append(Item(group, shard, place, waiting, tuple(sharing.values())))
    return items


def searchable(item: Item, sources: Sources) -> str:
    """What a search looks through, in lower case: operators, places, rules, and the lines that change."""
    group = item.group
    words = [item.shard.name, *map(base_name, item.shard.operators)]
    for finding in group.findings:
        words += (finding.path, finding.function, finding.rule, finding.message, sources.lines(finding))
    words += (edit.new.decode("utf-8", "replace") for edit in group.edits)
    return "\n".join(words).lower()
