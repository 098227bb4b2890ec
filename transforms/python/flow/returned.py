"""What one call of a function returns: what its other calls are given may say nothing of it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from transforms.python.flow.values import EMPTY, NOTHING, PLAIN, STATIC, Value

_OTHERS = frozenset({PLAIN, STATIC, EMPTY})
"""The kinds of what is none of these."""


class Needs(NamedTuple):
    """The parameters without a size, a truth about sizes or a Tensor in which a function returns none either.

    `names` are those that a call may give by position, `rest` is `*args`.
    """

    names: tuple[str, ...]
    rest: str
    needed: frozenset[str]


def returned(value: Value, needs: Needs | None, call: ast.Call, value_of: Callable[[ast.expr], Value]) -> Value:
    """What a call returns of a function that in all its calls together returns `value`."""
    if needs is None or any(isinstance(argument, ast.Starred) for argument in call.args):
        return value
    slots = [*needs.names, *[needs.rest] * len(call.args)]
    given: list[tuple[str | None, ast.expr]] = list(zip(slots, call.args, strict=False))
    given += [(keyword.arg, keyword.value) for keyword in call.keywords]
    for name, argument in given:
        if name is None or (name in needs.needed and value_of(argument).kind not in _OTHERS):
            return value
    return NOTHING
