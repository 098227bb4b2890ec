"""The operators that Python gives a fake: by torch.library, or by a kernel that symbols may run."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from transforms.python.reach.registrations import Registrations

_WORD = re.compile(rb"\w+")


@dataclass(frozen=True, slots=True)
class Fakes:
    """What Python registers for symbols."""

    operators: frozenset[str]
    """`lib::op`, without overloads."""
    words: frozenset[str]
    """The words of files that compute the names of the operators that they register fakes for."""

    def has(self, operator: str) -> bool:
        """Whether an operator has a fake, or may have one. A namespace that is a macro may be any."""
        namespace, _, name = operator.partition(".")[0].rpartition("::")
        if f"{namespace}::{name}" in self.operators or name in self.words:
            return True
        macro = re.match(r"[A-Z][A-Z0-9_]*(?:$|_)", namespace) is not None
        return macro and any(faked.endswith(f"::{name}") for faked in self.operators)


def fakes_of(registrations: Registrations, read: Callable[[str], bytes]) -> Fakes:
    """The fakes among `registrations`; `read` gives the bytes of a file."""
    operators: set[str] = set()
    computing: dict[str, None] = {}
    named = ((definition.path, role) for definition, roles in registrations.roles.items() for role in roles)
    for path, role in (*named, *registrations.lambdas):
        if role.kind and role.operator:
            operators.add(role.operator.partition(".")[0])
        elif role.kind:
            computing[path] = None
    words = frozenset(word.decode() for path in computing for word in set(_WORD.findall(read(path))))
    return Fakes(frozenset(operators), words)
