"""Classes of a tree that register operators from their methods, and what the attributes of their objects are.

A library may keep each operator as an object, whose constructor or method registers it by an attribute
(`lib.impl(self.name, self._call)`): the constructor is followed with the arguments of each call.
"""

from __future__ import annotations

from collections.abc import Collection

from transforms.python.reach.lineage import ClassPlace
from transforms.python.reach.registrars import Bound, Instance, Local, Value
from transforms.python.reach.tree import Definition, SourceTree


class Classes:
    """The classes of a tree of which a method, or one of a base's, may register."""

    def __init__(self, tree: SourceTree, wrappers: Collection[tuple[str, str]]) -> None:
        """`wrappers` are the (file, name) of the functions and methods whose source is kept."""
        self._lineages = tree.lineages
        self._registering = {ClassPlace(path, name.rpartition(".")[0]) for path, name in wrappers if "." in name}

    def __bool__(self) -> bool:
        return bool(self._registering)

    def named(self, path: str, name: str, modules: bool = False) -> ClassPlace | None:
        """The class that a dotted name means at the top of a file, None where none of its methods registers.

        With `modules` a class with a `forward` is wanted too.
        """
        made = self._lineages.at_top(path, name)
        if made is None or (modules and self.method(made, "forward") is not None):
            return made
        return made if not self._registering.isdisjoint(self._lineages.lineage(made)) else None

    def lineage(self, held: ClassPlace | Instance) -> list[ClassPlace]:
        """The classes in which an attribute of a class or an object is looked for, in turn."""
        return self._lineages.lineage(*_sought(held))

    def method(self, held: ClassPlace | Instance, name: str) -> Definition | None:
        """The definition of a method."""
        kind, above = _sought(held)
        return self._lineages.method(kind, name, above)


def _sought(held: ClassPlace | Instance) -> tuple[ClassPlace, ClassPlace | None]:
    """The class of a value, and the one whose bases alone are looked through."""
    return (held.kind, held.above) if isinstance(held, Instance) else (held, None)


def bound(definition: Definition, held: ClassPlace | Instance) -> Value:
    """A method as an attribute of a class or an object gives it."""
    decorators = definition.function.decorators
    if "staticmethod" in decorators:
        return Local(definition)
    if "classmethod" in decorators:
        return Bound(Local(definition), [("0", (held.kind if isinstance(held, Instance) else held,))])
    if isinstance(held, ClassPlace):
        return Local(definition)
    return Bound(Local(definition), [("0", (held.whole(),))])
