"""Walks over `ast` trees that stop where another scope begins."""

from __future__ import annotations

import ast

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
