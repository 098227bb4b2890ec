"""What functions of a tree do with values, read of those alone that are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from transforms.python.reach.tree import Definition, SourceTree
from transforms.python.reading.facts import Body, Call

Read = Callable[[Mapping[str, tuple[str, ...]]], Mapping[str, Mapping[str, Body]]]
"""For the names of functions by path, their bodies by path and name."""


class Bodies:
    """The bodies of some functions of a tree."""

    def __init__(self, tree: SourceTree, definitions: Iterable[Definition], read: Read) -> None:
        names: dict[str, set[str]] = {}
        for definition in definitions:
            if tree.facts[definition.path].sized:
                names.setdefault(definition.path, set()).add(definition.function.name)
        self._read = read({path: tuple(sorted(names[path])) for path in sorted(names)})

    def of(self, definition: Definition) -> Body:
        """The body of one of the functions; in a file that asks for no size nothing is known of values."""
        body = self._read.get(definition.path, {}).get(definition.function.name)
        return Body(tuple(map(Call, definition.function.calls))) if body is None else body
