"""Walks over `ast` trees that stop where another scope begins."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_LEAVES = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def own_nodes(scope: ast.AST) -> list[ast.AST]:
    """The nodes of a scope in source order, without what functions, lambdas and classes in it hold."""
    nodes: list[ast.AST] = []
    todo = [scope]
    while todo:
        node = todo.pop()
        if node is not scope:
            nodes.append(node)
            if isinstance(node, _SCOPES):
                continue
        children: list[ast.AST] = []
        for name in node._fields:
            child = getattr(node, name, None)
            if isinstance(child, list):
                children += [member for member in child if isinstance(member, ast.AST)]
            elif isinstance(child, ast.AST) and not isinstance(child, _LEAVES):
                children.append(child)
        children.reverse()
        todo += children
    return nodes


def dotted(node: ast.AST) -> str:
    """`a.b.c` as written, or "" for anything but names and attributes."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(names))) if isinstance(node, ast.Name) else ""


def called(node: ast.AST) -> str:
    """The last name of a callee: `_check` of `torch._check(…)`."""
    function = getattr(node, "func", None)
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def rebound(arguments: ast.arguments, nodes: Sequence[ast.AST]) -> Iterator[tuple[str, int]]:
    """The parameters that are assigned outside of loops alone, with the line of the first assignment."""
    stored = [node for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    loops = [node for node in nodes if isinstance(node, (ast.For, ast.AsyncFor, ast.While))]
    repeated = {id(node) for loop in loops for node in ast.walk(loop)} if stored else set()
    for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        own = [node for node in stored if node.id == parameter.arg]
        if own and not any(id(node) in repeated for node in own):
            yield parameter.arg, min(node.lineno for node in own)
