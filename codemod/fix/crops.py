"""Crops: a branch that only cuts off what is more is taken, where it is compiled, in all sizes.

    if x.shape[1] > n:                             if torch.compiler.is_compiling() or x.shape[1] > n:
        x = x[:, :n]                                   x = x[:, :n]

A slice takes all of a dimension where that is no more than its end, so both ways give the same elements; a size that is
not known while tracing is asked no more. Where the size is known the slice asks for itself which is more, and nothing
is won (torch/_subclasses/fake_impls.py, `_compute_slice_index`): a run has to show it.
"""

from __future__ import annotations

import ast

from codemod.fix.nodes import asks_on, offset
from codemod.fix.torch_names import COMPILING, parsed_with_torch
from codemod.model.edits import Edit

_MORE = (ast.Gt, ast.GtE, ast.NotEq)
_LESS = (ast.Lt, ast.LtE, ast.NotEq)
_PLAIN = (ast.Name, ast.Attribute, ast.Constant, ast.expr_context)


def crop_at(path: str, source: bytes, line: int) -> tuple[Edit, ...]:
    """The edits of `path` that take the branch on `line` wherever it is compiled; none where it does more than crop."""
    if (found := parsed_with_torch(path, source, line)) is None:
        return ()
    tree, torch = found
    for branch in (node for node in ast.walk(tree) if isinstance(node, ast.If)):
        if asks_on(branch, line) and _only_crops(branch):
            start = offset(source.splitlines(keepends=True), branch.test.lineno, branch.test.col_offset)
            asked = f"{torch.spelled(COMPILING)} or ".encode()
            return (Edit(path, start, start, b"", asked), *torch.imported)
    return ()


def _only_crops(branch: ast.If) -> bool:
    """Whether a branch assigns a tensor as many of its elements as the number is that its size is compared with."""
    statement = branch.body[0] if len(branch.body) == 1 and not branch.orelse else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Name) or not isinstance(value, ast.Subscript) or not _is(value.value, target.id):
        return False
    compared = _compared(branch.test, target.id)
    return compared is not None and compared == _sliced(value.slice)


def _compared(test: ast.expr, tensor: str) -> tuple[int, str] | None:
    """The dimension of `tensor` and the number that a test asks whether it is more than."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    left, right = test.left, test.comparators[0]
    for size, number, operators in ((left, right, _MORE), (right, left, _LESS)):
        dimension = _dimension(size, tensor)
        if dimension is not None and isinstance(test.ops[0], operators):
            return dimension, ast.dump(number)
    return None


def _dimension(size: ast.expr, tensor: str) -> int | None:
    """The dimension that `x.shape[d]` or `x.size(d)` is the size of; None for anything else."""
    match size:
        case ast.Subscript(value=ast.Attribute(value=owner, attr="shape"), slice=index) if _is(owner, tensor):
            return _number(index)
        case ast.Call(func=ast.Attribute(value=owner, attr="size"), args=[index], keywords=[]) if _is(owner, tensor):
            return _number(index)
    return None


def _sliced(subscript: ast.expr) -> tuple[int, str] | None:
    """The only dimension that a subscript cuts, from the end behind an ellipsis, and the number of what it keeps."""
    parts = subscript.elts if isinstance(subscript, ast.Tuple) else [subscript]
    behind = bool(parts) and isinstance(parts[0], ast.Constant) and parts[0].value is Ellipsis
    cut: list[tuple[int, str]] = []
    for index, part in enumerate(parts[behind:]):
        if not isinstance(part, ast.Slice) or part.step is not None:
            return None
        kept = _kept(part)
        if kept is not None:
            cut.append((index - len(parts) + behind if behind else index, ast.dump(kept)))
        elif part.lower is not None or part.upper is not None:
            return None
    return cut[0] if len(cut) == 1 else None


def _kept(part: ast.Slice) -> ast.expr | None:
    """How many elements `:n` or `-n:` keeps; None for other slices, and numbers that are more than a name."""
    number = part.upper if part.lower is None else None
    if part.upper is None and isinstance(part.lower, ast.UnaryOp) and isinstance(part.lower.op, ast.USub):
        number = part.lower.operand
    plain = number is not None and all(isinstance(node, _PLAIN) for node in ast.walk(number))
    return number if plain else None


def _number(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
            return -number
    return None


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
