"""Shards: the groups of one operator, as one change to review, prove and land."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from codemod.bundle.shard_names import Cluster, ShardNames
from codemod.model.edits import Edit, by_path, sorted_edits
from codemod.model.groups import Group
from codemod.model.needs import Needs, in_order
from codemod.planning.naming import family, operators_of, owner_of
from codemod.writing.diff import Hunk, hunks

Grouping = Literal["operator", "file", "module"]


@dataclass(frozen=True, slots=True)
class Shard:
    """Groups that land together. `name` is fit for a branch and a file name; `bases` name the shards it needs."""

    name: str
    operators: tuple[str, ...]
    groups: tuple[Group, ...]
    bases: tuple[str, ...] = ()
    kind: str = "operator"
    """What `about` is: an "operator", a "helper" of several, a "file" or a "module"."""
    about: str = ""
    tests: tuple[Edit, ...] = ()
    """Edits of test files that land with it."""
    deleted: tuple[str, ...] = ()
    """Files that it deletes."""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits of all its groups and of its tests, sorted, each once; some may be a base's too."""
        return tuple(sorted_edits((*(edit for group in self.groups for edit in group.edits), *self.tests)))

    @property
    def paths(self) -> tuple[str, ...]:
        """The files it edits or deletes, sorted."""
        return tuple(sorted({edit.path for edit in self.edits}.union(self.deleted)))


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that one shard may hold where its groups can be parted; 0 is no limit.

    `lines` counts removed and added lines together.
    """

    files: int = 0
    lines: int = 0

    def exceeded(self, edits: Iterable[Edit], sources: Mapping[str, bytes]) -> bool:
        """Whether `edits` are more than a shard should hold."""
        chosen = list(edits)
        if self.files and len({edit.path for edit in chosen}) > self.files:
            return True
        return bool(self.lines) and sum(changed_lines(chosen, sources)) > self.lines


def make_shards(
    groups: Iterable[Group],
    by: Grouping = "operator",
    limits: Limits | None = None,
    sources: Mapping[str, bytes] | None = None,
    names: ShardNames | None = None,
) -> list[Shard]:
    """The shards of `groups`, sorted by name: one for each operator's family, and one for each helper of several.

    Where `sources` has the files' bytes, shards whose lines touch are based on one another, and `limits` part what is
    too large; `names` are those of earlier plans.
    """
    clusters: dict[str, Cluster] = {}
    for group in groups:
        cluster = _cluster(group, by)
        clusters.setdefault(cluster.key, cluster).groups.append(group)
    parts = [clusters[key] for key in sorted(clusters)]
    names = names or ShardNames()
    if limits is not None and sources is not None:
        parts = [part for cluster in parts for part in _parts(cluster, limits, sources, names)]
    named = names.assign(parts)
    shards = [
        Shard(name, operators_of(cluster.groups), tuple(cluster.groups), kind=cluster.kind, about=cluster.about)
        for name, cluster in named.items()
    ]
    return with_bases(shards, sources, names=names)


def with_bases(
    shards: Iterable[Shard],
    sources: Mapping[str, bytes] | None = None,
    names: ShardNames | None = None,
) -> list[Shard]:
    """`shards`, sorted by name, with what each needs added to its bases.

    A shard needs the one that first makes an edit both make, the one whose lines its own touch, and that of an
    operator the one that holds what it shares with others. Raises SymfixError where given bases form a circle.
    """
    # Shards of earlier plans come first, so that a new one never becomes the base of one that is under review.
    earlier_names = names or ShardNames()
    ordered = sorted(shards, key=lambda s: (s.name not in earlier_names, s.kind != "helper", s.name))
    needs = Needs(shard.name for shard in ordered)
    for shard in ordered:
        for base in shard.bases:
            needs.require(shard.name, base)
    for later, earlier in _meeting(ordered, sources):
        needs.relate(later, earlier)
    holders = _holders(ordered)
    for shard in ordered:
        for base in holders.get(shard.about, ()) if shard.kind == "operator" else ():
            if base != shard.name:
                needs.relate(shard.name, base)
    return [dataclasses.replace(s, bases=needs.of(s.name)) for s in sorted(ordered, key=lambda s: s.name)]


def above_one_another(shards: Sequence[Shard], path: str) -> list[Shard]:
    """`shards`, those that change `path` each based on the one before it."""
    bases = {shard.name: shard.bases for shard in shards}
    touching = {shard.name for shard in shards if path in shard.paths}
    line = [name for name in in_order(bases) if name in touching]
    below = dict(zip(line[1:], line, strict=False))
    return [
        dataclasses.replace(shard, bases=tuple(sorted({*shard.bases, below[shard.name]})))
        if shard.name in below
        else shard
        for shard in shards
    ]


def closure(shard: Shard, by_name: Mapping[str, Shard]) -> tuple[Group, ...]:
    """The groups of `shard` and of all its bases, each once: what its branch holds."""
    seen: dict[str, None] = {}
    pending = [shard.name]
    while pending:
        name = pending.pop()
        if name not in seen:
            seen[name] = None
            pending += by_name[name].bases
    return tuple(dict.fromkeys(group for name in sorted(seen) for group in by_name[name].groups))


def changed_lines(edits: Iterable[Edit], sources: Mapping[str, bytes]) -> tuple[int, int]:
    """How many lines `edits` add and remove."""
    changed = [hunk for _, hunk in file_hunks(edits, sources)]
    return sum(len(hunk.new) for hunk in changed), sum(len(hunk.old) for hunk in changed)


def file_hunks(edits: Iterable[Edit], sources: Mapping[str, bytes]) -> list[tuple[str, Hunk]]:
    """What `edits` change in each file, in whole lines."""
    return [(path, hunk) for path, chosen in by_path(edits).items() for hunk in hunks(sources[path], chosen)]


def _cluster(group: Group, by: Grouping) -> Cluster:
    path = group.paths[0] if group.paths else group.findings[0].path
    if by == "file":
        return Cluster(f"file:{path}", (path,), "file", path)
    if by == "module":
        folder = path.rpartition("/")[0] or "."
        return Cluster(f"module:{folder}", (folder,), "module", folder)
    owner = owner_of(group)
    if owner.kind == "operator":
        return Cluster(f"operator:{owner.about}", owner.names, owner.kind, owner.about)
    return Cluster(f"helper:{path}:{owner.about}", owner.names, owner.kind, owner.about)


def _parts(cluster: Cluster, limits: Limits, sources: Mapping[str, bytes], names: ShardNames) -> list[Cluster]:
    """`cluster`, in as many parts as `limits` ask for; a group stays in the part that earlier plans gave it."""
    parts: dict[int, Cluster] = {}
    placed = [
        (names.part(cluster.key, group) or math.inf, group.paths, index) for index, group in enumerate(cluster.groups)
    ]
    for earlier_part, _, index in sorted(placed):
        group = cluster.groups[index]
        part = 1 if math.isinf(earlier_part) else int(earlier_part)
        while part in parts and limits.exceeded((e for g in [*parts[part].groups, group] for e in g.edits), sources):
            part += 1
        if part not in parts:
            parts[part] = dataclasses.replace(cluster, groups=[]) if part == 1 else cluster.part(part)
        parts[part].groups.append(group)
    return [parts[part] for part in sorted(parts)]


def _meeting(shards: Sequence[Shard], sources: Mapping[str, bytes] | None) -> list[tuple[str, str]]:
    """(later, earlier) for shards that make the same edit, or whose lines touch, which no three-way merge can part."""
    owners: dict[Edit, str] = {}
    pairs: dict[tuple[str, str], None] = {}
    for shard in shards:
        for edit in shard.edits:
            if owners.setdefault(edit, shard.name) != shard.name:
                pairs[shard.name, owners[edit]] = None
    if sources is not None:
        rank = {shard.name: index for index, shard in enumerate(shards)}
        places: dict[str, list[tuple[int, int, str]]] = {}
        for shard in shards:
            own = [edit for edit in shard.edits if owners[edit] == shard.name]
            for path, hunk in file_hunks(own, sources):
                places.setdefault(path, []).append((hunk.start, hunk.start + len(hunk.old), shard.name))
        for spans in places.values():
            spans.sort()
            for (_, end, owner), (start, _, next_owner) in itertools.pairwise(spans):
                if start <= end and owner != next_owner:
                    later, earlier = sorted((owner, next_owner), key=rank.__getitem__, reverse=True)
                    pairs[later, earlier] = None
    return list(pairs)


def _holders(shards: Iterable[Shard]) -> dict[str, list[str]]:
    """For each family of operators the shards that hold code which it, and another, run."""
    holders: dict[str, list[str]] = {}
    for shard in shards:
        families = [{family(operator) for operator in operators_of([group])} for group in shard.groups]
        for name in set().union(*(names for names in families if len(names) > 1)):
            holders.setdefault(name, []).append(shard.name)
    return holders
