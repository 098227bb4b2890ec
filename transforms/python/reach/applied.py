"""What a call of `apply` runs of a class of torch.autograd.Function: its `forward`, and in its time its `backward`.

Dynamo traces both where it traces the call, and so does autograd of what traces without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from transforms.python.reach.tree import Definition, SourceTree

_FUNCTION = re.compile(r"torch\.autograd\.(?:function\.)?(?:Inplace)?Function")
BACKWARD, SETUP = "backward", "setup_context"
_LEVELS = 8
"""Bases above a class, and imports of a name, that are looked through at the most."""


class _Class(NamedTuple):
    """A class by its file and its qualified name there."""

    path: str
    name: str


class Applied:
    """The calls of `apply` in a tree, by that name or by one that a module gives it."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._aliases = {path: dict(facts.registering.applied) for path, facts in tree.facts.items()}
        own = {name for aliases in self._aliases.values() for name in aliases}
        imports = (pair for facts in tree.facts.values() for pair in facts.imports) if own else ()
        self.names = frozenset({"apply", *own, *(name for name, of in imports if of.rpartition(".")[2] in own)})
        """The last names of all callees that may be `apply` of a class."""
        self._bases: dict[_Class, tuple[str, ...]] = {}
        for path, facts in tree.facts.items():
            for function in facts.functions:
                if function.method:
                    self._bases[_Class(path, function.name.rpartition(".")[0])] = function.bases
            self._bases.update({_Class(path, name): bases for name, bases in facts.registering.classes})
        self._found: dict[tuple[str, str], _Class | None] = {}
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
        if kind is None or not self._is_function(kind) or self._method(kind, "apply") is not None:
            return
        forward = self._method(kind, "forward")
        if forward is not None:
            yield forward
            yield from filter(None, (self._method(kind, name) for name in (SETUP, BACKWARD)))

    def _applied(self, caller: Definition, callee: str) -> _Class | None:
        """The class whose `apply` a callee means inside a function."""
        name, _, last = callee.rpartition(".")
        if last == "apply" and name in ("self", "cls") and caller.function.method:
            return _Class(caller.path, caller.function.name.rpartition(".")[0])
        if last == "apply" and name:
            scope = caller.function.name
            while scope and "." not in name:
                if (nested := _Class(caller.path, f"{scope}.{name}")) in self._bases:
                    return nested
                scope = scope.rpartition(".")[0]
            return self._at_top(caller.path, name)
        path, name = caller.path, callee
        for _ in range(_LEVELS):
            if name in self._aliases[path]:
                return self._at_top(path, self._aliases[path][name])
            module, name = self._imported(path, name)
            if not name or module in ("", path):
                return None
            path = module
        return None

    def _at_top(self, path: str, name: str) -> _Class | None:
        """The class that a dotted name means at the top of a file."""
        key = (path, name)
        if key not in self._found:
            self._found[key] = None
            for _ in range(_LEVELS):
                if _Class(path, name) in self._bases:
                    self._found[key] = _Class(path, name)
                    break
                module, name = self._imported(path, name)
                if not name or module in ("", path):
                    break
                path = module
        return self._found[key]

    def _imported(self, path: str, name: str) -> tuple[str, str]:
        """The file and the name there of what a dotted name means by an import."""
        return self._tree.located(self._target(path, name))

    def _target(self, path: str, name: str) -> str:
        head, _, rest = name.partition(".")
        target = self._tree.imported(path, head)
        return f"{target}.{rest}" if rest else target

    def _lineage(self, kind: _Class) -> list[_Class]:
        """A class and its bases in the tree, the nearest first."""
        lineage: list[_Class] = []
        pending = [kind]
        while pending and len(lineage) < _LEVELS:
            current = pending.pop(0)
            if current not in lineage:
                lineage.append(current)
                bases = (self._at_top(current.path, base) for base in self._bases.get(current, ()))
                pending += filter(None, bases)
        return lineage

    def _is_function(self, kind: _Class) -> bool:
        """Whether a class is one of torch.autograd.Function."""
        return any(
            _FUNCTION.fullmatch(self._target(current.path, base))
            for current in self._lineage(kind)
            for base in self._bases.get(current, ())
        )

    def _method(self, kind: _Class, name: str) -> Definition | None:
        methods = (self._tree.definition(current.path, f"{current.name}.{name}") for current in self._lineage(kind))
        return next(filter(None, methods), None)
