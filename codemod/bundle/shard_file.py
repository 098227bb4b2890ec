"""A plan of shards as a file that people edit: names, bases, and the functions that each shard changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from codemod.borders.documents import LARGEST_SETTINGS, load_yaml, read_bounded
from codemod.borders.quoting import file_name
from codemod.bundle.shard_names import member
from codemod.bundle.shards import Shard
from codemod.errors import SymfixError
from codemod.model.groups import Group

FORMAT = "symfix-shards"
VERSION = 1
_HEAD = """\
# Shards, as symfix bundle --shards takes them. Names, bases and what a shard changes can be edited, shards joined,
# parted and left out; a change stands in one shard at most.
"""


def to_yaml(shards: Sequence[Shard]) -> str:
    """The document of `shards`."""
    import yaml

    keys = _keys(group for shard in shards for group in shard.groups)
    names = {id(group): key for key, group in keys.items()}
    entries = []
    for shard in shards:
        entry: dict[str, Any] = {"name": shard.name, "kind": shard.kind, "about": shard.about}
        if shard.bases:
            entry["bases"] = list(shard.bases)
        entry["changes"] = [names[id(group)] for group in shard.groups]
        entries.append(entry)
    document = {"format": FORMAT, "version": VERSION, "shards": entries}
    return _HEAD + yaml.safe_dump(document, sort_keys=False, width=1000)


def load(path: Path, groups: Sequence[Group]) -> list[Shard]:
    """The shards that a file describes, made of `groups`; it may leave some of those out.

    Raises SymfixError where it is no such file, or names what is not there or twice.
    """
    keys = _keys(groups)
    shards: list[Shard] = []
    used: dict[str, str] = {}
    for number, entry in enumerate(_entries(path), 1):
        name = entry.get("name")
        if not isinstance(name, str) or not name or file_name(name) != name:
            raise SymfixError(f"{path}: shard {number}: {name!r} is no name for a branch; use letters, digits, _ - .")
        if any(name.casefold() == shard.name.casefold() for shard in shards):
            raise SymfixError(f"{path}: two shards are named {name}")
        chosen = _texts(path, name, entry, "changes")
        for key in chosen:
            if key not in keys:
                raise SymfixError(
                    f"{path}: shard {name}: there is no change {key!r} now; make the file again with --save-shards"
                )
            if key in used:
                raise SymfixError(f"{path}: {key} stands in {used[key]} and in {name}; take one away")
            used[key] = name
        if not chosen:
            raise SymfixError(f"{path}: shard {name}: changes nothing; take it out")
        held = tuple(keys[key] for key in chosen)
        operators = sorted({operator for group in held for finding in group.findings for operator in finding.operators})
        kind, about = str(entry.get("kind", "file")), str(entry.get("about", name))
        bases = tuple(_texts(path, name, entry, "bases"))
        shards.append(Shard(name, tuple(operators), held, bases, kind, about))
    return shards


def _entries(path: Path) -> list[dict[str, Any]]:
    try:
        document = load_yaml(read_bounded(path, LARGEST_SETTINGS), str(path))
    except OSError as error:
        raise SymfixError(f"{path}: the shards cannot be read: {error.strerror}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise SymfixError(f"{path}: no plan of shards; make one with symfix bundle --dry-run --save-shards FILE")
    if (version := document.get("version")) != VERSION:
        raise SymfixError(f"{path}: version {version!a}, but this symfix reads {VERSION}; make it again")
    entries = document.get("shards")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise SymfixError(f"{path}: `shards` is not a list of shards; make the file again with --save-shards")
    return entries


def _texts(path: Path, name: str, entry: dict[str, Any], field: str) -> list[str]:
    texts = entry.get(field) or []
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise SymfixError(f"{path}: shard {name}: `{field}` is not a list of names")
    return texts


def _keys(groups: Iterable[Group]) -> dict[str, Group]:
    """A name for each group: `path:function`, and from the second of that name on `path:function#2`."""
    seen: Counter[str] = Counter()
    keys = {}
    for group in sorted(groups, key=lambda group: (member(group), group.findings[0].start, group.level)):
        name = member(group)
        seen[name] += 1
        keys[name if seen[name] == 1 else f"{name}#{seen[name]}"] = group
    return keys
