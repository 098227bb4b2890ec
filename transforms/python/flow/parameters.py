"""What the parameters of a function are: by annotation and default, else by what its callers pass."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence

from transforms.python.flow.annotations import OPTIONAL, annotated, number_of, of_annotation
from transforms.python.flow.imported import annotation_text, torch_name
from transforms.python.flow.nodes import called, named_parameters, numbers_asked_for, written
from transforms.python.flow.values import (
    A_FLOAT,
    A_NUMBER,
    A_REAL,
    INT,
    NOTHING,
    PARAMETER,
    PLAIN,
    SHAPE,
    STATIC,
    UNTYPED,
    Value,
    join,
    maybe_none,
)

_INFINITE = frozenset({"math.inf", "torch.inf", "np.inf"})
_WORDS = re.compile(r"\w+")


def parameter_values(
    arguments: ast.arguments, nodes: Sequence[ast.AST], passed: Mapping[str, Value] | None
) -> dict[str, Value]:
    """The values by name; `nodes` are the function's own. Where `passed` is None it is to be filled in."""
    values: dict[str, Value] = {}
    numbers, absent, reals = numbers_asked_for(nodes), none_by_default(arguments), _real_by_default(arguments)
    ints = {p.arg for p, value in _defaults(arguments) if type(getattr(value, "value", None)) is int}
    computed = {p.arg for p, value in _defaults(arguments) if value is not None and not isinstance(value, ast.Constant)}
    for parameter in named_parameters(arguments):
        name, annotation = parameter.arg, annotation_text(parameter.annotation)
        given = NOTHING if annotation or name in computed else (passed or {}).get(name, NOTHING)
        value = given if given.scalar else _of_parameter(annotation, name, passed)
        number = value.kind in (PLAIN, STATIC) and name in numbers
        value = A_REAL if name in reals and value.kind == PLAIN else value
        value = A_NUMBER if name in ints and value == UNTYPED else value
        values[name] = A_FLOAT if number else maybe_none(value) if name in absent else value
    for rest in filter(None, (arguments.vararg, arguments.kwarg)):
        if rest.annotation:
            values[rest.arg] = annotated(f"list[{annotation_text(rest.annotation)}]", rest.arg)
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
    if given.kind == PLAIN and not given.container and not annotation:
        return UNTYPED
    if given.kind == PLAIN and not given.container:
        return of_annotation(annotation)._replace(optional=value.optional)
    # What calls give otherwise is against the annotation.
    if of_annotation(annotation).integers:
        given = _of_integers(given)
    if (number := number_of(annotation)).scalar:
        return join((given._replace(optional=False), number)) if number.real else given._replace(optional=False)
    return maybe_none(given) if value.optional else given


def _of_integers(value: Value) -> Value:
    """What is passed where an annotation asks for integers, or for a sequence of them."""
    if value.items:
        return value._replace(items=tuple(map(_of_integers, value.items)))
    return value._replace(whole=True, optional=False) if value.kind in (INT, SHAPE) else value


def may_be_left_out(arguments: ast.arguments, nodes: Sequence[ast.AST], value: ast.expr) -> bool:
    """Whether a value is a parameter that its default or its annotation lets be None, or one that a context saved.

    `nodes` are the function's own.
    """
    if not isinstance(value, ast.Name):
        return False
    if any(value.id in saved_names(node) for node in nodes if isinstance(node, ast.Assign)):
        return True
    annotations = (p.annotation for p in named_parameters(arguments) if p.arg == value.id and p.annotation)
    return value.id in none_by_default(arguments) or any(OPTIONAL.search(ast.unparse(a)) for a in annotations)


def bool_if_given(arguments: ast.arguments, node: ast.IfExp, bound: Collection[str]) -> ast.expr | None:
    """The path of `flag if flag is not None else …` whose parameter `flag`, none of `bound`, is a bool or None.

    None for other conditional expressions.
    """
    match node.test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(None)]):
            given = node.orelse if isinstance(op, ast.Is) else node.body
            annotations = [p.annotation for p in named_parameters(arguments) if p.arg == name and p.annotation]
            kinds = [set(_WORDS.findall(written(text))) - {"Optional", "typing", "None"} for text in annotations]
            if isinstance(given, ast.Name) and given.id == name and name not in bound and kinds == [{"bool"}]:
                return given
    return None


def saved_names(node: ast.Assign) -> set[str]:
    """The variables that an assignment gives what `save_for_backward` was given, None among it."""
    if not isinstance(node.value, ast.Attribute) or node.value.attr != "saved_tensors":
        return set()
    return {part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)}


def none_by_default(arguments: ast.arguments) -> set[str]:
    """The parameters that are None, or text, where a call does not name them."""
    numbers = (int, float, complex)
    return {
        parameter.arg
        for parameter, value in _defaults(arguments)
        if isinstance(value, ast.Constant) and not isinstance(value.value, numbers)
    }


def _real_by_default(arguments: ast.arguments) -> set[str]:
    """The parameters that are floats where a call does not name them: `ratio=0.5`, `limit=math.inf`."""
    return {
        parameter.arg
        for parameter, value in _defaults(arguments)
        if (isinstance(value, ast.Constant) and isinstance(value.value, float))
        or (value is not None and (called(value) == "float" or torch_name(value) in _INFINITE))
    }


def _defaults(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    positional = [*arguments.posonlyargs, *arguments.args][::-1]
    return [
        *zip(positional, arguments.defaults[::-1], strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
