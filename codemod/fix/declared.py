"""What a program declares of the sizes that it marks as unknown: in its own calls of mark_unbacked."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from codemod.fix.calls import NAME, argument_of, call_at, calls_beside, keyword_of, name_of
from codemod.fix.catching import parsed
from codemod.fix.nodes import end_of, offset
from codemod.fix.trial import Call
from codemod.model.edits import Edit
from codemod.probe.declaring import MOST, SHAPE_ID, Declaration, claim

_SIZE = re.compile(rf"(?P<name>{NAME})\.size\((?P<dimension>\d+)\)")


def declaring_edits(
    path: str, source: bytes, call: Call, parameters: Sequence[str], declared: Declaration
) -> tuple[Edit, ...]:
    """The edits of `path` by which the marks of a call's arguments say what is `declared` of their sizes.

    None of them where a size is not marked by its own call of mark_unbacked in the same function, or is said already.
    """
    tree = parsed(source)
    node = call_at(tree, call) if tree is not None else None
    if tree is None or node is None:
        return ()
    marks = [_mark(tree, node, parameters, size) for size in declared.sizes]
    found = [mark for mark in marks if mark is not None]
    if len(found) < len(marks):
        return ()
    keyword, value = declared.keyword, repr(declared.value)
    if keyword == SHAPE_ID:
        given = [text for mark in found if (text := _given(mark, keyword))]
        value = given[0] if given else f'"{_short(declared.sizes[0])}"'
        found = [mark for mark in found if not _given(mark, keyword)]
        if len(given) > 1:
            return ()
    if any(_given(mark, keyword) for mark in found):
        return ()
    edits = [_with_keyword(path, source, mark, keyword, value) for mark in dict.fromkeys(found)]
    return tuple(edit for edit in edits if edit is not None) if None not in edits else ()


def said_of(declared: Declaration) -> str:
    """What the marks say then, in words."""
    return f"{claim(declared, list(map(_short, declared.sizes)), 'declared')} ({declared.keyword} of mark_unbacked)"


def _short(size: str) -> str:
    """A size as its argument is named, that of a `**kwargs` too."""
    match = _SIZE.fullmatch(size)
    keyword = keyword_of(match["name"]) if match is not None else ""
    return f"{keyword}.size({match['dimension']})" if match is not None and keyword else size


def _mark(tree: ast.Module, call: ast.Call, parameters: Sequence[str], size: str) -> ast.Call | None:
    """The only call beside `call` that marks a size of an argument as unknown, and no other size of it.

    Where none does, the only one in a loop that marks the same dimension of all that it goes over.
    """
    match = _SIZE.fullmatch(size)
    if match is None:
        return None
    marks = [each for each in calls_beside(tree, call) if name_of(each) == "mark_unbacked"]
    argument = argument_of(call, parameters, match["name"])
    own = _of(marks, argument.id, match["dimension"]) if isinstance(argument, ast.Name) else []
    found = own or _in_loops(tree, marks, match["dimension"])
    return found[0] if len(found) == 1 else None


def _in_loops(tree: ast.Module, marks: Sequence[ast.Call], dimension: str) -> list[ast.Call]:
    """Those of `marks` that are of what a loop goes over, and of this dimension."""
    found: dict[ast.Call, None] = {}
    for loop in (node for node in ast.walk(tree) if isinstance(node, ast.For)):
        inside = set(map(id, ast.walk(loop)))
        within = [mark for mark in marks if id(mark) in inside]
        names = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
        found |= dict.fromkeys(mark for name in sorted(names) for mark in _of(within, name, dimension))
    return list(found)


def _of(marks: Sequence[ast.Call], name: str, dimension: str) -> list[ast.Call]:
    return [mark for mark in marks if _marks(mark, name) and ast.unparse(mark.args[1]) == dimension]


def _marks(call: ast.Call, name: str) -> bool:
    """Whether a call is of a variable and a dimension, or several, and of nothing that is not to be seen."""
    plain = len(call.args) == 2 and all(keyword.arg for keyword in call.keywords)
    return plain and isinstance(call.args[0], ast.Name) and call.args[0].id == name


def _given(mark: ast.Call, keyword: str) -> str:
    return next((ast.unparse(each.value) for each in mark.keywords if each.arg == keyword), "")


def _with_keyword(path: str, source: bytes, mark: ast.Call, keyword: str, value: str) -> Edit | None:
    """The edit that gives a call one more keyword; None where its last argument stands in parentheses.

    The keywords of one call are written at different places, so that there may be several.
    """
    lines = source.splitlines(keepends=True)

    def end(node: ast.expr) -> int:
        return end_of(lines, node)

    dimension, stop = mark.args[1], end(mark)
    last = max((*mark.args, *(each.value for each in mark.keywords)), key=lambda each: (each.lineno, each.col_offset))
    between = source[end(last) : stop]
    if between.replace(b",", b"").strip() != b")":
        return None
    new = f", {keyword}={value}".encode()
    if keyword == SHAPE_ID:
        return Edit(path, end(last), end(last), b"", new)
    if keyword == MOST:
        new = new.lstrip(b", ") if b"," in between else new
        return Edit(path, stop - 1, stop, b")", new + b")")
    old = source[offset(lines, dimension.lineno, dimension.col_offset) : end(dimension)]
    return Edit(path, end(dimension) - len(old), end(dimension), old, old + new)
