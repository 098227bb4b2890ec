"""Which functions are named by code that does not call them, and so are run by who knows whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import TypeAlias

from transforms.python.reach.tree import Definition, SourceTree
from transforms.python.reading.named import Named

NamedIn: TypeAlias = Callable[[Mapping[str, tuple[str, ...]]], Mapping[str, tuple[Named, ...]]]
"""Gives for each file where it names one of the names that are asked of it."""


def names_nothing(wanted: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[Named, ...]]:
    """Says of every file that it names nothing."""
    return dict.fromkeys(wanted, ())


def namings(
    tree: SourceTree,
    functions: Collection[Definition],
    registered: Collection[Definition],
    paths: Collection[str],
    named_in: NamedIn,
) -> dict[Definition | None, set[Definition]]:
    """The `functions` that code in `paths` names, by the function that does so, None for a module or a class.

    Those `registered` by no decorator are registered where they are named: in that call, or by way of a table.
    """
    found: defaultdict[Definition | None, set[Definition]] = defaultdict(set)
    by_call: set[Definition] = set()
    others: list[tuple[Definition | None, Definition]] = []
    for path, every in named_in(_wanted(tree, functions, paths)).items():
        for named in every:
            scope = tree.definition(path, named.scope)
            meant = tree.resolve(scope, named.name) if scope is not None else tree.globally(path, named.name)
            if meant is None or meant not in functions or meant == scope:
                continue
            if meant not in registered or meant.function.decorators:
                found[scope].add(meant)
            elif named.registering:
                by_call.add(meant)
            else:
                others.append((scope, meant))
    for scope, meant in others:
        if meant in by_call:
            found[scope].add(meant)
    return found


def _wanted(tree: SourceTree, functions: Collection[Definition], paths: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The names by which each file may name one of `functions`: its own, those imported, those of imported modules."""
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    modules: defaultdict[str, set[str]] = defaultdict(set)
    for definition in functions:
        wanted[definition.path].add(definition.function.own_name)
        if "." not in definition.function.name:
            module = tree.module_name(definition.path)
            while module:
                modules[module].add(f".{definition.function.name}")
                module = module.rpartition(".")[0]
    names = {definition.function.own_name for definition in functions}
    for path in paths:
        for local, target in tree.facts[path].imports:
            if target in modules:
                wanted[path] |= modules[target]
            elif target.rpartition(".")[2] in names and tree.globally(path, local) in functions:
                wanted[path].add(local)
    return {path: tuple(sorted(wanted[path])) for path in paths if path in wanted}
