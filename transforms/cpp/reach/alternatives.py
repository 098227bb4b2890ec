"""Functions that are defined more than once: `#if … #else …`, or files of which a build takes one.

Their signatures change together or not at all: others know them by one declaration, whichever is built.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from transforms.cpp.reach.headers import same_function
from transforms.cpp.reading.facts import Function, Slot
from transforms.cpp.reading.records import is_header
from transforms.cpp.reading.types import Type, parse_type

Key = tuple[str, int]
"""(path, start) of a function."""


def are_alternatives(function: Function, other: Function) -> bool:
    """Whether two definitions are of one function; those with internal linkage are where one file can hold both."""
    if (function.path, function.start) == (other.path, other.start) or function.structured or other.structured:
        return False
    if min(function.body, other.body) < 0 or _identity(function) != _identity(other):
        return False
    shared = not (function.internal or other.internal) or (is_header(function.path) and is_header(other.path))
    return shared or function.path == other.path


def declares(declaration: Function, function: Function, definitions: Iterable[Function]) -> bool:
    """Whether a declaration is that of a function, of all `definitions` that have its name.

    A namespace that a macro opens is not seen: one of two names may lack it where no other definition fits.
    """
    if declaration.body >= 0 or same_function(declaration) != same_function(function):
        return False
    internal = declaration.internal or function.internal
    if internal and declaration.path != function.path and not is_header(declaration.path):
        return False
    if declaration.qualified == function.qualified:
        return True
    ours, theirs = declaration.qualified.split("::"), function.qualified.split("::")
    return (_holds(ours, theirs) or _holds(theirs, ours)) and not any(
        other.body >= 0 and _identity(other) == _identity(declaration) for other in definitions
    )


def _identity(function: Function) -> tuple[str, tuple[Type, ...]]:
    return function.qualified, tuple(parse_type(parameter.type) for parameter in function.params)


def _holds(longer: Sequence[str], shorter: Iterable[str]) -> bool:
    """Whether the parts of one name stand in another, in their order."""
    rest = iter(longer)
    return all(part in rest for part in shorter)


class Alternatives:
    """The functions of a tree that are defined more than once."""

    def __init__(self, definitions: Iterable[Function]) -> None:
        self._named: dict[str, list[Function]] = {}
        self._of: dict[Key, tuple[Function, ...]] = {}
        for function in definitions:
            self._named.setdefault(function.name, []).append(function)

    def of(self, function: Function) -> tuple[Function, ...]:
        """The other definitions of a function."""
        key = function.path, function.start
        if key not in self._of:
            named = self._named.get(function.name, ())
            self._of[key] = tuple(other for other in named if are_alternatives(function, other))
        return self._of[key]

    def slots(self, slot: Slot, function: Function) -> Iterator[Slot]:
        """What a slot of `function` is in its other definitions."""
        return (replace(slot, path=other.path, start=other.start) for other in self.of(function))

    def groups(self, functions: Collection[Function]) -> Iterator[frozenset[Key]]:
        """The definitions of each of `functions` that has more than one."""
        for function in functions:
            others = self.of(function)
            if others:
                yield frozenset((each.path, each.start) for each in (function, *others))
