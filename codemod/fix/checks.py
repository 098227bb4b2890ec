"""Checks: a branch that only raises is, where it is compiled, a check that is made when the code runs.

    if chosen.shape[0] != wanted:                  if torch.compiler.is_compiling():
        raise ValueError(f"{chosen.shape[0]}…")        torch._check(chosen.shape[0] == wanted)
                                                   elif chosen.shape[0] != wanted:
                                                       raise ValueError(f"{chosen.shape[0]}…")

Eager keeps its exception and a message that holds sizes, which Dynamo takes in no check (the handler of torch._check in
torch/_dynamo/variables/torch.py). What is checked is what has to hold for the branch not to raise, and nothing more:
`a >= b` is that for `a < b` where both are whole numbers, of which none is NaN. A condition that binds a name is left.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass

from codemod.fix.catching import guard_around, names_around, parsed, raised_by
from codemod.fix.marks import imports_torch
from codemod.fix.whole_numbers import is_whole, whole_names
from codemod.model.edits import Edit

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
}  # fmt: skip
_EQUALITY = (ast.Eq, ast.NotEq)
_ONCE = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
"""What does something where it is evaluated."""


@dataclass(frozen=True, slots=True)
class Check:
    """The edit that puts checks before a branch, the names of the function that has it, and what it raises."""

    edit: Edit
    names: tuple[str, ...]
    raised: type[BaseException] | None
    """None where its name does not tell."""
    caught: int
    """The line of what may catch that in the function itself; 0 where nothing does."""


def check_at(path: str, source: bytes, line: int) -> Check | None:
    """The check of `path` for the branch that asks on `line`; None where it does more than raise."""
    tree = parsed(source)
    if tree is None or not imports_torch(tree):
        return None
    branches = (node for node in ast.walk(tree) if isinstance(node, ast.If))
    for branch in branches:
        if branch.lineno <= line <= (branch.test.end_lineno or 0) and _only_raises(branch):
            edit, raised = _checked(path, source, tree, branch), raised_by(branch)
            if edit is None:
                return None
            place = branch.body[0].lineno
            return Check(edit, names_around(tree, place), raised, guard_around(tree, place, raised))
    return None


def _only_raises(branch: ast.If) -> bool:
    return not branch.orelse and len(branch.body) == 1 and isinstance(branch.body[0], ast.Raise)


def _checked(path: str, source: bytes, tree: ast.Module, branch: ast.If) -> Edit | None:
    lines = source.splitlines(keepends=True)
    begin = sum(map(len, lines[: branch.lineno - 1]))
    start = begin + branch.col_offset
    indent = source[begin:start]
    conditions = _false(branch.test, whole_names(tree, branch))
    if conditions is None or any(isinstance(node, _ONCE) for node in ast.walk(branch.test)):
        return None
    if indent.strip() or source[start : start + 2] != b"if":  # an `elif`
        return None
    written = [ast.unparse(condition) for condition in conditions]
    if not all(map(str.isascii, written)):  # the file's own encoding may be another
        return None
    body = branch.body[0]
    deeper = source[begin + sum(map(len, lines[branch.lineno - 1 : body.lineno - 1])) :][: body.col_offset]
    if deeper.strip() or not deeper.startswith(indent) or body.lineno == branch.lineno:
        deeper = indent + b"    "
    newline = b"\r\n" if lines[branch.lineno - 1].endswith(b"\r\n") else b"\n"
    checks = b"".join(deeper + f"torch._check({condition})".encode() + newline for condition in written)
    new = b"if torch.compiler.is_compiling():" + newline + checks + indent + b"elif"
    return Edit(path, start, start + 2, b"if", new)


def _false(test: ast.expr, whole: Collection[str]) -> list[ast.expr] | None:
    """What has to hold for `test` to be false; None where that is not seen by comparisons alone.

    The names `whole` are of whole numbers.
    """
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        parts = [_false(value, whole) for value in test.values]
        return None if None in parts else [condition for part in parts if part for condition in part]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Compare):
        return [test.operand] if len(test.operand.ops) == 1 and type(test.operand.ops[0]) in _OPPOSITE else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in _OPPOSITE:
        return None
    if not isinstance(test.ops[0], _EQUALITY) and not all(is_whole(n, whole) for n in (test.left, *test.comparators)):
        return None
    return [ast.Compare(left=test.left, ops=[_OPPOSITE[type(test.ops[0])]()], comparators=test.comparators)]
