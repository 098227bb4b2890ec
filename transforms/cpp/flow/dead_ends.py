"""Between functions: dead ends, which every symbolic tensor that comes in is stopped in.

What calls one on every way is a dead end as well, and so is an operator all of whose kernels are: what is converted
before or behind such a call is converted in vain.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from transforms.cpp.flow.assumptions import Assumptions, Key
from transforms.cpp.flow.outcome import Outcome
from transforms.cpp.reach.calls import called_as, called_names
from transforms.cpp.reach.vocabulary import base_name
from transforms.cpp.reading.facts import Function
from transforms.schema.native_functions import COMPOSITE_IMPLICIT, NativeFunctions

Follow = Callable[[Collection[Function], Assumptions], Mapping[Key, Outcome]]


def with_dead_ends(
    assumptions: Assumptions,
    outcomes: Iterable[Outcome],
    functions: Collection[Function],
    kernels: Mapping[str, Collection[Key]],
    follow: Follow,
) -> Assumptions:
    """`assumptions` with the dead ends among `functions`, those that symbolic tensors reach.

    `outcomes` are their own; `follow` gives those of some of them where more dead ends are assumed. `kernels` are
    those of each operator that may be one.
    """
    callers: dict[str, list[Function]] = {}
    for function in functions:
        for name in _called(function):
            callers.setdefault(name, []).append(function)
    names = {_key(function): _short_name(function) for function in functions}
    dead = {key for outcome in outcomes if (key := _key(outcome.function)) in names and outcome.stuck}
    called = {names[key] for key in dead} | assumptions.dead_operators
    while called:
        operators = {name for name, own in kernels.items() if dead.issuperset(own)}
        called |= operators - assumptions.dead_operators
        assumptions = replace(
            assumptions, dead_ends=frozenset(dead), dead_operators=assumptions.dead_operators | operators
        )
        affected = {_key(f): f for name in called for f in callers.get(name, ()) if _key(f) not in dead}
        fresh = {key for key, outcome in follow(affected.values(), assumptions).items() if outcome.stuck}
        dead |= fresh
        called = {names[key] for key in fresh}
    return assumptions


def _short_name(function: Function) -> str:
    """What calls of a function end with, without the suffixes of its twins."""
    return base_name(called_as(function))[0]


def _called(function: Function) -> set[str]:
    return {base_name(name)[0] for name in called_names(function)}


def composite_kernels(
    own: NativeFunctions, elsewhere: Collection[str], functions: Iterable[Function]
) -> dict[str, set[Key]]:
    """The kernels of each operator that has composite ones alone, by base name; none that `elsewhere` has too."""
    defined: dict[str, set[Key]] = {}
    for function in functions:
        if function.body >= 0 and not function.parent and "native" in function.qualified.split("::"):
            defined.setdefault(function.name, set()).add(_key(function))
    kernels: dict[str, set[Key]] = {}
    others = set(elsewhere)
    for entry in own.entries:
        if entry.schema.outputs:
            continue
        names = [kernel.rpartition("::")[2] for key, kernel in entry.dispatch if key == COMPOSITE_IMPLICIT]
        if len(names) != len(entry.dispatch) or not names or not all(name in defined for name in names):
            others.add(entry.schema.base)
        else:
            kernels.setdefault(entry.schema.base, set()).update(*(defined[name] for name in names))
    return {name: keys for name, keys in kernels.items() if name not in others}


def _key(function: Function) -> Key:
    return function.path, function.start
