"""Whether both ways of a branch give the same shapes, for a branch that a guess is to decide."""

from __future__ import annotations

import ast
import functools

from transforms.python.flow.asking import asks
from transforms.python.flow.nodes import named_parameters, written
from transforms.python.flow.values import INT, TENSOR
from transforms.python.shapes.outcomes import Agreement, Branch, agreement
from transforms.python.shapes.sizes import named
from transforms.python.shapes.values import Number, Other, Tensor, Value
from transforms.python.writing.branches import lean
from transforms.python.writing.logic import Undecided
from transforms.python.writing.nodes import parse_expression
from transforms.python.writing.place import Place

_INTEGERS = frozenset({"int", "SymInt", "torch.SymInt", "IntLike", "int | SymInt"})


def agreeing(place: Place, branch: ast.If | ast.IfExp, general: bool) -> Agreement:
    """How the shapes compare that both ways give. Raises Undecided where they are seen to differ."""
    parameters = {each.arg: _parameter(place, each) for each in named_parameters(place.function.args)}
    guess = functools.cache(functools.partial(_guess, place))  # each path asks for each condition again
    found = agreement(place.function, parameters, Branch(branch, general, guess))
    if found.same is False:
        raise Undecided("the path for sizes in general gives another shape for these ones than the branch does")
    return found


def _guess(place: Place, test: ast.expr) -> tuple[bool, bool | None]:
    """Whether a condition asks for sizes, and what it comes to for sizes in general."""
    try:
        return asks(place.values.value(test)), lean(place, parse_expression(ast.unparse(test)))
    except Undecided:
        return False, None


def _parameter(place: Place, argument: ast.arg) -> Value:
    kind = place.passed(argument).kind
    if kind == TENSOR:
        return Tensor(argument.arg)
    if kind == INT or (argument.annotation is not None and written(argument.annotation) in _INTEGERS):
        return Number(named(argument.arg))
    return Other(argument.arg)
