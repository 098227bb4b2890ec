"""What a variable is given before a branch, and nothing reads once the branch is one assignment."""

from __future__ import annotations

import ast
import re

from transforms.python.flow.nodes import all_nodes, variables_in
from transforms.python.writing.place import Place

# Where these are, a variable may be read other than by what stands behind its assignment.
_READ_ELSEWHERE = (
    *(ast.Try, ast.With, ast.AsyncWith, ast.Global, ast.Nonlocal),
    *(ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
)


def unread_before(place: Place, branch: ast.If, name: str, text: str) -> tuple[ast.stmt, ast.stmt] | tuple[()]:
    """The assignment before the branch of what is read no more, with the statement behind it; () where there is none.

    `pad = 0` has no meaning before `pad = (m - n % m) % m`.
    """
    inside = all_nodes(place.function.body)
    if re.search(rf"\b{name}\b", text) or any(isinstance(node, _READ_ELSEWHERE) for node in inside):
        return ()
    block = place.block_of(branch)
    for index in reversed(range(block.index(branch))):
        match block[index]:
            case ast.Assign(targets=[ast.Name(id=assigned)], value=value) as statement if assigned == name:
                alone = place.layout.indent(statement) is not None and place.layout.indent(block[index + 1]) is not None
                return (statement, block[index + 1]) if alone and _harmless(value, name) else ()
            case statement if not _only_computes(statement) or name in variables_in(statement):
                return ()
    return ()


def _harmless(value: ast.expr, name: str) -> bool:
    """Whether a value is a number, or a quotient that is always to be had."""
    match value:
        case ast.BinOp(left=ast.Name(id=read), op=ast.FloorDiv(), right=ast.Constant(value=int(divisor))):
            return read != name and divisor != 0
    return isinstance(value, ast.Constant)


def _only_computes(statement: ast.stmt) -> bool:
    """Whether the statement behind it is always the next."""
    if isinstance(statement, ast.If):
        return all(map(_only_computes, (*statement.body, *statement.orelse)))
    return isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr))
