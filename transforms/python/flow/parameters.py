"""What the parameters of a function are: by annotation and default, else by what its callers pass."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from transforms.python.flow.nodes import named_parameters, numbers_asked_for, written
from transforms.python.flow.values import (
    A_FLOAT,
    NOTHING,
    PARAMETER,
    PLAIN,
    STATIC,
    UNTYPED,
    Value,
    annotated,
    maybe_none,
    number_of,
)


def parameter_values(
    arguments: ast.arguments, nodes: Sequence[ast.AST], passed: Mapping[str, Value] | None
) -> dict[str, Value]:
    """The values by name; `nodes` are the function's own. Where `passed` is None it is to be filled in."""
    values: dict[str, Value] = {}
    numbers, absent = numbers_asked_for(nodes), none_by_default(arguments)
    for parameter in named_parameters(arguments):
        name, annotation = parameter.arg, written(parameter.annotation) if parameter.annotation else ""
        value = _of_parameter(annotation, name, passed)
        number = value.kind in (PLAIN, STATIC) and name in numbers
        values[name] = A_FLOAT if number else maybe_none(value) if name in absent else value
    for rest in filter(None, (arguments.vararg, arguments.kwarg)):
        if rest.annotation:
            values[rest.arg] = annotated(f"list[{written(rest.annotation)}]", rest.arg)
        elif passed is None and rest is arguments.vararg:
            values[rest.arg] = Value(PARAMETER, frozenset({rest.arg}), sure=False)
        else:
            values[rest.arg] = (passed or {}).get(rest.arg, NOTHING)
    return values


def _of_parameter(annotation: str, name: str, passed: Mapping[str, Value] | None) -> Value:
    value = annotated(annotation, name)
    if passed is None or value.kind != PARAMETER:
        return value
    given = passed.get(name, NOTHING)
    if given.kind == PLAIN and not given.container:
        return number_of(annotation)._replace(optional=value.optional) if annotation else UNTYPED
    if number_of(annotation).scalar:  # what calls give otherwise is against the annotation
        return given._replace(optional=False)
    return maybe_none(given) if value.optional else given


def none_by_default(arguments: ast.arguments) -> set[str]:
    """The parameters that are None, or text, where a call does not name them."""
    positional = [*arguments.posonlyargs, *arguments.args][::-1]
    defaults: list[tuple[ast.arg, ast.expr | None]] = [
        *zip(positional, arguments.defaults[::-1], strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    numbers = (int, float, complex)
    return {
        parameter.arg
        for parameter, value in defaults
        if isinstance(value, ast.Constant) and not isinstance(value.value, numbers)
    }
