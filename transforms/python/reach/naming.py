"""The operators of a function: those it is registered for, or is by its place and name; else those that run it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, MutableSet

from codemod.model.operators import operator_name
from transforms.python.reach.tree import Definition
from transforms.python.reading.facts import Function

ATEN = re.compile(r"\b(aten|prims)\.(\w+)")
"""An operator as decorators name it."""

_MODULE = re.compile(r"^torch/_refs/(\w+)(?:/__init__)?\.py$")
_MASKED = re.compile(r"^torch/masked/")

Declared = Callable[[Collection[str]], Collection[str]]
"""Of names those that native_functions.yaml has."""


def decorated_operators(function: Function) -> list[str]:
    """The operators that a function's decorators register it for."""
    operators = (operator for decorator in function.decorators for operator in ATEN.findall(decorator))
    return [name for space, base in operators if (name := operator_name(base, space))]


def name_functions(
    operators: Mapping[Definition, MutableSet[str]],
    called: Mapping[Definition, Iterable[Definition]],
    in_place: Mapping[Definition, str],
    public: Collection[Definition],
    declared: Declared,
) -> set[Definition]:
    """Fill in `operators`, which hold what functions are registered for, for what no operator is registered with.

    Of the functions that are entry points by their place (`in_place`, their files), a reference has the name of its
    operator, where there is such an operator, and so have `public` ones, which users call. Helpers among them, and all
    else that is called, have the operators of all that call them; a helper that nothing calls has its own name.

    Returns the helpers among `in_place` that others' operators run.
    """
    unnamed = {definition: _spellings(definition, in_place[definition]) for definition in in_place
               if not operators[definition]}  # fmt: skip
    of_yaml = set(declared(sorted({name for names in unnamed.values() for name in names})))
    for definition, names in unnamed.items():
        name = next(filter(of_yaml.__contains__, names), names[-1] if definition in public else "")
        operators[definition] |= {operator_name(name, "aten")} - {""}
    helpers = {definition for definition in unnamed if not operators[definition]}
    _pass_on(operators, called)
    left = {definition for definition in unnamed if not operators[definition]}
    by_another = {callee for definition in left for callee in called.get(definition, ()) if callee is not definition}
    for chosen in (left - by_another, left):  # the second where helpers call each other in a circle
        for definition in chosen:
            if not operators[definition]:
                operators[definition] |= {operator_name(unnamed[definition][-1], "aten")} - {""}
        _pass_on(operators, called)
    return helpers - left


def _spellings(definition: Definition, path: str) -> tuple[str, ...]:
    """Names of an operator: `cond` of torch/_refs/linalg is `linalg_cond`, `amax` of torch/masked not `amax`."""
    name = definition.function.own_name
    if _MASKED.search(path):
        return (f"masked_{name}",)
    module = _MODULE.search(path)
    return (f"{module[1]}_{name}", name) if module else (name,)


def _pass_on(
    operators: Mapping[Definition, MutableSet[str]], called: Mapping[Definition, Iterable[Definition]]
) -> None:
    """Give what has no operators those of all that call it."""
    named = {definition for definition, names in operators.items() if names}
    queue = list(named)
    while queue:
        definition = queue.pop()
        for callee in called.get(definition, ()):
            target = operators[callee]
            if callee not in named and not operators[definition] <= target:
                target |= operators[definition]
                queue.append(callee)
