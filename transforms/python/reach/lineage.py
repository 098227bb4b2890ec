"""The classes of a tree with their bases, through imports from file to file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from transforms.python.reach.tree import Definition, SourceTree

_LEVELS = 16
"""Classes in a lineage, and imports of a name, that are looked through at the most."""


class ClassPlace(NamedTuple):
    """A class by its file and its qualified name there."""

    path: str
    name: str


class Lineages:
    """The classes of a tree that have bases or methods."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._bases: dict[ClassPlace, tuple[str, ...]] = {}
        for path, facts in tree.facts.items():
            named = {name: bases for name, bases in facts.registering.classes if bases}
            for function in facts.functions:
                if function.method:
                    named[function.name.rpartition(".")[0]] = tuple(map(_plain, function.bases))
            self._bases |= {ClassPlace(path, name): bases for name, bases in named.items()}
        self._found: dict[tuple[str, str], ClassPlace | None] = {}
        self._lineages: dict[ClassPlace, list[ClassPlace]] = {}
        self._below: dict[ClassPlace, list[ClassPlace]] = {}

    def __contains__(self, kind: ClassPlace) -> bool:
        return kind in self._bases

    def bases(self, kind: ClassPlace) -> tuple[str, ...]:
        """The bases of a class as written, without what they are subscripted with."""
        return self._bases.get(kind, ())

    def at_top(self, path: str, name: str) -> ClassPlace | None:
        """The class that a dotted name means at the top of a file."""
        key = (path, name)
        if key not in self._found:
            self._found[key] = next((place for place in self.places(path, name) if place in self._bases), None)
        return self._found[key]

    def places(self, path: str, name: str) -> Iterator[ClassPlace]:
        """Where a dotted name may be bound: in the file, and in those that it is imported from, one after the other."""
        for _ in range(_LEVELS):
            yield ClassPlace(path, name)
            module, name = self.imported(path, name)
            if not name or module in ("", path):
                return
            path = module

    def imported(self, path: str, name: str) -> tuple[str, str]:
        """The file and the name there of what a dotted name means by an import."""
        return self._tree.bound(self.target(path, name))

    def target(self, path: str, name: str) -> str:
        """The dotted name that a dotted name has outside of its file; "" where no import brings it."""
        head, _, rest = name.partition(".")
        target = self._tree.imported(path, head)
        return f"{target}.{rest}" if rest else target

    def lineage(self, kind: ClassPlace, above: ClassPlace | None = None) -> list[ClassPlace]:
        """A class and its bases in the tree, the nearest first; with `above` only those behind that one."""
        if kind not in self._lineages:
            self._lineages[kind] = self._lineage_of(kind)
        lineage = self._lineages[kind]
        return lineage[lineage.index(above) + 1 :] if above in lineage else lineage

    def _lineage_of(self, kind: ClassPlace) -> list[ClassPlace]:
        lineage: list[ClassPlace] = []
        pending = [kind]
        while pending and len(lineage) < _LEVELS:
            current = pending.pop(0)
            if current not in lineage:
                lineage.append(current)
                bases = (self.at_top(current.path, base) for base in self.bases(current))
                pending += filter(None, bases)
        return lineage

    def method(self, kind: ClassPlace, name: str, above: ClassPlace | None = None) -> Definition | None:
        """The definition of a method, of the nearest class of a lineage that has one."""
        lineage = self.lineage(kind, above)
        methods = (self._tree.definition(current.path, f"{current.name}.{name}") for current in lineage)
        return next(filter(None, methods), None)

    def overriding(self, kind: ClassPlace, name: str) -> list[Definition]:
        """The definitions of a method in classes below one, of whose objects it may be called."""
        if not self._below:
            for below in self._bases:
                for above in self.lineage(below)[1:]:
                    self._below.setdefault(above, []).append(below)
        methods = (self._tree.definition(below.path, f"{below.name}.{name}") for below in self._below.get(kind, ()))
        return list(filter(None, methods))


def _plain(base: str) -> str:
    """`Base` of `Base[int]`."""
    return base.partition("[")[0]
