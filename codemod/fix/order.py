"""Order: what decides without a size is asked before the sizes.

    if rows == 1 and not torch.compiler.is_compiling():      if not torch.compiler.is_compiling() and rows == 1:
    causal = rows > 1 and mask is None and causal            causal = mask is None and rows > 1 and causal

Dynamo asks for each operand until one decides. What moves ahead is whether a name is None or an instance of something,
and whether compiled, traced or scripted code runs: it cannot raise, changes nothing, and is always a bool, so that the
whole is what it was. What it passes only compares sizes and numbers; that of a tensor of too few dimensions raised is
the one thing that may no longer be seen where the rest decides. Operands that bind a name, or call anything, stay.
"""

from __future__ import annotations

import ast
import re

from codemod.fix.catching import parsed
from codemod.model.edits import Edit

_RUNNING = re.compile(r"is_(?:torch)?(?:dynamo)?_?compiling|is_(?:exporting|tracing|scripting)")
_READERS = frozenset({"size", "numel", "dim", "len"})
_WORDS = {ast.And: b"and", ast.Or: b"or"}
_PLAIN = (
    ast.Compare, ast.BinOp, ast.UnaryOp, ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Call, ast.operator,
    ast.unaryop, ast.cmpop, ast.expr_context,
)  # fmt: skip


def order_at(path: str, source: bytes, line: int) -> Edit | None:
    """The edit of `path` that asks first, in a condition on `line`, what needs no size; None where nothing does."""
    tree = parsed(source)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.BoolOp) and node.lineno == node.end_lineno == line:
            edit = _ordered(path, source, node)
            if edit is not None:
                return edit
    return None


def _ordered(path: str, source: bytes, node: ast.BoolOp) -> Edit | None:
    asked = next((index for index, value in enumerate(node.values) if not _decides(value)), len(node.values))
    passed = asked
    while passed < len(node.values) and _compares(node.values[passed]) and not _decides(node.values[passed]):
        passed += 1
    moved = passed
    while moved < len(node.values) and _decides(node.values[moved]):
        moved += 1
    if asked == passed or moved == passed:
        return None
    before = sum(map(len, source.splitlines(keepends=True)[: node.lineno - 1]))
    start, end = before + node.col_offset, before + (node.end_col_offset or 0)
    word = _WORDS[type(node.op)]
    edges = [start]
    for value, following in zip(node.values, node.values[1:], strict=False):
        gap = source[before + (value.end_col_offset or 0) : before + following.col_offset]
        edges += [before + (value.end_col_offset or 0) + at for at in re.search(rb"\b%s\b" % word, gap).span()]  # type: ignore[union-attr]
    edges.append(end)
    texts = [source[a:b].strip() for a, b in zip(edges[::2], edges[1::2], strict=True)]
    new = b" %s " % word
    ordered = [*texts[:asked], *texts[passed:moved], *texts[asked:passed], *texts[moved:]]
    return Edit(path, start, end, source[start:end], new.join(ordered))


def _decides(node: ast.expr) -> bool:
    """Whether an operand asks for no size: a None test of a name, its type, or what code runs."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _decides(operand)
        case ast.Compare(left=ast.Name(), ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return True
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(), ast.Name() | ast.Attribute()], keywords=[]):
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[], keywords=[]):
            return _RUNNING.fullmatch(name) is not None
    return False


def _compares(node: ast.expr) -> bool:
    """Whether an operand does nothing but compare numbers and sizes."""
    if not isinstance(node, ast.Compare):
        return False
    parts = list(ast.walk(node))
    calls = [part.func for part in parts if isinstance(part, ast.Call)]
    names = {getattr(function, "attr", getattr(function, "id", "")) for function in calls}
    return all(isinstance(part, _PLAIN) for part in parts) and names <= _READERS
