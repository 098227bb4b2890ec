"""Classes of a tree that register operators from their methods, and what the attributes of their objects are.

A library may keep each operator as an object, whose constructor or method registers it by an attribute
(`lib.impl(self.name, self._call)`): the constructor is followed with the arguments of each call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from transforms.python.reach.registrars import Bound, Class, Instance, Local, Value
from transforms.python.reach.tree import Definition, SourceTree

_LEVELS = 8
"""Bases above a class that are looked through at the most."""


class Classes:
    """The classes of a tree of which a method, or one of a base's, may register."""

    def __init__(self, tree: SourceTree, wrappers: Collection[tuple[str, str]]) -> None:
        """`wrappers` are the (file, name) of the functions and methods whose source is kept."""
        self._tree = tree
        self._registering = {(path, name.rpartition(".")[0]) for path, name in wrappers if "." in name}
        self._bases: Mapping[tuple[str, str], tuple[str, ...]] = {
            (path, name): bases for path, facts in tree.facts.items() for name, bases in facts.registering.classes
        }

        self._places: dict[tuple[str, str], tuple[str, str] | None] = {}

    def __bool__(self) -> bool:
        return bool(self._registering)

    def named(self, path: str, name: str, modules: bool = False) -> Class | None:
        """The class that a dotted name means at the top of a file, None where none of its methods registers.

        With `modules` a class with a `forward` is wanted too.
        """
        place = self._place(path, name)
        made = Class(*place) if place is not None else None
        if made is None or (modules and self.method(made, "forward") is not None):
            return made
        return made if any((c.path, c.name) in self._registering for c in self.lineage(made)) else None

    def lineage(self, kind: Class, above: Class | None = None) -> Iterator[Class]:
        """A class and its bases in the tree, the nearest first; with `above` only those behind that one."""
        seen: list[Class] = []
        pending = [kind]
        while pending and len(seen) < _LEVELS:
            current = pending.pop(0)
            if current in seen:
                continue
            seen.append(current)
            for base in self._bases.get((current.path, current.name), ()):
                place = self._place(current.path, base)
                pending += [Class(*place)] if place is not None else []
        yield from seen[seen.index(above) + 1 :] if above in seen else seen

    def _place(self, path: str, name: str) -> tuple[str, str] | None:
        """The file and the name of the class that a dotted name means at the top of a file."""
        key = (path, name)
        if key not in self._places:
            self._places[key] = self._found(path, name)
        return self._places[key]

    def _found(self, path: str, name: str) -> tuple[str, str] | None:
        for _ in range(_LEVELS):
            if (path, name) in self._bases or (path, name) in self._registering:
                return path, name
            head, _, rest = name.partition(".")
            target = self._tree.imported(path, head)
            module, inner = self._tree.located(f"{target}.{rest}" if rest else target)
            if not inner or module in ("", path):
                return None
            path, name = module, inner
        return None

    def method(self, held: Class | Instance, name: str) -> Definition | None:
        """The definition of a method."""
        kind, above = (held, None) if isinstance(held, Class) else (held.kind, held.above)
        for place in self.lineage(kind, above):
            definition = self._tree.definition(place.path, f"{place.name}.{name}")
            if definition is not None:
                return definition
        return None


def bound(definition: Definition, held: Class | Instance) -> Value:
    """A method as an attribute of a class or an object gives it."""
    decorators = definition.function.decorators
    if "staticmethod" in decorators:
        return Local(definition)
    if "classmethod" in decorators:
        return Bound(Local(definition), [("0", (held.kind if isinstance(held, Instance) else held,))])
    if isinstance(held, Class):
        return Local(definition)
    return Bound(Local(definition), [("0", (held.whole(),))])
