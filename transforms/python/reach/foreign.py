"""What of a file belongs to another library: functions that are handed to its compiler, and its registrars."""

from __future__ import annotations

import ast

from transforms.python.flow.nodes import dotted
from transforms.python.reach.lineage import ClassPlace
from transforms.python.reach.packages import KNOWN
from transforms.python.reach.registrars import Arguments, Inner, Outside, Scope
from transforms.python.reach.tree import SourceTree


def given_away(tree: SourceTree, function: Inner) -> set[int]:
    """The ids of the names in a function that it passes to what neither the tree nor PyTorch nor Python defines."""
    calls = [node for node in ast.walk(function.node) if isinstance(node, ast.Call)]
    return {id(argument) for call in calls if _foreign(tree, call.func, function.scope) for argument in call.args}


def is_elsewhere(tree: SourceTree, path: str, name: str) -> bool:
    """Whether a name that PyTorch has too is another library's, in a file that has nothing of PyTorch.

    `mlir.register_lowering` registers with JAX. What a file that imports torch has of another library may hand it on.
    """
    return _is_foreign(tree, path, name) and not tree.imports_torch(path)


def _foreign(tree: SourceTree, callee: ast.expr, scope: Scope) -> bool:
    while isinstance(callee, ast.Call):
        callee = callee.func
    return _is_foreign(tree, scope.path, dotted(callee))


def registers_no_operator(tree: SourceTree, path: str, decorator: str, arguments: Arguments) -> bool:
    """Whether a decorator of a file is another library's and given what is no operator: its registry is not PyTorch's.

    As torchvision's `register_kernel(functional.resize, Image)`.
    """
    given = [values for slot, values in arguments if slot == "0"]
    no_name = any(values and all(isinstance(v, (Outside, ClassPlace)) for v in values) for values in given)
    return no_name and _is_foreign(tree, path, decorator)


def _is_foreign(tree: SourceTree, path: str, name: str) -> bool:
    target = tree.imported(path, name.partition(".")[0])
    own = not target or tree.located(target)[0]
    return not own and target.partition(".")[0] not in KNOWN
