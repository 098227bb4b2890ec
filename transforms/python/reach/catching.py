"""Which exceptions of functions their callers may catch, and what is wrapped around them."""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection, Iterator, Mapping

from transforms.python.flow.catching import RAISED, SUPPRESSING, WITH
from transforms.python.reach.packages import KNOWN
from transforms.python.reach.tree import Definition, SourceTree

_NAME = re.compile(r"[A-Za-z_][\w.]*")
_NUMBER = re.compile(r"#\d+")
_Kinds = frozenset[str]
_NONE: _Kinds = frozenset()


def caught_by_callers(tree: SourceTree, functions: Collection[Definition]) -> dict[Definition, frozenset[str]]:
    """For those of `functions` whose callers, decorators or own managers may catch exceptions: which.

    Callers are others of `functions`, and theirs.
    """
    caught: dict[Definition, _Kinds] = {}
    within: dict[Definition, _Kinds] = {}
    """What a function's own context managers end of what it raises itself."""
    for definition, kinds in _wrapped(tree, functions):
        caught[definition] = caught.get(definition, _NONE) | kinds
    queue = [definition for definition in functions if definition.function.caught or definition in caught]
    while queue:
        caller = queue.pop()
        everywhere = caught.get(caller, _NONE)
        here: dict[str, _Kinds] = {}
        for name, ending in caller.function.caught:
            here[name] = here.get(name, _NONE) | _ended(tree, caller, ending)
        if here.get(""):
            within[caller] = here[""]
        for name in caller.function.calls if everywhere else here:
            taken = everywhere.union(here.get(name, ()))
            callee = tree.resolve(caller, name)
            meant = (callee, *tree.namesakes(callee)) if callee is not None else ()
            for definition in (*meant, *tree.overriding(caller, name)):
                earlier = caught.get(definition, _NONE)
                if definition in functions and not taken <= earlier:
                    caught[definition] = earlier | taken
                    queue.append(definition)
    return {d: caught.get(d, _NONE) | within.get(d, _NONE) for d in {**caught, **within}}


def _ended(tree: SourceTree, caller: Definition, ending: str) -> _Kinds:
    """The exceptions of an entry of `caught`: of a context manager that is not known, all."""
    if not ending.startswith(WITH):
        return frozenset(ending.split(" "))
    manager = ending.removeprefix(WITH)
    for name in (f"{manager}.__exit__", f"{manager}.__aexit__", manager):
        definition = tree.resolve(caller, name)
        if definition is not None:
            function = definition.function
            if function.ends:
                return frozenset(function.ends.split(" "))
            is_manager = name != manager or any("contextmanager" in text for text in function.decorators)
            return _NONE if is_manager else RAISED
    target = tree.imported(caller.path, manager.partition(".")[0])
    root, _, _ = target.partition(".")
    if root in KNOWN:
        return RAISED if target.rpartition(".")[2] in SUPPRESSING else _NONE
    return _NONE if hasattr(builtins, manager) else RAISED


def _wrapped(tree: SourceTree, functions: Collection[Definition]) -> Iterator[tuple[Definition, _Kinds]]:
    """Functions that are passed to what catches exceptions of what it is passed, as decorators are, with which."""
    catching = _catching(tree)
    for definition in functions:
        for name in {name for text in definition.function.decorators for name in _NAME.findall(text)}:
            if kinds := _caught_of(tree, catching, definition.path, definition.function.name, name):
                yield definition, kinds
    for path, facts in tree.facts.items():
        for scope, callee, name in facts.passing:
            if kinds := _caught_of(tree, catching, path, scope, callee):
                function = _resolved(tree, path, scope, name)
                for definition in (function, *tree.namesakes(function)) if function is not None else ():
                    if definition in functions:
                        yield definition, kinds


def _catching(tree: SourceTree) -> dict[tuple[str, str], _Kinds]:
    """The functions and classes, by file and name, that catch exceptions of the functions that they are passed."""
    catching: dict[tuple[str, str], _Kinds] = {}
    for path, facts in tree.facts.items():
        parameters = {f.name: {*(name for name, _ in f.parameters), f.rest} for f in facts.functions}
        for function in facts.functions:
            for name, ending in function.caught:
                definition = tree.definition(path, function.name)
                if definition is not None:
                    for owner in _owners(function.name, name, parameters):
                        key = (path, _NUMBER.sub("", owner))
                        catching[key] = catching.get(key, _NONE) | _ended(tree, definition, ending)
    return catching


def _owners(function: str, name: str, parameters: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Who is passed what a function calls by `name`: itself, or those around it, of whose parameters that is."""
    if name.startswith("self."):
        yield function.rpartition(".")[0]
        return
    owner = function
    while owner and name not in parameters.get(owner, ()):
        owner = owner.rpartition(".")[0]
    if owner:
        yield owner
    while owner != function and (owner := owner.rpartition(".")[0]):  # a function that makes decorators
        yield owner


def _caught_of(
    tree: SourceTree, catching: Mapping[tuple[str, str], _Kinds], path: str, scope: str, callee: str
) -> _Kinds:
    """What a function or class catches of what it is passed."""
    for method in ("", ".__call__", ".__init__"):
        definition = _resolved(tree, path, scope, callee + method)
        if definition is not None:
            name = definition.function.name
            return catching.get((definition.path, name.rpartition(".")[0] if method else name), _NONE)
    return _NONE


def _resolved(tree: SourceTree, path: str, scope: str, name: str) -> Definition | None:
    """What a name means in a function, a class or a module."""
    place = tree.definition(path, scope)
    if place is not None:
        return tree.resolve(place, name)
    return tree.definition(path, f"{scope}.{name}") or tree.globally(path, name)
