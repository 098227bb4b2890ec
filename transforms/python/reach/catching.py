"""Which exceptions of functions their callers may catch."""

from __future__ import annotations

from collections.abc import Collection

from transforms.python.reach.tree import Definition, SourceTree


def caught_by_callers(tree: SourceTree, functions: Collection[Definition]) -> dict[Definition, frozenset[str]]:
    """For those of `functions` that others of them call: the exceptions that these, or their callers, may catch."""
    caught: dict[Definition, frozenset[str]] = {}
    queue = [definition for definition in functions if definition.function.caught]
    while queue:
        caller = queue.pop()
        everywhere = caught.get(caller, frozenset())
        here: dict[str, set[str]] = {}
        for name, kinds in caller.function.caught:
            here.setdefault(name, set()).update(kinds.split(" "))
        for name in caller.function.calls if everywhere else here:
            taken = everywhere.union(here.get(name, ()))
            callee = tree.resolve(caller, name)
            for definition in (callee, *tree.namesakes(callee)) if callee is not None else ():
                earlier = caught.get(definition, frozenset())
                if definition in functions and not taken <= earlier:
                    caught[definition] = earlier | taken
                    queue.append(definition)
    return caught
