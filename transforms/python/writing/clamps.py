"""What has to hold so that padding or narrowing by a clamped amount is nothing where there is nothing to do."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from transforms.python.flow.nodes import called, holds, variables_in
from transforms.python.flow.sources import origins
from transforms.python.writing.callees import of_torch as is_torch
from transforms.python.writing.copies import copy_is_seen
from transforms.python.writing.neutral import NEUTRAL, PADDING
from transforms.python.writing.place import Place

_PADS = re.compile(r"^(?:constant_pad_nd|pad)$")


def same(left: ast.expr, right: ast.expr) -> bool:
    """Whether two expressions are written alike."""
    return ast.dump(left) == ast.dump(right)


def begins_as_zeros(place: Place, name: str) -> bool:
    """Whether a variable is a list of zeros, `[0] * n`, whose elements one statement of the function sets, each once.

    Nothing else may have the list but what pads by it: another name or function may set elements too.
    """
    values = place.assigned(name)
    subscripts = [n for n in place.nodes if isinstance(n, ast.Subscript) and _is_name(n.value, name)]
    calls = [n for n in place.nodes if isinstance(n, ast.Call)]
    pads = [n for n in calls if called(n) == "len" or (_PADS.match(called(n)) and is_torch(n))]
    given = {id(n) for call in pads for n in (*call.args, *(keyword.value for keyword in call.keywords))}
    given |= {id(n.value) for n in subscripts}
    reads = [n for n in place.nodes if _is_name(n, name) and isinstance(n.ctx, ast.Load)]  # type: ignore[attr-defined]
    once = sum(isinstance(n.ctx, ast.Store) for n in subscripts) == 1
    kept = not any(isinstance(n.ctx, ast.Del) for n in subscripts) and name not in place.augmented
    if not once or not _sets_another_each_turn(place, values, [n.slice for n in subscripts if not _is_read(n)]):
        return False
    return bool(values) and all(map(_zeros, values)) and kept and all(id(n) in given for n in reads)


def _sets_another_each_turn(place: Place, values: Sequence[ast.expr | None], index: Sequence[ast.expr]) -> bool:
    """Whether each turn of the loops around the place sets another element of a list that was made before them."""
    loops = (node for node in place.nodes if isinstance(node, (ast.For, ast.AsyncFor, ast.While)))
    around = [loop for loop in loops if holds(loop, place.site.node)]
    before = [loop for loop in around if not any(value is not None and holds(loop, value) for value in values)]
    made_of = origins(place.function, index)
    return not any(isinstance(loop, ast.While) or variables_in(loop.target).isdisjoint(made_of) for loop in before)


def _is_read(node: ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Load)


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _zeros(value: ast.expr | None) -> bool:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        return _zeros(value.left) or _zeros(value.right)
    return isinstance(value, ast.List) and all(
        isinstance(element, ast.Constant) and element.value == 0 for element in value.elts
    )


def chooses_padding(place: Place, flag: str) -> bool:
    """Whether a flag begins as False and is only read in `pad(x, …) if flag else x`, where nobody sees a copy."""
    if not all(isinstance(value, ast.Constant) and isinstance(value.value, bool) for value in place.assigned(flag)):
        return False
    reads = {id(n) for n in place.nodes if isinstance(n, ast.Name) and n.id == flag and isinstance(n.ctx, ast.Load)}
    chosen: list[ast.AST] = []
    for node in place.nodes:
        if isinstance(node, ast.IfExp) and id(node.test) in reads and isinstance(node.body, ast.Call):
            name, arguments = called(node.body), node.body.args
            if (NEUTRAL.search(name) or PADDING.search(name)) and arguments and same(arguments[0], node.orelse):
                reads.discard(id(node.test))
                chosen.append(node)
    return not reads and not copy_is_seen(place, chosen)


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
