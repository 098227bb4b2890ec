"""Parameters that a function makes plain numbers of whatever it does, so that no symbol comes further in it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from transforms.python.flow.nodes import always_evaluated, dotted

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)


class Made(NamedTuple):
    """What a function makes numbers of: `names` are the parameters that a call may give by position."""

    names: tuple[str, ...]
    places: Mapping[str, str]
    """Where, by the parameter's name."""


def made_numbers(function: ast.FunctionDef | ast.AsyncFunctionDef, names: Collection[str]) -> Iterator[tuple[str, int]]:
    """(parameter, line) of each `int(parameter)` on every way through a function, of those of `names`."""
    left = set(names)
    for statement in function.body:
        if not isinstance(statement, _SIMPLE):
            if any(isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)) for node in ast.walk(statement)):
                return
            left -= _bound(statement)
            continue
        own = (child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.expr))
        for node in (node for expression in own for node in always_evaluated(expression)):
            match node:
                case ast.Call(func=ast.Name(id="int" | "float"), args=[ast.Name(id=name)], keywords=[]) if name in left:
                    yield name, node.lineno
        left -= _bound(statement)


def _bound(statement: ast.stmt) -> set[str]:
    stored = (ast.Store, ast.Del)
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, stored)}


def given_on(node: ast.AST, nodes: Iterable[ast.AST], made: Mapping[str, Made]) -> tuple[str, str] | None:
    """The function that makes a number of the argument that `node` is, and where; None where none does.

    `nodes` are those of the function that the argument stands in.
    """
    for call in nodes if made else ():
        function = made.get(dotted(call.func)) if isinstance(call, ast.Call) else None
        if function is None or not isinstance(call, ast.Call):
            continue
        for name, argument in zip(function.names, call.args, strict=False):
            if isinstance(argument, ast.Starred):
                break
            if argument is node and name in function.places:
                return dotted(call.func), function.places[name]
        for keyword in call.keywords:
            if keyword.value is node and keyword.arg and keyword.arg in function.places:
                return dotted(call.func), function.places[keyword.arg]
    return None
