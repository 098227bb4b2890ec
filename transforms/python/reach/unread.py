"""How many of a library's Python registrations were understood, which were not, and what Python cannot read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from transforms.python.reach.registrars import Role
from transforms.python.reach.tree import Definition
from transforms.python.reading.facts import FileFacts


def remarks(roles: Mapping[Definition, Sequence[Role]], selected: Callable[[str], bool]) -> Iterator[str]:
    """How many functions are registered for operators that have a name, and a line for each whose name is not known.

    Nothing where none is registered.
    """
    registered = [
        (definition, any(role.operator for role in held))
        for definition, held in roles.items()
        if selected(definition.path) and any(role.dispatched for role in held)
    ]
    if not registered:
        return
    unread = [definition for definition, named in registered if not named]
    rest = "; not understood:" if unread else ""
    yield f"Python registrations: {len(registered) - len(unread):,} of {len(registered):,} understood{rest}"
    for definition in sorted(unread, key=lambda definition: (definition.path, definition.function.line)):
        name = definition.function.name.partition("#")[0]
        yield f"{definition.path}:{definition.function.line}: {name}: the operator's name is computed"


def not_read(files: Iterable[FileFacts]) -> Iterator[str]:
    """A line for each file that speaks of torch and that this Python cannot read, so that nothing is said of it."""
    version = ".".join(map(str, sys.version_info[:2]))
    for facts in sorted(files, key=lambda facts: facts.path):
        if facts.broken:
            yield f"{facts.path}:{facts.broken}: Python {version} cannot read this file, so nothing is said of it"
