"""Which classes of a tree are modules of torch.nn, whose `forward` whoever uses them may compile."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from transforms.python.reach.lineage import ClassPlace, Lineages
from transforms.python.reach.packages import KNOWN

if TYPE_CHECKING:
    from transforms.python.reach.tree import Definition, SourceTree

_MODULE = "Module"
_SPACE = "torch.nn."
_REGISTERING = frozenset({"self.register_buffer", "self.register_parameter", "self.register_module", "self.add_module"})
"""The methods by which a module keeps what it is made of, where it is not assigned."""
_DEPTH = 32
"""Classes that make one another that are looked through at the most."""


class Modules:
    """The classes whose lineage leads to a name that ends in `Module`, or into `torch.nn`.

    Other frameworks have modules too: one from outside of the tree counts in files that import torch, one of the tree
    where its file does, or that of the class.

    Where it leads out of the tree, to a name that says nothing (`PreTrainedModel`), a class is one that sets up its
    base and makes modules or parameters of its own.
    """

    def __init__(self, tree: SourceTree, lineages: Lineages) -> None:
        self._tree = tree
        self._lineages = lineages
        self._modules: dict[ClassPlace, bool] = {}

    def has(self, method: Definition) -> bool:
        """Whether a method is one of a module's."""
        return self._is_module(ClassPlace(method.path, method.function.name.rpartition(".")[0]), 0)

    def _is_module(self, kind: ClassPlace, depth: int) -> bool:
        if kind not in self._modules and depth < _DEPTH:
            self._modules[kind] = False  # while what it makes is looked at, which may be one of its own kind
            lineage = self._lineages.lineage(kind)
            self._modules[kind] = any(map(self._says_so, lineage)) or (
                any(map(self._leads_out, lineage)) and any(self._shows_it(above, depth) for above in lineage)
            )
        return self._modules.get(kind, False)

    def _says_so(self, kind: ClassPlace) -> bool:
        """Whether a class names a base as modules are named."""
        for base in self._lineages.bases(kind):
            target = self._lineages.target(kind.path, base)
            named = base.endswith(_MODULE) or target.endswith(_MODULE) or _of_nn(target)
            if named and not self._is_anothers(kind.path, base, target):
                return True
        return False

    def _is_anothers(self, path: str, base: str, target: str) -> bool:
        """Whether a module that a file imports, or defines, may be one of jax or another framework."""
        place = self._lineages.at_top(path, base)
        if place is None and (not target.partition(".")[0] or self._tree.located(target)[0]):
            return False
        return not any(map(self._tree.imports_torch, {path, place.path if place is not None else path}))

    def _leads_out(self, kind: ClassPlace) -> bool:
        """Whether a class has a base of which nothing is known: of no file of the tree, of Python or of torch."""
        return any(
            self._lineages.at_top(kind.path, base) is None
            and (top := self._lineages.target(kind.path, base).partition(".")[0]) not in KNOWN
            and (top or not hasattr(builtins, base))
            for base in self._lineages.bases(kind)
        )

    def _shows_it(self, kind: ClassPlace, depth: int) -> bool:
        """Whether the constructor of a class sets up its base and makes what only modules keep.

        Other libraries have methods of these names: they count in files that import torch.
        """
        constructor = self._tree.definition(kind.path, f"{kind.name}.__init__")
        calls = constructor.function.calls if constructor is not None else ()
        if not any(call == "super" or call.endswith(".__init__") for call in calls):
            return False
        if any(_of_nn(self._lineages.target(kind.path, call)) for call in calls):
            return True
        if not _REGISTERING.isdisjoint(calls) and self._tree.imports_torch(kind.path):
            return True
        made = filter(None, (self._lineages.at_top(kind.path, call) for call in calls))
        return any(self._is_module(other, depth + 1) for other in made)


def _of_nn(target: str) -> bool:
    """Whether a dotted name is that of a class of `torch.nn`."""
    return target.startswith(_SPACE) and target.rpartition(".")[2].lstrip("_")[:1].isupper()
