"""Grids: numbers in equal steps, computed of `torch.arange`, whose length stays symbolic, unlike that of `linspace`.

    x = torch.linspace(0, 1, w)        x = torch.arange(w) / max(w - 1, 1) if torch.compiler.is_compiling() else …

`linspace` takes its steps as an int (native_functions.yaml), so that each number of them is compiled again, and one
that is not known is refused. Where the code is compiled the numbers may differ in the last bit, the ends in none;
eager calls what it did.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping

from codemod.fix.nodes import end_of, holds_line, offset
from codemod.fix.torch_names import COMPILING, full_name, imported_names, parsed_with_torch
from codemod.model.edits import Edit

_LINSPACE = "torch.linspace"
_PARAMETERS = ("start", "end", "steps")
_KEPT = ("device", "dtype")
"""The keywords that `arange` takes too, and that mean the same there."""
_PLAIN = (ast.Name, ast.Attribute, ast.Constant, ast.UnaryOp, ast.BinOp, ast.Subscript, ast.operator, ast.unaryop)
"""What may be evaluated twice, beside the size of a tensor."""
_WIDTH = 88
_SHORT = 6
"""Characters of a number that is written in place of a difference."""
_BYTES = "surrogateescape"


def grid_at(path: str, source: bytes, line: int) -> tuple[Edit, ...]:
    """The edits of `path` that compute what `linspace` gives on `line` where it is compiled; none where none may."""
    found = parsed_with_torch(path, source, line)
    if found is None:
        return ()
    tree, torch = found
    lines, names = source.splitlines(keepends=True), imported_names(tree)
    edits: list[Edit] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and holds_line(node, line):
            computed = _computed(node, names, torch.name)
            if computed:
                start = offset(lines, node.lineno, node.col_offset)
                end = end_of(lines, node)
                call, first = (text.decode("utf-8", _BYTES) for text in (source[start:end], lines[node.lineno - 1]))
                new = _conditional(computed, torch.spelled(COMPILING), call, first).encode("utf-8", _BYTES)
                edits.append(Edit(path, start, end, source[start:end], new))
    return (*torch.imported, *edits) if edits else ()


def _computed(call: ast.Call, names: Mapping[str, str], torch: str) -> str:
    """What a call of `linspace` gives, of `arange`; "" for other calls, and what may not be evaluated twice."""
    if full_name(call.func, names) != _LINSPACE or any(isinstance(argument, ast.Starred) for argument in call.args):
        return ""
    named = {str(keyword.arg): keyword.value for keyword in call.keywords}
    given = {**dict(zip(_PARAMETERS, call.args, strict=False)), **named}
    if len(call.args) > len(_PARAMETERS) or not given.keys() >= set(_PARAMETERS):
        return ""
    start, end, steps = (given.pop(name) for name in _PARAMETERS)
    if (
        not given.keys() <= set(_KEPT)
        or isinstance(steps, ast.Constant)
        or not all(map(_is_plain, (start, end, steps)))
    ):
        return ""
    number = ast.unparse(steps)
    options = "".join(f", {name}={ast.unparse(value)}" for name, value in given.items())
    inner = number if isinstance(steps, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) else f"({number})"
    fractions = f"{torch}.arange({number}{options}) / max({inner} - 1, 1)"
    first, last = _literal(start), _literal(end)
    if first is not None and last is not None and len(repr(last - first)) <= _SHORT:
        scaled = fractions if last - first == 1 else f"{last - first} * {fractions}"
        return scaled if not first else f"{scaled} {'-' if first < 0 else '+'} {abs(first)}"
    low, high = (_operand(ast.unparse(value), value) for value in (start, end))
    return f"{high} * {fractions}" if first == 0 else f"{low} + ({ast.unparse(end)} - {low}) * {fractions}"


def _literal(node: ast.expr) -> float | None:
    """The number that an expression is as it is written; None for others."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _operand(text: str, node: ast.expr) -> str:
    return f"({text})" if isinstance(node, (ast.BinOp, ast.UnaryOp)) else text


def _is_plain(node: ast.expr) -> bool:
    """Whether an expression may be evaluated twice: of names and numbers, and what `x.size(0)` says."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="size"), args=[index], keywords=[]):
            return _is_plain(owner) and _is_plain(index)
    inner = (part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.expr_context))
    return isinstance(node, _PLAIN) and all(_is_plain(part) if isinstance(part, ast.expr) else True for part in inner)


def _conditional(computed: str, compiling: str, call: str, first: str) -> str:
    """The conditional expression, in parentheses: on one line where it fits, else on three within `first`, its line."""
    line = f"({computed} if {compiling} else {call})"
    if len(first.rstrip()) - len(call.partition("\n")[0]) + len(line) <= _WIDTH and "\n" not in call:
        return line
    indent = first[: len(first) - len(first.lstrip())]
    parts = textwrap.indent(f"{computed}\nif {compiling}\nelse {call}", f"{indent}    ", lambda part: part != "\n")
    return f"(\n{parts}\n{indent})"
