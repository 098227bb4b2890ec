"""Which functions torch.export runs itself, unless it is strict: the forward of a module, and what that calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from transforms.python.reach.tree import Definition, SourceTree


def is_forward(tree: SourceTree, definition: Definition) -> bool:
    """Whether a function is the forward of a module, or its own `__call__`, which runs before it."""
    function = definition.function
    return function.own_name in ("forward", "__call__") and function.method and tree.of_module(definition)


def exported(entries: Iterable[Definition], called: Mapping[Definition, Iterable[Definition]]) -> set[Definition]:
    """The functions to which the calls that are known lead from `entries`, with these."""
    found = set(entries)
    queue = list(found)
    while queue:
        fresh = set(called.get(queue.pop(), ())) - found
        found |= fresh
        queue += fresh
    return found
