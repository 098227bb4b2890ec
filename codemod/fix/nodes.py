"""Nodes of a file's syntax: where they stand, and the functions around them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_READERS = frozenset({"size", "numel", "dim", "len"})
_PLAIN = (
    ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Call,
    ast.boolop, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context,
)  # fmt: skip


def offset(lines: Sequence[bytes], line: int, column: int) -> int:
    """The place in a file, in bytes, of a column of a line, as ast counts them; `lines` are those of the file."""
    return sum(map(len, lines[: line - 1])) + column


def end_of(lines: Sequence[bytes], node: ast.expr) -> int:
    """The place behind the last byte of a node in its file; `lines` are those of the file."""
    return offset(lines, node.end_lineno or 0, node.end_col_offset or 0)


def holds_line(node: ast.stmt | ast.expr, line: int) -> bool:
    """Whether a node has something on `line` of its file."""
    return node.lineno <= line <= (node.end_lineno or 0)


def asks_on(branch: ast.If, line: int) -> bool:
    """Whether a branch is decided on `line`: on one from its `if` to the end of its condition."""
    return branch.lineno <= line <= (branch.test.end_lineno or 0)


def only_reads(node: ast.expr) -> bool:
    """Whether a node reads names, sizes and whether something is so (`is_tracing()`), and computes with no more."""
    parts = list(ast.walk(node))
    calls = [part.func for part in parts if isinstance(part, ast.Call)]
    names = [getattr(function, "attr", getattr(function, "id", "")) for function in calls]
    read = all(name in _READERS or name.startswith("is_") for name in names)
    return read and all(isinstance(part, _PLAIN) for part in parts)


def function_around(tree: ast.Module, inner: ast.AST) -> ast.AST | None:
    """The innermost function, or lambda, that holds a node; None for none."""
    around = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS) and _holds(node, inner)]
    return around[-1] if around else None


def named_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    """The parameters of a function that are given one argument each."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _holds(outer: ast.AST, inner: ast.AST) -> bool:
    return any(node is inner for node in ast.walk(outer))
