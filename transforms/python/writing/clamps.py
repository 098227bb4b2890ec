"""What has to hold so that padding or narrowing by a clamped amount is nothing where there is nothing to do."""

from __future__ import annotations

import ast

from transforms.python.flow.nodes import called
from transforms.python.writing.neutral import NEUTRAL, PADDING
from transforms.python.writing.place import Place


def same(left: ast.expr, right: ast.expr) -> bool:
    """Whether two expressions are written alike."""
    return ast.dump(left) == ast.dump(right)


def begins_as_zeros(place: Place, name: str) -> bool:
    """Whether a variable is a list of zeros, `[0] * n`, of which one statement of the function sets elements."""
    values = place.assigned(name)
    stores = [n for n in place.nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]
    owners = [n.value.id for n in place.nodes if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)]
    once = sum(isinstance(store.value, ast.Name) and store.value.id == name for store in stores) == 1
    return bool(values) and all(map(_zeros, values)) and once and name not in owners


def _zeros(value: ast.expr | None) -> bool:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        return _zeros(value.left) or _zeros(value.right)
    return isinstance(value, ast.List) and all(
        isinstance(element, ast.Constant) and element.value == 0 for element in value.elts
    )


def chooses_padding(place: Place, flag: str) -> bool:
    """Whether a flag begins as False and is only read in `pad(x, …) if flag else x`."""
    if not all(isinstance(value, ast.Constant) and isinstance(value.value, bool) for value in place.assigned(flag)):
        return False
    reads = {id(n) for n in place.nodes if isinstance(n, ast.Name) and n.id == flag and isinstance(n.ctx, ast.Load)}
    for node in place.nodes:
        if isinstance(node, ast.IfExp) and id(node.test) in reads and isinstance(node.body, ast.Call):
            name, arguments = called(node.body), node.body.args
            if (NEUTRAL.search(name) or PADDING.search(name)) and arguments and same(arguments[0], node.orelse):
                reads.discard(id(node.test))
    return not reads


def is_extent(place: Place, size: ast.expr, tensor: str, dimension: ast.expr) -> bool:
    """Whether `size` is the size of a dimension of a tensor, read from it or from its stored shape."""
    if isinstance(size, ast.Call):
        return ast.unparse(size.func) == f"{tensor}.size" and len(size.args) == 1 and same(size.args[0], dimension)
    if not isinstance(size, ast.Subscript) or not same(size.slice, dimension):
        return False
    shapes = (f"{tensor}.shape", f"{tensor}.size()")
    if isinstance(size.value, ast.Name):
        values = place.assigned(size.value.id)
        # A stored shape may be that of another tensor by now; of a narrowed one it is no less than the shape.
        later = (value for value in place.assigned(tensor) if value is not None)
        narrowed = all(isinstance(value, ast.Call) and ast.unparse(value.func) == f"{tensor}.narrow" for value in later)
        return narrowed and bool(values) and all(value is not None and ast.unparse(value) in shapes for value in values)
    return ast.unparse(size.value) in shapes
