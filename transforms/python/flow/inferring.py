"""Sizes that `reshape` is left to infer, though they follow from the tensor's own shape."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from typing import NamedTuple

from transforms.python.flow.nodes import SCOPES, called, holds

_ONCE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)
_REPEATING = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.NamedExpr)


class Inferred(NamedTuple):
    """A `-1` among sizes, and `x.shape[start:]` behind it."""

    unknown: ast.expr
    tail: ast.Subscript
    start: ast.expr


def inferred(node: ast.Call, nodes: Sequence[ast.AST]) -> Inferred | None:
    """The `-1` in `x.reshape(sizes)` where the other sizes are the tail of x's own shape; None for all else.

    `sizes` may be a variable that the statement just above assigns, and nothing else reads before `sizes[0]` is set.
    """
    if not isinstance(node.func, ast.Attribute) or not node.args or not _names_only(node.func.value):
        return None
    sizes: ast.expr = ast.Tuple(node.args, ast.Load()) if len(node.args) > 1 else node.args[0]
    if isinstance(sizes, ast.Name):
        held = _assigned_above(node, sizes.id, nodes)
        if held is None:
            return None
        sizes = held
    parts: list[ast.expr] = [sizes.left, sizes.right] if isinstance(sizes, ast.BinOp) else [sizes]
    elements: list[ast.expr] = []
    for part in parts:
        if isinstance(part, ast.Call) and called(part) in ("list", "tuple") and len(part.args) == 1:
            part = part.args[0]
        elements += part.elts if isinstance(part, (ast.List, ast.Tuple)) else [part]
    if len(elements) != 2 or ast.unparse(elements[0]) != "-1":
        return None
    tail = elements[1].value if isinstance(elements[1], ast.Starred) else elements[1]
    if not isinstance(tail, ast.Subscript) or not isinstance(tail.slice, ast.Slice):
        return None
    if tail.slice.upper or tail.slice.step or not isinstance(tail.slice.lower, (ast.Name, ast.Constant)):
        return None
    if ast.unparse(tail.value) != f"{ast.unparse(node.func.value)}.shape":
        return None
    return Inferred(elements[0], tail, tail.slice.lower)


def _names_only(tensor: ast.expr) -> bool:
    """Whether a tensor is named, so that it is the same one as often as it is written."""
    while isinstance(tensor, ast.Attribute):
        tensor = tensor.value
    return isinstance(tensor, ast.Name)


def _assigned_above(node: ast.Call, name: str, nodes: Sequence[ast.AST]) -> ast.expr | None:
    """What a variable was assigned just above a call that alone reads it, once; None for others.

    Another reader would get the product of this tensor's sizes in the place of a `-1` that fits any tensor.
    """
    used = [part for part in nodes if isinstance(part, ast.Name) and part.id == name]
    inner = (part for part in nodes if isinstance(part, SCOPES))
    elsewhere = any(isinstance(part, ast.Name) and part.id == name for held in inner for part in ast.walk(held))
    statements = [part for part in nodes if isinstance(part, ast.stmt)]
    at = next((i for i, s in enumerate(statements) if isinstance(s, _ONCE) and holds(s, node)), 0)
    assignment, statement = statements[at - 1], statements[at]
    limit = next((s.lineno for s in statements[at + 1 :] if _sets_first(s, name, statement)), sys.maxsize)
    if sum(part.lineno < limit for part in used) != 2 or elsewhere or not at or not isinstance(assignment, ast.Assign):
        return None
    if any(isinstance(part, _REPEATING) for part in ast.walk(statement)):
        return None
    same_block = assignment.col_offset == statement.col_offset
    return assignment.value if same_block and [ast.unparse(t) for t in assignment.targets] == [name] else None


def _sets_first(statement: ast.stmt, name: str, call: ast.stmt) -> bool:
    """Whether a statement gives `name[0]` another value on every way that comes from a call, and does not read it."""
    if not isinstance(statement, ast.Assign) or statement.col_offset != call.col_offset:
        return False
    if any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(statement.value)):
        return False
    return [ast.unparse(target) for target in statement.targets] == [f"{name}[0]"]
