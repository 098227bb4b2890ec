"""Functions that a library hands to another one, whose compiler may read them: they are that one's code."""

from __future__ import annotations

import ast
import sys

from transforms.python.flow.nodes import dotted
from transforms.python.reach.registrars import Inner, Scope
from transforms.python.reach.tree import SourceTree


def given_away(tree: SourceTree, function: Inner) -> set[int]:
    """The ids of the names in a function that it passes to what neither the tree nor PyTorch nor Python defines."""
    calls = [node for node in ast.walk(function.node) if isinstance(node, ast.Call)]
    return {id(argument) for call in calls if _foreign(tree, call.func, function.scope) for argument in call.args}


def _foreign(tree: SourceTree, callee: ast.expr, scope: Scope) -> bool:
    while isinstance(callee, ast.Call):
        callee = callee.func
    target = tree.imported(scope.path, dotted(callee).partition(".")[0])
    own = not target or tree.located(target)[0]
    return not own and target.partition(".")[0] not in ("torch", *sys.stdlib_module_names)
