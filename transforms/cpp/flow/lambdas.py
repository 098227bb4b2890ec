"""Lambdas: their parameters and results follow what their callers give and take."""

from __future__ import annotations

from transforms.cpp.flow.dispatch import EXPRESSIONS, evaluate, run
from transforms.cpp.flow.engine import Flow, join
from transforms.cpp.flow.standard import ALGORITHMS
from transforms.cpp.flow.state import Lambda, given_away
from transforms.cpp.flow.statements import declare_parameters
from transforms.cpp.flow.truth import truth
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import UNKNOWN, Type, symbolic_spelling


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
    if trailing is not None and trailing.children:
        spelled = trailing.children[0]
        declared = flow.type_of(spelled.text)
        if result.symbolic and declared.kind in ("int", "ints", "float") and not declared.symbolic:
            new = symbolic_spelling(spelled.text)
            if new is None:
                flow.sink(spelled, "return-type", f"is returned from a lambda as `{spelled.text}`", result)
            else:
                flow.retype(spelled, new, result.origins)
                owner.result = declared.with_origins(result.origins)
                return
        if result.symbolic and declared.kind == "bool" and result.kind == "int":
            for expression, kind in owner.returns:
                if expression is not None:
                    truth(flow, expression, kind)
        owner.result = declared
        return
    if result.symbolic and any(kind.kind in ("int", "ints") and not kind.symbolic for kind in kinds):
        flow.sink(owner.node, "return-type", "is returned from a lambda that elsewhere returns an integer", result)
    owner.result = result


EXPRESSIONS["lambda_expression"] = _lambda
