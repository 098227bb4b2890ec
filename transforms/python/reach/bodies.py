"""What functions of a tree do with values, read of those alone that are asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from transforms.python.reach.tree import Definition, SourceTree
from transforms.python.reading.bodies import Wanted
from transforms.python.reading.facts import Body, Call

Read = Callable[[Mapping[str, Wanted]], Mapping[str, Mapping[str, Body]]]
"""For what is wanted of each path, the bodies by path and name."""


class Bodies:
    """The bodies of some functions of a tree."""

    def __init__(self, tree: SourceTree, definitions: Iterable[Definition], read: Read) -> None:
        names: dict[str, set[str]] = {}
        for definition in definitions:
            if tree.facts[definition.path].sized:
                names.setdefault(definition.path, set()).add(definition.function.name)
        self._read = read({path: _wanted(tree, path, names[path]) for path in sorted(names)})

    def of(self, definition: Definition) -> Body:
        """The body of one of the functions; in a file that asks for no size nothing is known of values."""
        body = self._read.get(definition.path, {}).get(definition.function.name)
        return Body(tuple(map(Call, definition.function.calls))) if body is None else body


def _wanted(tree: SourceTree, path: str, names: Collection[str]) -> Wanted:
    tops = {name.partition(".")[0].partition("#")[0] for name in names}
    lines = {(first, last) for name, first, last in tree.facts[path].statements if name in tops}
    return Wanted(tuple(sorted(names)), tuple(sorted(lines)), tuple(sorted(tree.meanings(path).items())))
