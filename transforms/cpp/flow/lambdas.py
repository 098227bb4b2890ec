"""Lambdas: their parameters and results follow what their callers give and take."""

from __future__ import annotations

from transforms.cpp.flow.dispatch import EXPRESSIONS, evaluate, run
from transforms.cpp.flow.engine import NOTHING, Flow, join
from transforms.cpp.flow.standard import ALGORITHMS
from transforms.cpp.flow.state import Lambda, Variable, given_away
from transforms.cpp.flow.statements import declare_parameters
from transforms.cpp.flow.storing import coerce
from transforms.cpp.flow.truth import truth
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import UNKNOWN, Type, is_written, symbolic_spelling

_TAKES_ANY = frozenset({"scalar", "string", "tensor", "list", "void"})
"""Kinds of results that a SymInt converts to, or that are made of one by other means."""


def _lambda(flow: Flow, node: Node) -> Type:
    with flow.scope():
        captures = node.field("captures")
        for capture in captures.children if captures is not None else ():
            left, right = capture.field("left"), capture.field("right")
            if capture.kind == "lambda_capture_initializer" and left is not None and right is not None:
                flow.declare(left.text, evaluate(flow, right), left, deduced=True)
        owner = Lambda(node, declare_parameters(flow, node, of_lambda=True))
        body = node.field("body")
        flow.active_lambdas.append(owner)
        try:
            if body is not None:
                run(flow, body)
        finally:
            flow.active_lambdas.pop()
    _lambda_result(flow, owner)
    if given_away(node, ALGORITHMS):
        flow.sink(node, "callee-unknown", "is returned by a lambda that others call", owner.result)
    key = f"lambda:{node.start}"
    flow.lambdas[key] = owner
    return Type("lambda", key)


def _lambda_result(flow: Flow, owner: Lambda) -> None:
    kinds = [kind for _, kind in owner.returns]
    result = join(*kinds) if kinds else UNKNOWN
    declarator = owner.node.field("declarator")
    trailing = next((c for c in declarator.walk() if c.kind == "trailing_return_type"), None) if declarator else None
    spelled = trailing.children[0] if trailing is not None and trailing.children else None
    if spelled is not None and spelled.text not in ("auto", "decltype(auto)"):
        owner.result = _declared_result(flow, owner, spelled, result)
        return
    if result.symbolic and any(kind.kind in ("int", "ints") and not kind.symbolic for kind in kinds):
        flow.sink(owner.node, "return-type", "is returned from a lambda that elsewhere returns an integer", result)
    owner.result = result


def _declared_result(flow: Flow, owner: Lambda, spelled: Node, result: Type) -> Type:
    """The result of a lambda whose type is written: `spelled`, which becomes that for SymInts where it has to."""
    declared = flow.type_of(spelled.text)
    if not result.symbolic or declared.symbolic or declared.kind in _TAKES_ANY:
        return declared
    if declared.kind == "bool" and result.kind == "int":
        for expression, kind in owner.returns:
            if expression is not None:
                truth(flow, expression, kind)
        return declared
    new = symbolic_spelling(spelled.text) if declared.kind in ("int", "ints", "float", "wrap") else None
    if new is None:
        flow.sink(spelled, "return-type", f"is returned from a lambda as `{spelled.text}`", result)
        return declared
    flow.retype(spelled, new, result.origins)
    for expression, kind in owner.returns:
        if expression is not None and kind.kind in ("ints", "wrap") and not kind.symbolic:
            coerce(flow, expression, result.origins or NOTHING)
    return declared.with_origins(result.origins)


def invoke(flow: Flow, node: Node, kind: Type, arguments: list[Node]) -> Type:
    """The call of what is held in a variable, or of a lambda where it is written."""
    values = [evaluate(flow, argument) for argument in arguments]
    owner = flow.lambdas.get(kind.name) if kind.kind == "lambda" else None
    if owner is None:
        for argument, value in zip(arguments, values, strict=True):
            flow.sink(argument, "callee-unknown", f"is an argument of `{node.beginning(40)}`", value)
        return kind.args[0] if kind.kind == "function" else UNKNOWN
    for variable, argument, value in zip(owner.parameters, arguments, values, strict=False):
        if variable.deduced and variable.type.kind == "unknown":
            variable.type = value.with_origins(None)
        if value.symbolic and value.kind in ("int", "ints", "wrap", "float"):
            flow.make_symbolic(variable, value.origins or NOTHING, node)
        elif variable.origins and not variable.deduced:
            _agree_with(flow, variable, argument, value)
    return owner.result


def _agree_with(flow: Flow, parameter: Variable, argument: Node, value: Type) -> None:
    """An integer or a sequence of them is given for a parameter of a lambda that is symbolic."""
    origins, declaration = parameter.origins or NOTHING, parameter.declaration
    if value.kind in ("ints", "wrap"):
        coerce(flow, argument, origins)
    elif declaration is not None and is_written(declaration.text.rpartition(parameter.name)[0].strip()):
        given = flow.lookup(argument.text) if argument.kind == "identifier" else None
        if given is not None:
            flow.make_symbolic(given, origins, argument)
        else:
            flow.sink(argument, "mixed", f"is bound to `{argument.beginning(60)}`, an integer", parameter.value)


EXPRESSIONS["lambda_expression"] = _lambda
