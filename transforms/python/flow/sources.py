"""What the variables of a function are made of, and what it returns: read once for all places in it."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Mapping, Sequence

from transforms.python.flow.nodes import own_nodes
from transforms.python.flow.torch_names import TORCH_MODULES

Function = ast.FunctionDef | ast.AsyncFunctionDef


@functools.lru_cache(maxsize=2)
def nodes_of(function: Function) -> Sequence[ast.AST]:
    """A function's own nodes in source order."""
    return own_nodes(function)


@functools.lru_cache(maxsize=2)
def returns_of(function: Function) -> Sequence[ast.Return]:
    """A function's own `return` statements."""
    return [node for node in nodes_of(function) if isinstance(node, ast.Return)]


def origins(function: Function, values: Iterable[ast.expr]) -> set[str]:
    """The variables that values are made of, and those that these are made of, modules left out."""
    sources = _sources(function)
    names: set[str] = set()
    pending = list(values)
    while pending:
        for part in ast.walk(pending.pop()):
            if isinstance(part, ast.Name) and part.id not in names and part.id not in TORCH_MODULES:
                names.add(part.id)
                pending += sources.get(part.id, ())
    return names


def sources_of(function: Function, name: str) -> Sequence[ast.expr]:
    """What a variable is assigned, or is a part of, or taken from by a loop."""
    return _sources(function).get(name, ())


def given_to(function: Function, name: str) -> Sequence[tuple[int, ast.expr | None]]:
    """What a variable is given, each with its line; None where that is a part of a value, or not to be seen.

    `x += y` gives `x + y`, a sum that has no place of its own.
    """
    return _given(function).get(name, ())


@functools.lru_cache(maxsize=2)
def _given(function: Function) -> Mapping[str, Sequence[tuple[int, ast.expr | None]]]:
    given: dict[str, list[tuple[int, ast.expr | None]]] = {}
    whole: dict[int, ast.expr | None] = {}
    for node in nodes_of(function):
        if isinstance(node, ast.Assign):
            whole |= {id(target): node.value for target in node.targets}
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            whole[id(node.target)] = node.value
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            held = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
            whole[id(node.target)] = ast.BinOp(held, node.op, node.value)
    for node in nodes_of(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            given.setdefault(node.id, []).append((node.lineno, whole.get(id(node))))
    return given


@functools.lru_cache(maxsize=2)
def _sources(function: Function) -> Mapping[str, Sequence[ast.expr]]:
    """What each variable is assigned, or taken from by a loop."""
    sources: dict[str, list[ast.expr]] = {}
    for node in nodes_of(function):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.For, ast.comprehension)):
            value = node.value if isinstance(node, (ast.Assign, ast.AugAssign)) else node.iter
            targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}:
                sources.setdefault(name, []).append(value)
    return sources
