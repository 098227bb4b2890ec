"""Nodes of a file's syntax: where they stand, and the functions around them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def offset(lines: Sequence[bytes], line: int, column: int) -> int:
    """The place in a file, in bytes, of a column of a line, as ast counts them; `lines` are those of the file."""
    return sum(map(len, lines[: line - 1])) + column


def end_of(lines: Sequence[bytes], node: ast.expr) -> int:
    """The place behind the last byte of a node in its file; `lines` are those of the file."""
    return offset(lines, node.end_lineno or 0, node.end_col_offset or 0)


def function_around(tree: ast.Module, inner: ast.AST) -> ast.AST | None:
    """The innermost function, or lambda, that holds a node; None for none."""
    around = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS) and _holds(node, inner)]
    return around[-1] if around else None


def named_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    """The parameters of a function that are given one argument each."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _holds(outer: ast.AST, inner: ast.AST) -> bool:
    return any(node is inner for node in ast.walk(outer))
