"""What expressions share memory with, as they are written."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeGuard

from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.nodes import names_brought
from transforms.python.flow.values import SEQUENCE, TENSORS, TUPLE

Held = Mapping[str, bool]
"""Pieces of memory that a value may lie in, and whether that takes no function that is not known to give it back."""

METADATA = frozenset(
    {"shape", "dtype", "device", "ndim", "layout", "is_cuda", "requires_grad", "nbytes", "itemsize", "names"}
)
"""Attributes of a tensor that hold no memory of it."""


def joined(states: Iterable[Held]) -> Held:
    whole: dict[str, bool] = {}
    for held in states:
        for memory, surely in held.items():
            whole[memory] = surely or whole.get(memory, False)
    return whole


def merged(states: Sequence[Mapping[str, Held]]) -> dict[str, Held]:
    """What names hold after one of several ways."""
    names = {name for state in states for name in state}
    return {name: joined(state[name] for state in states if name in state) for name in names}


def imported(statements: Iterable[ast.AST]) -> set[str]:
    """The names that imports bring."""
    imports = (statement for statement in statements if isinstance(statement, (ast.Import, ast.ImportFrom)))
    return {name for node in imports for name in names_brought(node)}


def loaded(scope: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def binds(node: ast.AST) -> TypeGuard[ast.arg | ast.Name]:
    return isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def is_dropped(assignment: ast.Assign, read: Collection[str]) -> bool:
    """Whether what is assigned goes to names alone of which none is `read`."""
    parts = [part for target in assignment.targets for part in ast.walk(target)]
    return not any(isinstance(p, (ast.Attribute, ast.Subscript)) or getattr(p, "id", "") in read for p in parts)


def own_memory(node: ast.expr) -> Held:
    """The memory that an expression makes."""
    return {f"{node.lineno}:{node.col_offset}:{node.end_col_offset}": True}


def is_list(node: ast.expr) -> bool:
    return isinstance(node, (ast.List, ast.ListComp, ast.Tuple))


def sharing(node: ast.expr, values: Interpreter) -> list[ast.expr]:
    """The parts of an expression whose memory it may lie in."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.UnaryOp):
        return [node.operand] if isinstance(node.op, ast.UAdd) else []
    if isinstance(node, ast.BinOp):
        sides = [node.left, node.right]
        return sides if any(is_list(s) or values.value(s).kind in (TENSORS, SEQUENCE, TUPLE) for s in sides) else []
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.DictComp):
        return [node.value]
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        return [node.elt]
    if isinstance(node, (ast.Subscript, ast.Starred, ast.Await, ast.Yield, ast.YieldFrom)):
        return [node.value] if node.value is not None else []
    return []
