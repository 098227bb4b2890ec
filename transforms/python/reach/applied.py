"""What a call of `apply` runs of a class of torch.autograd.Function: its `forward`, and in its time its `backward`.

Dynamo traces both where it traces the call, and so does autograd of what traces without it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from transforms.python.reach.lineage import ClassPlace, Lineages

if TYPE_CHECKING:
    from transforms.python.reach.tree import Definition, SourceTree

_FUNCTION = re.compile(r"torch\.autograd\.(?:function\.)?(?:Inplace)?Function")
BACKWARD, SETUP = "backward", "setup_context"
_LEVELS = 8
"""Files that a name is looked for in at the most."""


class Applied:
    """The calls of `apply` in a tree, by that name or by one that a module gives it."""

    def __init__(self, tree: SourceTree, lineages: Lineages) -> None:
        self._lineages = lineages
        self._aliases = {path: dict(facts.registering.applied) for path, facts in tree.facts.items()}
        own = {name for aliases in self._aliases.values() for name in aliases}
        imports = (pair for facts in tree.facts.values() for pair in facts.imports) if own else ()
        self.names = frozenset({"apply", *own, *(name for name, of in imports if of.rpartition(".")[2] in own)})
        """The last names of all callees that may be `apply` of a class."""
        self._runs: dict[tuple[str, str, str], tuple[Definition, ...]] = {}

    def runs(self, caller: Definition, callee: str) -> tuple[Definition, ...]:
        """The `forward` that a callee runs, with `setup_context` and `backward`; none where it is no such `apply`."""
        if callee.rpartition(".")[2] not in self.names:
            return ()
        key = (caller.path, caller.function.name, callee)
        if key not in self._runs:
            self._runs[key] = tuple(self._methods(caller, callee))
        return self._runs[key]

    def _methods(self, caller: Definition, callee: str) -> Iterator[Definition]:
        kind = self._applied(caller, callee)
        if kind is None or not self._is_function(kind) or self._lineages.method(kind, "apply") is not None:
            return
        forward = self._lineages.method(kind, "forward")
        if forward is not None:
            yield forward
            yield from filter(None, (self._lineages.method(kind, name) for name in (SETUP, BACKWARD)))

    def _applied(self, caller: Definition, callee: str) -> ClassPlace | None:
        """The class whose `apply` a callee means inside a function."""
        name, _, last = callee.rpartition(".")
        if last == "apply" and name in ("self", "cls") and caller.function.method:
            return ClassPlace(caller.path, caller.function.name.rpartition(".")[0])
        if last == "apply" and name:
            scope = caller.function.name
            while scope and "." not in name:
                if (nested := ClassPlace(caller.path, f"{scope}.{name}")) in self._lineages:
                    return nested
                scope = scope.rpartition(".")[0]
            return self._lineages.at_top(caller.path, name)
        for path, alias in itertools.islice(self._lineages.places(caller.path, callee), _LEVELS):
            if alias in self._aliases[path]:
                return self._lineages.at_top(path, self._aliases[path][alias])
        return None

    def _is_function(self, kind: ClassPlace) -> bool:
        """Whether a class is one of torch.autograd.Function."""
        return any(
            _FUNCTION.fullmatch(self._lineages.target(current.path, base))
            for current in self._lineages.lineage(kind)
            for base in self._lineages.bases(current)
        )
