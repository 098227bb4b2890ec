"""How many of a library's Python registrations were understood, and which were not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from transforms.python.reach.registrars import Role
from transforms.python.reach.tree import Definition


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
