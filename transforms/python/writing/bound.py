"""Which variables of a function surely have a value: to ask for one that has none raises UnboundLocalError."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from transforms.python.flow.nodes import EXITS, bound_otherwise, named_parameters, names_brought, own_nodes

_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor)
_WITH = (ast.With, ast.AsyncWith)


def local_variables(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The variables that a function assigns, but for its parameters and those of scopes around it."""
    nodes = own_nodes(function)
    elsewhere = {name for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    arguments = function.args
    elsewhere |= {p.arg for p in (*named_parameters(arguments), arguments.vararg, arguments.kwarg) if p is not None}
    return (_stored(nodes) | set(bound_otherwise(nodes))) - elsewhere - {""}


def bound_by(statement: ast.stmt) -> set[str]:
    """The variables that surely have a value once a statement has run to its end, by what it assigns."""
    if isinstance(statement, ast.Assign):
        return {name for target in statement.targets for name in _stored_in(target)}
    if isinstance(statement, ast.AnnAssign):
        return _stored_in(statement.target) if statement.value is not None else set()
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return set(names_brought(statement))
    if isinstance(statement, _DEFINED):
        return {statement.name}
    if isinstance(statement, _WITH):
        return bound_within(statement) | _bound_by_all(statement.body)
    if isinstance(statement, ast.If):
        return _on_all_ways((statement.body, statement.orelse))
    if isinstance(statement, ast.Try):
        ways = ([*statement.body, *statement.orelse], *(handler.body for handler in statement.handlers))
        return _on_all_ways(ways) | _bound_by_all(statement.finalbody)
    return set()


def bound_within(statement: ast.stmt) -> set[str]:
    """The variables that a statement gives a value before the statements in it run, of each pattern and handler."""
    if isinstance(statement, _LOOPS):
        return _stored_in(statement.target)
    parts: list[ast.AST] = [*getattr(statement, "items", ()), *getattr(statement, "handlers", ())]
    parts += (part for case in getattr(statement, "cases", ()) for part in ast.walk(case.pattern))
    return set(bound_otherwise(parts)) - {""}


def _on_all_ways(ways: Iterable[Sequence[ast.stmt]]) -> set[str]:
    ending = [_bound_by_all(way) for way in ways if not (way and isinstance(way[-1], EXITS))]
    return set.intersection(*ending) if ending else set()


def _bound_by_all(statements: Iterable[ast.stmt]) -> set[str]:
    return {name for statement in statements for name in bound_by(statement)}


def _stored_in(target: ast.expr) -> set[str]:
    return _stored([target, *own_nodes(target)])


def _stored(nodes: Iterable[ast.AST]) -> set[str]:
    every = list(nodes)
    inner = {id(part) for node in every if isinstance(node, ast.comprehension) for part in ast.walk(node.target)}
    stored = (node for node in every if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return {node.id for node in stored if id(node) not in inner}
