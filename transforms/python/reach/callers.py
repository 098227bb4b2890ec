"""Which functions nothing outside of their own file is seen to call."""

from __future__ import annotations

from collections.abc import Collection

from transforms.python.reach.tree import Definition, SourceTree
from transforms.python.reading.registering import last_name


def called_here(tree: SourceTree, candidates: Collection[Definition]) -> set[Definition]:
    """Those of `candidates` that no other file of the tree calls or imports, as far as names say."""
    named: dict[str, list[Definition]] = {}
    for definition in candidates:
        named.setdefault(definition.function.own_name, []).append(definition)
    imported = {target.rpartition(".")[2] for facts in tree.facts.values() for _, target in facts.imports}
    elsewhere = {d for d in candidates if not d.function.method and d.function.own_name in imported}
    for caller in tree.definitions() if candidates else ():
        for name in caller.function.calls:
            for definition in named.get(last_name(name), ()):
                if definition.path != caller.path and tree.resolve(caller, name) in (None, definition):
                    elsewhere.add(definition)
    return set(candidates) - elsewhere
