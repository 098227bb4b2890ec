"""Checks: a branch that only raises is, where it is compiled, a check that is made when the code runs.

    if chosen.shape[0] != wanted:                  if torch.compiler.is_compiling():
        raise ValueError(f"{chosen.shape[0]}…")        torch._check(chosen.shape[0] == wanted)
                                                   elif chosen.shape[0] != wanted:
                                                       raise ValueError(f"{chosen.shape[0]}…")

Eager keeps its exception and a message that holds sizes, which Dynamo takes in no check (the handler of torch._check in
torch/_dynamo/variables/torch.py).
"""

from __future__ import annotations

import ast

from codemod.fix.marks import imports_torch
from codemod.model.edits import Edit

_OPPOSITE: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: ">=", ast.GtE: "<", ast.Gt: "<=", ast.LtE: ">",
}  # fmt: skip


def check_edit(path: str, source: bytes, line: int) -> Edit | None:
    """The edit of `path` that puts checks before the branch that asks on `line`; None where it does more than raise."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    if not imports_torch(tree):
        return None
    branches = (node for node in ast.walk(tree) if isinstance(node, ast.If))
    for branch in branches:
        if branch.lineno <= line <= (branch.test.end_lineno or 0) and _only_raises(branch):
            return _checked(path, source, branch)
    return None


def _only_raises(branch: ast.If) -> bool:
    return not branch.orelse and len(branch.body) == 1 and isinstance(branch.body[0], ast.Raise)


def _checked(path: str, source: bytes, branch: ast.If) -> Edit | None:
    lines = source.splitlines(keepends=True)
    begin = sum(map(len, lines[: branch.lineno - 1]))
    start = begin + branch.col_offset
    indent = source[begin:start]
    conditions = _false(source.decode("utf-8", "replace"), branch.test)
    if conditions is None or indent.strip() or source[start : start + 2] != b"if":
        return None  # None of conditions that are no comparisons, and of `elif`
    body = branch.body[0]
    deeper = source[begin + sum(map(len, lines[branch.lineno - 1 : body.lineno - 1])) :][: body.col_offset]
    if deeper.strip() or not deeper.startswith(indent) or body.lineno == branch.lineno:
        deeper = indent + b"    "
    newline = b"\r\n" if lines[branch.lineno - 1].endswith(b"\r\n") else b"\n"
    checks = b"".join(deeper + f"torch._check({condition})".encode() + newline for condition in conditions)
    new = b"if torch.compiler.is_compiling():" + newline + checks + indent + b"elif"
    return Edit(path, start, start + 2, b"if", new)


def _false(text: str, test: ast.expr) -> list[str] | None:
    """What has to hold for `test` to be false, as source; None where that is not seen by comparisons alone."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        parts = [_false(text, value) for value in test.values]
        return None if None in parts else [condition for part in parts if part for condition in part]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Compare):
        return [ast.get_source_segment(text, test.operand) or ""] if len(test.operand.ops) == 1 else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in _OPPOSITE:
        return None
    left, right = (ast.get_source_segment(text, side) for side in (test.left, test.comparators[0]))
    return [f"{left} {_OPPOSITE[type(test.ops[0])]} {right}"] if left and right else None
