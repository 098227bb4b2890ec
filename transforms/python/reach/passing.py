"""What parameters and results hold, by what calls pass and functions return: carried along until nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from transforms.python.flow.annotations import OPTIONAL, annotated, of_annotation
from transforms.python.flow.made import Made
from transforms.python.flow.returned import Needs
from transforms.python.flow.values import (
    BOOL,
    EMPTY,
    FLOAT,
    INT,
    NOTHING,
    PLAIN,
    TENSOR,
    TENSORS,
    TUPLE,
    Value,
    element,
    item,
    join,
    maybe_none,
    sequence_of,
)
from transforms.python.reach.applied import SETUP
from transforms.python.reach.reached import Reached
from transforms.python.reach.tree import Definition, SourceTree
from transforms.python.reading.facts import Body, Call, Function


def follow(tree: SourceTree, functions: Mapping[Definition, Reached], body_of: Callable[[Definition], Body]) -> None:
    """Carry sizes from arguments to parameters and from returns to callers until nothing changes."""
    for definition, reached in functions.items():
        reached.body = body_of(definition)
    callees_of = {
        definition: {
            name: functions[callee]
            for name in definition.function.calls
            if (callee := tree.resolve(definition, name)) is not None and callee in functions
        }
        for definition in functions
    }
    settled = False
    for _ in range(8):
        changed = False
        for definition, reached in functions.items():
            callees = callees_of[definition]
            returns = resolve(reached.body.returns, reached, callees)
            if returns != reached.returns:
                reached.returns, changed = returns, True
            for call in reached.body.calls:
                target = callees.get(call.callee)
                if target is not None and target is not reached:
                    own = _given_by_itself(tree, definition, target.definition, call.callee)
                    changed |= _pass(call, reached, target, callees, settled, own)
        if settled and not changed:
            break
        settled = settled or not changed


def _pass(
    call: Call, caller: Reached, callee: Reached, callees: Mapping[str, Reached], settled: bool, own: int
) -> bool:
    function = callee.definition.function
    annotations, private = dict(function.parameters), _is_private(function)
    if function.rest:
        annotations[function.rest] = ""
    changed = False
    for slot, passed in call.arguments:
        for name, value in _taking(slot, resolve(passed, caller, callees), function, own):
            if name not in annotations:
                continue
            if annotated(annotations[name], name).kind != "parameter":
                if not private:
                    continue
                value = value if value.kind == PLAIN else NOTHING
            first = private and value.kind == PLAIN and name not in callee.parameters
            old = callee.parameters.get(name, NOTHING)
            new = _rest(old, value) if name == function.rest else value if first else _given(old, value, settled)
            if first or new != old:
                changed |= new != old
                callee.parameters[name] = new
    return changed


def _is_private(function: Function) -> bool:
    """Whether the calls of a function that are seen are all its calls, so that each number passed tells of them all."""
    return function.name == function.own_name and function.name.startswith("_") and not function.decorators


def _given(old: Value, value: Value, settled: bool) -> Value:
    """What a parameter is that is `old` in other calls; until it is `settled` what is not known may be a number yet."""
    for number, other in ((old, value), (value, old)):
        if not settled and number.kind in (INT, FLOAT, BOOL) and other.kind == PLAIN:
            return number
    return join((old, value))


def _taking(slot: str, value: Value, function: Function, own: int) -> Iterator[tuple[str, Value]]:
    """The parameters that take the argument of a slot, as `Call` has it, or a part of it; all that may.

    The first `own` take none.
    """
    names = [name for name, _ in function.parameters[own : function.positional]]
    required = function.required - own
    place = slot.rstrip("*+")
    if not place.isdigit():
        yield slot, value
    elif slot == place:
        yield (names[int(place)] if int(place) < len(names) else function.rest), value
    elif value.kind == TUPLE and slot.endswith("*"):
        for number, part in enumerate(value.items, int(place)):
            yield (names[number] if number < len(names) else function.rest), part
    else:
        part = element(value) if "*" in slot else value
        yield from ((name, part) for name in (*names[int(place) : required], function.rest))


def _given_by_itself(tree: SourceTree, caller: Definition, callee: Definition, name: str) -> int:
    """How many of the first parameters a call by that name does not give: what a method is called on, a context."""
    function = callee.function
    if applied := tree.applied(caller, name):
        context = all(method.function.own_name != SETUP for method in applied)
        return context + ("classmethod" in function.decorators)
    if not function.method or "staticmethod" in function.decorators:
        return 0
    return int("classmethod" in function.decorators or name.startswith("self."))


def _rest(rest: Value, more: Value) -> Value:
    """What `*args` holds that is `rest` elsewhere, and has `more` among its elements here."""
    held = more if rest.kind == PLAIN else join((element(rest), more))
    return sequence_of(held) if held.symbolic or held.kind in (TENSOR, TENSORS) else NOTHING


def resolve(value: Value, reached: Reached, callees: Mapping[str, Reached]) -> Value:
    """A value with its dependencies filled in by what is known of a function's callers and callees."""
    if value.items:
        return value._replace(items=tuple(resolve(inner, reached, callees) for inner in value.items))
    if not value.dependencies:
        return value
    sources = [_dependency(name, reached, callees) for name in value.dependencies]
    if value.kind == "parameter":
        return maybe_none(join(sources)) if value.optional else join(sources)
    if any(source.kind == "tensor" for source in sources):
        return NOTHING
    return Value(value.kind, whole=value.whole) if any(source.symbolic for source in sources) else NOTHING


def _dependency(name: str, reached: Reached, callees: Mapping[str, Reached]) -> Value:
    base, bracket, rest = name.partition("[")
    if base.startswith("()"):
        callee = callees.get(base[2:])
        value = callee.returns if callee is not None else NOTHING
    else:
        value = reached.parameters.get(base, NOTHING)
        annotation = dict(reached.definition.function.parameters).get(base, "")
        if value == NOTHING and not OPTIONAL.search(annotation):
            value = of_annotation(annotation)
    for index in filter(None, (bracket + rest).replace("[", " ").split("]")):
        value = item(value, int(index)) if index.strip() else element(value)
    return value


def active(reached: Reached, callees: Mapping[str, Reached]) -> bool:
    """Whether some place of a reached function does ask for a symbol."""
    return any(
        not needed or any(_dependency(name, reached, callees).kind != PLAIN for name in needed)
        for needed in reached.body.conditions
    )


def returned_values(callees: Mapping[str, Reached]) -> dict[str, Value]:
    """What each of the callees of a function, as written, returns that may be more than nothing special."""
    return {name: callee.returns for name, callee in callees.items() if callee.returns.kind != PLAIN}


def needed_values(
    tree: SourceTree, functions: Mapping[Definition, Reached], caller: Definition, callees: Mapping[str, Reached]
) -> Iterator[tuple[str, Needs]]:
    """What each of the callees of a function has to be given to return what it does; not those that always do."""
    for name in returned_values(callees):
        callee, function = callees[name].definition, callees[name].definition.function
        leaves = list(_leaves(callees[name].body.returns))
        needed = frozenset(d.partition("[")[0] for leaf in leaves for d in leaf.dependencies)
        of_callees = {d for d in needed if d.startswith("()") and _tells(tree.resolve(callee, d[2:]), functions)}
        if of_callees or not all(leaf.dependencies or leaf.kind in (PLAIN, EMPTY) for leaf in leaves):
            continue
        needed = frozenset(d for d in needed if not d.startswith("()"))
        if needed <= {*dict(function.parameters), function.rest}:
            own = _given_by_itself(tree, caller, callee, name)
            names = tuple(parameter for parameter, _ in function.parameters[own : function.positional])
            yield name, Needs(names, function.rest, needed)


def made_by(tree: SourceTree, caller: Definition, callees: Mapping[str, Reached]) -> Iterator[tuple[str, Made]]:
    """What those callees of a function make plain numbers of that eager runs too, where that is left as it is."""
    for name, callee in callees.items():
        if callee.eager and callee.body.made:
            definition, function = callee.definition, callee.definition.function
            own = _given_by_itself(tree, caller, definition, name)
            names = tuple(parameter for parameter, _ in function.parameters[own : function.positional])
            yield name, Made(names, {p: f"{definition.path}:{line}" for p, line in reversed(callee.body.made)})


def _leaves(value: Value) -> Iterator[Value]:
    if not value.items:
        yield value
    for inner in value.items:
        yield from _leaves(inner)


def _tells(callee: Definition | None, functions: Mapping[Definition, Reached]) -> bool:
    return callee is not None and callee in functions and functions[callee].returns.kind != PLAIN
