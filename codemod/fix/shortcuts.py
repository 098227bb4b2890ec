"""Shortcuts: a path for sizes that are equal is left, where it is compiled, to the path that serves the others.

    if rows == columns:                    if not torch.compiler.is_compiling() and rows == columns:
        return self.table                      return self.table
    return resized(self.table, rows)       return resized(self.table, rows)

A graph is made for one side of the comparison, and torch compiles again, or an exported program refuses its input, for
the other. That the longer path gives the same for these sizes is nothing that source tells: it is for the run of a
program to show, which has to take the shortcut without a compiler. Comparisons with 0 and 1 are left, which often keep
from the longer path what it cannot compute, and a shortcut that returns a truth, which its callers decide by.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codemod.fix.nodes import asks_on, end_of, offset, only_reads
from codemod.fix.torch_names import COMPILING, parsed_with_torch
from codemod.model.edits import Edit

_AND = b" and "
_FAILS = b"raise AssertionError; "


@dataclass(frozen=True, slots=True)
class Shortcut:
    """The edits that leave it where it is compiled; `taken` are those with which a program fails that takes it."""

    edits: tuple[Edit, ...]
    taken: tuple[Edit, ...]


def shortcuts_at(path: str, source: bytes, line: int) -> Iterator[Shortcut]:
    """The shortcuts of `path` whose condition is on `line`."""
    if (found := parsed_with_torch(path, source, line)) is None:
        return
    tree, torch = found
    lines = source.splitlines(keepends=True)
    for branch, behind in _branches(tree):
        if asks_on(branch, line) and _is_shortcut(branch, behind):
            edit = _asked_first(path, lines, tree, branch, f"not {torch.spelled(COMPILING)}".encode())
            inner = offset(lines, branch.body[0].lineno, branch.body[0].col_offset)
            yield Shortcut((edit, *torch.imported), (Edit(path, inner, inner, b"", _FAILS),))


def _asked_first(path: str, lines: Sequence[bytes], tree: ast.Module, branch: ast.If, asked: bytes) -> Edit:
    """The edit that has a branch ask another thing first; a row for each where one would be the longest of code."""
    test, line = branch.test, lines[branch.lineno - 1]
    start, end = offset(lines, test.lineno, test.col_offset), end_of(lines, test)
    old, before = line[test.col_offset : test.end_col_offset], line[: test.col_offset]
    parts = test.values if isinstance(test, ast.BoolOp) else [test]
    texts = [line[part.col_offset : part.end_col_offset] for part in parts]
    plain = branch.lineno == test.end_lineno and before.split() in ([b"if"], [b"elif"]) and old == _AND.join(texts)
    code = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt) and not _is_text(node)}
    if not plain or len(line) + len(asked + _AND) <= max(len(lines[number - 1]) for number in code):
        return Edit(path, start, start, b"", asked + _AND)
    indent = line[: len(line) - len(line.lstrip())]
    newline = b"\r\n" if line.endswith(b"\r\n") else b"\n"
    inner = newline + indent + (b"\t" if b"\t" in indent else b"    ")
    rows = (inner + _AND.lstrip()).join([asked, *texts])
    return Edit(path, start, end, old, b"(" + inner + rows + newline + indent + b")")


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _branches(tree: ast.Module) -> Iterator[tuple[ast.If, list[ast.stmt]]]:
    """Each branch of a file, with the statements behind it."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield from ((each, block[n + 1 :]) for n, each in enumerate(block) if isinstance(each, ast.If))


def _is_shortcut(branch: ast.If, behind: Sequence[ast.stmt]) -> bool:
    """Whether a branch for equal sizes gives at once what its else, or what is `behind` it, computes for all."""
    if len(branch.body) != 1 or not _asks_whether_equal(branch.test):
        return False
    longer = branch.orelse or behind
    match branch.body[0], longer[-1] if longer else None:
        case ast.Return(value=ast.expr() as value), ast.Return(value=ast.expr()):
            return not isinstance(value, ast.Constant)
        case ast.Assign(targets=[ast.Name(id=first)]), ast.Assign(targets=[ast.Name(id=other)]):
            return bool(branch.orelse) and first == other
    return False


def _asks_whether_equal(test: ast.expr) -> bool:
    """Whether a condition, or a part of it without which it does not hold, is that two numbers are equal.

    What else it asks changes nothing, so that it may be left out.
    """
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return all(map(only_reads, parts)) and any(map(_is_about_equal, parts))


def _is_about_equal(part: ast.expr) -> bool:
    """Whether a condition is that numbers are equal, none of which is 0 or 1."""
    if not isinstance(part, ast.Compare) or not all(isinstance(operator, ast.Eq) for operator in part.ops):
        return False
    constants = [node.value for node in (part.left, *part.comparators) if isinstance(node, ast.Constant)]
    return all(type(value) is int and value > 1 for value in constants)
