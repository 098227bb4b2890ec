"""The operators that Python gives a fake: by torch.library, or by a kernel that symbols may run."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from transforms.python.reach.kernels import COMPOSITE
from transforms.python.reach.registrations import Registrations

_WORD = re.compile(rb"\w+")


@dataclass(frozen=True, slots=True)
class Fakes:
    """What Python registers for symbols."""

    operators: frozenset[str]
    """`lib::op`, without overloads."""
    composites: frozenset[str]
    """Those that get a composite kernel, which stands in for one of C++."""
    words: frozenset[str]
    """The words of files that compute the names of the operators that they register fakes for."""

    def has(self, operator: str) -> bool:
        """Whether an operator has a fake, or may have one."""
        return self._may(operator, self.operators)

    def replaces(self, operator: str) -> bool:
        """Whether Python gives an operator a composite kernel, or may: torch refuses a fake for one that has one."""
        return self._may(operator, self.composites)

    def _may(self, operator: str, operators: frozenset[str]) -> bool:
        """Whether an operator is one of `operators`. A namespace that is a macro may be any."""
        namespace, _, name = operator.partition(".")[0].rpartition("::")
        if f"{namespace}::{name}" in operators or name in self.words:
            return True
        macro = re.match(r"[A-Z][A-Z0-9_]*(?:$|_)", namespace) is not None
        return macro and any(faked.endswith(f"::{name}") for faked in operators)


def fakes_of(registrations: Registrations, read: Callable[[str], bytes]) -> Fakes:
    """The fakes among `registrations`; `read` gives the bytes of a file."""
    operators: set[str] = set()
    composites: set[str] = set()
    computing: dict[str, None] = {}
    named = ((definition.path, role) for definition, roles in registrations.roles.items() for role in roles)
    for path, role in (*named, *registrations.lambdas):
        if role.kind and role.operator:
            name = role.operator.partition(".")[0]
            operators.add(name)
            if role.kind == COMPOSITE:
                composites.add(name)
        elif role.kind:
            computing[path] = None
    words = frozenset(word.decode() for path in computing for word in set(_WORD.findall(read(path))))
    return Fakes(frozenset(operators), frozenset(composites), words)
