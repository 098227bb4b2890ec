"""Reshapes: a view of a tensor that lies in order infers a size, of which `reshape` has C++ ask whether others are 0.

    x.transpose(1, 2).reshape(b, n, -1)        x.transpose(1, 2).contiguous().view(b, n, -1)

Both infer the same size and raise the same errors: neither takes `-1` beside a size of 0. Where a tensor does not lie
in order, torch asks for that 0 while it traces `reshape`, and not while it traces `view` (aten/src/ATen/InferSize.h;
torch/_subclasses/fake_impls.py, `_view_meta`): a run has to show it. What `reshape` gives as a view of such a tensor is
a copy then, which its documentation leaves open; a function that writes in place what it reshapes is left.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemod.fix.catching import parsed
from codemod.fix.nodes import end_of, function_around, holds_line
from codemod.model.edits import Edit

_RESHAPE = "reshape"
_VIEW = b"view"
_IN_ORDER = b"contiguous().view"


def reshapes_at(path: str, source: bytes, line: int) -> tuple[Edit, ...]:
    """The edits of `path` that make views of the calls of `reshape` on `line` that infer a size; none where none may.

    Sizes in a variable may hold a -1 as well.
    """
    tree = parsed(source)
    if tree is None:
        return ()
    lines = source.splitlines(keepends=True)
    edits = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not holds_line(node, line):
            continue
        match node.func:
            case ast.Attribute(value=tensor, attr="reshape") as method if _infers(node) and not _is_module(tensor):
                if not _is_written(node, tensor, function_around(tree, node) or tree):
                    end = end_of(lines, method)
                    new = _VIEW if _lies_in_order(tensor) else _IN_ORDER
                    edits.append(Edit(path, end - len(_RESHAPE), end, _RESHAPE.encode(), new))
    return tuple(edits)


def _infers(call: ast.Call) -> bool:
    """Whether one of the sizes that a call is given is -1, or may be."""
    sizes = [part for size in call.args for part in getattr(size, "elts", [size])]
    alone = len(sizes) == 1 and isinstance(sizes[0], (ast.Name, ast.Attribute, ast.BinOp))
    return not call.keywords and (alone or any(ast.unparse(size) == "-1" for size in sizes))


def _is_module(owner: ast.expr) -> bool:
    return isinstance(owner, ast.Name) and owner.id in ("torch", "np", "numpy", "jnp", "einops")


def _lies_in_order(tensor: ast.expr) -> bool:
    """Whether a tensor is that of `contiguous()`."""
    match tensor:
        case ast.Call(func=ast.Attribute(attr="contiguous"), args=[], keywords=[]):
            return True
    return False


def _is_written(call: ast.Call, tensor: ast.expr, function: ast.AST) -> bool:
    """Whether a function writes in place what it reshapes, or what comes of it."""
    names = {_root(tensor)}
    for node in ast.walk(function):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        if isinstance(value, ast.expr) and any(part is call for part in ast.walk(value)):
            names.update(_root(target) for target in targets if target is not None)
    return any(_root(written) in names for written in _written(function))


def _written(function: ast.AST) -> Iterator[ast.expr]:
    """What a function writes in place: by an operator, a subscript, `out=`, or a method whose name says so."""
    for node in ast.walk(function):
        if isinstance(node, ast.AugAssign):
            yield node.target
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            yield node.value
        elif isinstance(node, ast.Call):
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "out")
            if isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_") and node.func.attr[0] != "_":
                yield node.func.value


def _root(node: ast.expr) -> str:
    """The variable that a chain of attributes, subscripts and calls of methods begins with; "" for anything else."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
