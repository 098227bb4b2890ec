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
