"""Checks: a branch that only raises, or an assertion, is where it is compiled a check that is made when the code runs.

    if chosen.shape[0] != wanted:                  if torch.compiler.is_compiling():
        raise ValueError(f"{chosen.shape[0]}…")        torch._check(chosen.shape[0] == wanted)
                                                   elif chosen.shape[0] != wanted:
                                                       raise ValueError(f"{chosen.shape[0]}…")
    assert a.shape[0] == n, f"{a.shape}…"          if torch.compiler.is_compiling():
                                                       torch._check(a.shape[0] == n)
                                                   else:
                                                       assert a.shape[0] == n, f"{a.shape}…"

Eager keeps its exception and a message that holds sizes, which Dynamo takes in no check (the handler of torch._check in
torch/_dynamo/variables/torch.py), nor in an assertion. What is checked is what has to hold for the branch not to raise,
and nothing more: `a >= b` is that for `a < b` where both are whole numbers, of which none is NaN. A condition that
binds a name is left.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
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
    """The check of `path` for the branch or the assertion that asks on `line`; None where it does more than raise."""
    tree = parsed(source)
    if tree is None or not imports_torch(tree):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and node.lineno <= line <= (node.test.end_lineno or 0) and _only_raises(node):
            edit, raised, place = _checked(path, source, tree, node), raised_by(node), node.body[-1].lineno
        elif isinstance(node, ast.stmt) and (asserted := _asserted(node)) is not None and _holds(node, line):
            edit, raised, place = _apart(path, source, tree, node, asserted), AssertionError, node.lineno
        else:
            continue
        caught = guard_around(tree, place, raised)
        return None if edit is None else Check(edit, names_around(tree, place), raised, caught)
    return None


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or 0)


def _only_raises(branch: ast.If) -> bool:
    """Whether a branch does nothing but raise; it may first give names to what that is made of."""
    *named, last = branch.body
    plain = all(isinstance(each, ast.Assign) and all(isinstance(t, ast.Name) for t in each.targets) for each in named)
    return not branch.orelse and plain and isinstance(last, ast.Raise)


def _asserted(node: ast.stmt) -> ast.expr | None:
    """What an assertion, or a call of `torch._assert`, says to be true; None of other statements."""
    match node:
        case ast.Assert(test=test):
            return test
        case ast.Expr(value=ast.Call(func=ast.Name(id="_assert") | ast.Attribute(attr="_assert"), args=[test, _])):
            return test
    return None


def _apart(path: str, source: bytes, tree: ast.Module, node: ast.stmt, test: ast.expr) -> Edit | None:
    """The edit that checks `test` where it is compiled, and leaves the assertion to eager."""
    conditions = _true(test)
    lines = source.splitlines(keepends=True)
    before, end = sum(map(len, lines[: node.lineno - 1])), node.end_lineno or node.lineno
    start, stop = before + node.col_offset, sum(map(len, lines[: end - 1])) + (node.end_col_offset or 0)
    indent, behind = source[before:start], lines[end - 1][node.end_col_offset or 0 :].strip()
    texts = (part for part in ast.walk(node) if isinstance(part, (ast.Constant, ast.JoinedStr)))
    broken = any((text.end_lineno or text.lineno) > text.lineno for text in texts)  # which may be within a text
    if conditions is None or indent.strip() or (behind and not behind.startswith(b"#")) or broken:
        return None
    written = _ascii(conditions)
    if written is None or any(isinstance(part, _ONCE) for part in ast.walk(test)):
        return None
    around = [
        n.col_offset for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno < node.lineno and _holds(n, end)
    ]
    unit = indent[max(around) :] if around else b"    "
    newline = b"\r\n" if lines[node.lineno - 1].endswith(b"\r\n") else b"\n"
    checks = b"".join(indent + unit + f"torch._check({condition})".encode() + newline for condition in written)
    first, *rest = source[start:stop].splitlines(keepends=True)
    moved = b"".join([indent, unit, first, *(unit + line if line.strip() else line for line in rest)])
    new = b"if torch.compiler.is_compiling():" + newline + checks + indent + b"else:" + newline + moved
    return Edit(path, start, stop, source[start:stop], new)


def _true(test: ast.expr) -> list[ast.expr] | None:
    """What has to hold for `test` to be true; None where that is not seen by comparisons alone."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        parts = [_true(value) for value in test.values]
        return None if None in parts else [condition for part in parts if part for condition in part]
    if not isinstance(test, ast.Compare) or any(type(op) not in _OPPOSITE for op in test.ops):
        return None
    sides = [test.left, *test.comparators]
    if any(isinstance(part, ast.Call) for side in sides[1:-1] for part in ast.walk(side)):
        return None  # it would be called twice
    pairs = zip(sides[:-1], test.ops, sides[1:], strict=True)
    return [ast.Compare(left=left, ops=[op], comparators=[right]) for left, op, right in pairs]


def _ascii(conditions: Sequence[ast.expr]) -> list[str] | None:
    """The conditions as text; None where the file's own encoding may be another than that text's."""
    written = [ast.unparse(condition) for condition in conditions]
    return written if all(map(str.isascii, written)) else None


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
    if (written := _ascii(conditions)) is None:
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
