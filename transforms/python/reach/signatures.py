"""What the parameters of registered functions are, where nothing at them says so: what their operators are given."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from transforms.python.flow.annotations import annotated, of_annotation, of_root
from transforms.python.flow.values import SOME_SHAPE, Value
from transforms.python.reach.composites import OVERLOAD
from transforms.python.reach.reached import Reached
from transforms.python.reach.registrars import API, Role
from transforms.python.reach.tree import Definition
from transforms.python.reading.facts import Function
from transforms.python.reading.registering import last_name
from transforms.schema.schema import Schema

SchemasOf = Callable[[Collection[str]], Iterable[Schema]]
"""The overloads of ATen's operators of these names."""

_LIST = re.compile(r"\[\d*\]")
_INTS = re.compile(r"^int\[\d*\]\??$")
_NEUTRAL = API | {"out_wrapper"}
"""The decorators that pass on what the dispatcher gives."""


class _Type(NamedTuple):
    """The annotation of an operator's parameter, and whether a schema says that it is a list of plain ints."""

    annotation: str
    ints: bool = False

    def value(self, name: str) -> Value:
        """What a parameter of this name holds."""
        return of_annotation(self.annotation) if self.ints else of_root(self.annotation, name)


class _Signature(NamedTuple):
    """An operator's parameters, each with its type: those given by position, and those given by name."""

    positional: tuple[tuple[str, _Type], ...]
    named: tuple[tuple[str, _Type], ...]


def give_types(
    functions: Mapping[Definition, Reached], roles: Mapping[Definition, Sequence[Role]], schemas_of: SchemasOf
) -> None:
    """Note of parameters what the dispatcher gives them: of what `functions` it calls.

    An operator of ATen has a schema, one that `custom_op` makes has the annotations of the function that it is made of.
    Where a function is registered for several overloads, they must agree. An annotation stands, but for what is called
    as sizes are and is `int[]` in the schema: of these the dispatcher makes numbers (python_arg_parser.h, intlist).
    """
    untyped = {definition: reached for definition, reached in functions.items() if _unsure(reached)}
    named = {definition: set(_of_aten(definition.function)) for definition in untyped}
    overloads: dict[str, list[Schema]] = {}
    for schema in schemas_of({base for names in named.values() for base, _ in names}):
        overloads.setdefault(schema.base, []).append(schema)
    made = {role.operator: _made_of(d.function) for d, held in roles.items() for role in held if role.opaque}
    for definition, reached in untyped.items():
        signatures = [
            _of_schema(schema)
            for base, overload in named[definition]
            for schema in overloads.get(base, ())
            if overload in ("", schema.overload or "default")
        ]
        signatures += (made[role.operator] for role in roles.get(definition, ()) if role.operator in made)
        annotations = dict(definition.function.parameters)
        for name, given in _given(definition.function, signatures).items():
            kind = given.pop() if len(given) == 1 else None
            if kind is not None and (kind.ints or not annotations[name]):
                reached.parameters[name] = kind.value(name)


def _unsure(reached: Reached) -> bool:
    """Whether PyTorch calls a function, some of whose annotations say too little, with what the dispatcher has."""
    function = reached.definition.function
    return (
        reached.caller is None
        and not function.method
        and any(_says_little(*parameter) for parameter in function.parameters)
        and all(last_name(text.partition("(")[0]) in _NEUTRAL for text in function.decorators)
    )


def _says_little(name: str, annotation: str) -> bool:
    """Whether a parameter has no annotation, or one that leaves to its name whether it holds sizes."""
    return not annotation or (of_root(annotation, name) == SOME_SHAPE != annotated(annotation, name))


def _of_aten(function: Function) -> Iterator[tuple[str, str]]:
    """The operators of ATen that decorators name, and their overloads, "" for all."""
    for decorator in function.decorators:
        yield from OVERLOAD.findall(decorator)


def _of_schema(schema: Schema) -> _Signature:
    types = [_Type(_annotation(a.plain_type), _INTS.match(a.plain_type) is not None) for a in schema.arguments]
    parameters = [(a.kwarg_only, (a.name, kind)) for a, kind in zip(schema.arguments, types, strict=True)]
    return _Signature(*(tuple(p for by_name, p in parameters if by_name is wanted) for wanted in (False, True)))


def _made_of(function: Function) -> _Signature:
    parameters = tuple((name, _Type(annotation)) for name, annotation in function.parameters)
    return _Signature(parameters[: function.positional], parameters[function.positional :])


def _annotation(kind: str) -> str:
    """How Python annotates a parameter of a schema's type: `Sequence[SymInt]` for `SymInt[2]`."""
    inner = re.sub(r"^Scalar$", "Number", _LIST.sub("", kind.replace("?", "")))
    annotation = f"Sequence[{inner}]" if _LIST.search(kind) else inner
    return f"Optional[{annotation}]" if kind.endswith("?") else annotation


def _given(function: Function, signatures: Iterable[_Signature]) -> dict[str, set[_Type]]:
    """What `signatures` have for the parameters that say little; nothing where one does not fit the function."""
    found: dict[str, set[_Type]] = {name: set() for name, text in function.parameters if _says_little(name, text)}
    places = [name for name, _ in function.parameters[: function.positional]]
    for signature in signatures:
        if len(places) < len(signature.positional) and not function.rest:
            return {}
        pairs = [(name, kind) for name, (_, kind) in zip(places, signature.positional, strict=False)]
        for name, kind in (*pairs, *signature.named):
            if name in found:
                found[name].add(kind)
    return found
