"""Order: what decides without a size is asked before the sizes.

    if rows == 1 and not torch.compiler.is_compiling():      if not torch.compiler.is_compiling() and rows == 1:
    causal = rows > 1 and mask is None and causal            causal = mask is None and rows > 1 and causal

Dynamo asks for each operand until one decides. What moves ahead is whether a name that the function has given something
to is None or an instance of something, and whether compiled, traced or scripted code runs: it cannot raise, changes
nothing, and is always a bool, so that the whole is what it was. What it passes only compares sizes and numbers; that of
a tensor of too few dimensions raised is the one thing that may no longer be seen where the rest decides. Operands that
bind a name, or call anything else, stay.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping

from codemod.fix.catching import parsed
from codemod.fix.nodes import function_around, named_parameters, offset, only_reads
from codemod.fix.torch_names import full_name, imported_names
from codemod.model.edits import Edit

_RUNNING = re.compile(
    r"(?:torch\.(?:\w+\.)*)?(?:is_(?:torch)?(?:dynamo)?_?compiling|is_(?:exporting|tracing|scripting))"
)
_WORDS = {ast.And: b"and", ast.Or: b"or"}


def order_at(path: str, source: bytes, line: int) -> Edit | None:
    """The edit of `path` that asks first, in a condition on `line`, what needs no size; None where nothing does."""
    tree = parsed(source)
    if tree is None:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.BoolOp) and node.lineno == node.end_lineno == line:
            edit = _ordered(path, source, node, _bound(function_around(tree, node), line), imported_names(tree))
            if edit is not None:
                return edit
    return None


def _bound(function: ast.AST | None, line: int) -> frozenset[str]:
    """The names that a function has given something to wherever it comes to `line`."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return frozenset()
    given = {each.arg for each in named_parameters(function)}
    before = [each for each in function.body if (each.end_lineno or 0) < line and isinstance(each, ast.Assign)]
    given |= {target.id for each in before for target in each.targets if isinstance(target, ast.Name)}
    return frozenset(
        given - {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del)}
    )


def _ordered(
    path: str, source: bytes, node: ast.BoolOp, bound: Collection[str], names: Mapping[str, str]
) -> Edit | None:
    decides = [_decides(value, bound, names) for value in node.values]
    asked = next((index for index, decided in enumerate(decides) if not decided), len(decides))
    passed = asked
    while passed < len(decides) and _compares(node.values[passed]) and not decides[passed]:
        passed += 1
    moved = passed
    while moved < len(decides) and decides[moved]:
        moved += 1
    if asked == passed or moved == passed:
        return None
    before = offset(source.splitlines(keepends=True), node.lineno, 0)
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


def _decides(node: ast.expr, bound: Collection[str], names: Mapping[str, str]) -> bool:
    """Whether an operand asks for no size: a None test of a name that is `bound`, its type, or what code runs."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _decides(operand, bound, names)
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return name in bound
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), ast.Name() | ast.Attribute()]):
            return name in bound and not node.keywords
        case ast.Call(func=function, args=[], keywords=[]):
            return _RUNNING.fullmatch(full_name(function, names)) is not None
    return False


def _compares(node: ast.expr) -> bool:
    """Whether an operand does nothing but compare numbers and sizes."""
    return isinstance(node, ast.Compare) and only_reads(node)
