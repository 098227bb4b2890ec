"""The number of dimensions of tensors, and the dimensions, as expressions speak of them."""

from __future__ import annotations

import ast

_SHAPE_METHODS = frozenset({"size", "stride"})


def dimension_of(node: ast.AST) -> tuple[str, int] | None:
    """(tensor, index) of `x.shape[i]`, `x.size()[i]`, `x.size(i)` and `x.stride(i)` with a number for `i`."""
    tensor, index = _indexed(node) or ("", None)
    try:
        value = ast.literal_eval(index) if index is not None else None
    except ValueError:
        return None
    return (tensor, value) if tensor and isinstance(value, int) else None


def turn_of(node: ast.AST) -> tuple[str, str] | None:
    """As `dimension_of`, with a variable for `i`."""
    tensor, index = _indexed(node) or ("", None)
    return (tensor, index.id) if tensor and isinstance(index, ast.Name) else None


def turning_over(loop: ast.For) -> ast.expr | None:
    """What a loop counts up to that counts from a number of at least 0: `n` of `for d in range(1, n)`."""
    iterated = loop.iter
    if not isinstance(iterated, ast.Call) or ast.unparse(iterated.func) != "range" or iterated.keywords:
        return None
    start = [argument.value if isinstance(argument, ast.Constant) else -1 for argument in iterated.args[:-1]]
    return iterated.args[-1] if iterated.args and start in ([], [0], [1], [2]) else None


def _indexed(node: ast.AST) -> tuple[str, ast.expr] | None:
    if isinstance(node, ast.Subscript):
        return shape_owner(node.value), node.slice
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
        if node.func.attr not in _SHAPE_METHODS or node.keywords:
            return None
        return ast.unparse(node.func.value), node.args[0]
    return None


def shape_owner(node: ast.expr) -> str:
    """The tensor whose shape an expression is, or the variable that holds a shape; "" for anything else."""
    if isinstance(node, ast.Attribute) and node.attr == "shape":
        return ast.unparse(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SHAPE_METHODS:
        return "" if node.args or node.keywords else ast.unparse(node.func.value)
    return node.id if isinstance(node, ast.Name) else ""


def ranked(node: ast.expr) -> str:
    """The tensor or shape whose number of dimensions an expression is; "" for anything else."""
    if isinstance(node, ast.Attribute) and node.attr == "ndim":
        return ast.unparse(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("dim", "ndimension"):
        return ast.unparse(node.func.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
        return shape_owner(node.args[0])
    return ""


def literal_rank(value: ast.expr) -> int:
    """The number of dimensions of `x.expand((a, b))` and its kin, 0 where it is not written out."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or value.keywords:
        return 0
    if value.func.attr not in ("expand", "view", "reshape") or not value.args:
        return 0
    sizes = value.args[0].elts if isinstance(value.args[0], (ast.Tuple, ast.List)) else value.args
    literal = len(value.args) == 1 and isinstance(value.args[0], (ast.Tuple, ast.List))
    return len(sizes) if literal and not any(isinstance(size, ast.Starred) for size in sizes) else 0


def only_arithmetic(function: ast.FunctionDef) -> bool:
    """Whether a function only adds and multiplies its arguments, or the elements of an argument."""
    allowed = (
        ast.Assign, ast.AugAssign, ast.For, ast.Return, ast.Name, ast.Constant, ast.BinOp, ast.Add, ast.Sub, ast.Mult,
        ast.expr_context,
    )  # fmt: skip
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return not function.decorator_list and all(
        isinstance(node, allowed) for statement in body for node in ast.walk(statement)
    )
