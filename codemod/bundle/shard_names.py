"""Names of shards, the same from plan to plan: stored in the journal with what each name stands for."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codemod.borders.documents import fit, load_json
from codemod.borders.files import read_file
from codemod.borders.quoting import file_name
from codemod.errors import SymfixError
from codemod.model.groups import Group
from codemod.writing.files import make_folder, replace_file

_FORMAT = "symfix-shard-names"
_DOCUMENT = {"format": frozenset([_FORMAT]), "shards": {str: {"key": str, "members": [str]}}}
_PART = re.compile(r"(.+)#([1-9]\d{0,5})", re.DOTALL)
_INDEX = "series"  # symfix pr names its index so, beside the shards' texts


@dataclass(slots=True)
class Cluster:
    """Groups that shall be one shard. `key` identifies it in every plan.

    `names` are its candidates for a name, best first; `kind` and `about` are the shard's.
    """

    key: str
    names: tuple[str, ...]
    kind: str
    about: str
    groups: list[Group] = field(default_factory=list)

    @property
    def members(self) -> tuple[str, ...]:
        """The functions in it, as `path:function`, sorted."""
        return tuple(sorted({member(group) for group in self.groups}))

    def part(self, number: int) -> Cluster:
        """Another part of it, empty."""
        names = tuple(f"{name}-{number}" for name in self.names)
        return dataclasses.replace(self, key=f"{self.key}#{number}", names=names, groups=[])


def member(group: Group) -> str:
    """The name of a group that outlives a change of its lines: `path:function` of its first finding."""
    first = group.findings[0]
    return f"{first.path}:{first.function}"


class ShardNames:
    """The names in use, each with the key and the members of its shard when it was last planned."""

    def __init__(self) -> None:
        self._shards: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._loaded: frozenset[str] = frozenset()

    def __contains__(self, name: str) -> bool:
        """Whether an earlier plan had a shard of that name."""
        return name in self._loaded

    @classmethod
    def load(cls, journal: Path) -> ShardNames:
        """The names kept in the folder `journal`, none where there is no such file.

        Raises SymfixError where the file is damaged.
        """
        path = journal / "shards.json"
        names = cls()
        remedy = "remove it, and shards get new names"
        try:
            document = load_json(read_file(path), str(path), remedy)
        except FileNotFoundError:
            return names
        except OSError as error:
            raise SymfixError(f"{path}: cannot be read: {error.strerror}; {remedy}") from error
        fit(document, _DOCUMENT, str(path), remedy)
        names._shards = {name: (entry["key"], tuple(entry["members"])) for name, entry in document["shards"].items()}
        for name in names._shards:
            if file_name(name) != name:
                raise SymfixError(f"{path}: damaged ({name!a} is no name of a shard); {remedy}")
        names._loaded = frozenset(names._shards)
        return names

    def save(self, journal: Path) -> None:
        """Keep the names in the folder `journal`. Raises OSError where they cannot be written."""
        make_folder(journal)
        shards = {name: {"key": key, "members": members} for name, (key, members) in sorted(self._shards.items())}
        text = json.dumps({"format": _FORMAT, "shards": shards}, indent=1)
        replace_file(journal / "shards.json", text.encode("ascii"))

    def part(self, key: str, group: Group) -> int:
        """The part of the shard `key` that held `group` in an earlier plan, counted from 1; 0 for none."""
        for part_key, members in self._shards.values():
            whole, number = _split(part_key)
            if whole == key and member(group) in members:
                return number
        return 0

    def assign(self, clusters: Iterable[Cluster]) -> dict[str, Cluster]:
        """A name for each cluster, reserved from then on.

        The name its key had; else that of a shard that is gone and held its functions, under whatever path; else the
        first of its names that is free.
        """
        waiting = list(clusters)
        named: dict[str, Cluster] = {}
        by_key = {key: name for name, (key, _) in self._shards.items()}
        fresh = []
        for cluster in waiting:
            if cluster.key in by_key:
                named[by_key[cluster.key]] = cluster
            else:
                fresh.append(cluster)
        for cluster in fresh:
            named[self._moved(cluster, named) or self._free(cluster.names, named)] = cluster
        for name, cluster in named.items():
            self._shards[name] = (cluster.key, cluster.members)
        return named

    def _moved(self, cluster: Cluster, taken: dict[str, Cluster]) -> str:
        """The name of a shard of the same kind that is gone and held exactly these functions in other files.

        The key of an operator's shard names no file: where it differs, the operator does, and so does the shard.
        """
        kind = cluster.key.partition(":")[0]
        if kind == "operator":
            return ""
        functions = _functions(cluster.members)
        for name, (key, members) in sorted(self._shards.items()):
            if name not in taken and key.partition(":")[0] == kind and _functions(members) == functions:
                return name
        return ""

    def _free(self, names: Sequence[str], taken: dict[str, Cluster]) -> str:
        used = {name.casefold() for name in (*taken, *self._shards, _INDEX)}
        safe = [file_name(name) or "shard" for name in names]
        # Cut, so that the number stays within what `file_name` keeps: the name has to be read again.
        numbered = (file_name(f"{safe[-1][:70]}-{number}") for number in itertools.count(2))
        return next(name for name in itertools.chain(safe, numbered) if name.casefold() not in used)


def _functions(members: Iterable[str]) -> list[str]:
    return sorted(name.partition(":")[2] for name in members)


def _split(part_key: str) -> tuple[str, int]:
    """The key of the whole shard, and which part of it `part_key` names, counted from 1."""
    numbered = _PART.fullmatch(part_key)
    return (numbered[1], int(numbered[2])) if numbered else (part_key, 1)
