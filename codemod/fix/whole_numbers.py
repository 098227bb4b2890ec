"""Which expressions are whole numbers whatever a function is called with: sizes, lengths, and what is made of them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from codemod.fix.nodes import function_around

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_COUNTS = frozenset({"len", "int"})
_OF_TENSORS = {"size": 1, "stride": 1, "numel": 0, "nelement": 0, "dim": 0, "ndimension": 0, "storage_offset": 0}
"""Methods of tensors that give a whole number for so many arguments."""


def is_whole(node: ast.expr, whole: Collection[str]) -> bool:
    """Whether an expression can be nothing but a whole number, where the names `whole` are such."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int)
        case ast.Name(id=name):
            return name in whole
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return is_whole(operand, whole)
        case ast.BinOp(op=operator, left=left, right=right):
            return isinstance(operator, _ARITHMETIC) and is_whole(left, whole) and is_whole(right, whole)
        case ast.Subscript(value=sizes, slice=index):
            return _are_sizes(sizes) and not isinstance(index, (ast.Slice, ast.Tuple))
        case ast.Attribute(attr="ndim"):
            return True
        case ast.IfExp(body=body, orelse=other):
            return is_whole(body, whole) and is_whole(other, whole)
        case ast.Call(func=ast.Name(id=name), args=[_], keywords=[]):
            return name in _COUNTS
        case ast.Call(func=ast.Name(id="min" | "max"), args=[_, _, *_] as arguments, keywords=[]):
            return all(is_whole(argument, whole) for argument in arguments)
        case ast.Call(func=ast.Attribute(attr=name), args=arguments):
            return _OF_TENSORS.get(name, -1) == len(arguments) + len(node.keywords)
    return False


def whole_names(tree: ast.Module, inner: ast.AST) -> frozenset[str]:
    """The names that are whole numbers wherever the function around `inner` gives them a value."""
    function = function_around(tree, inner)
    given: dict[str, list[ast.expr | None]] = {}
    for name, value in _given(function) if function is not None else ():
        given.setdefault(name, []).append(value)
    whole: frozenset[str] = frozenset()
    while True:
        now = frozenset(name for name, values in given.items() if all(v and is_whole(v, whole) for v in values))
        if now == whole:
            return whole
        whole = now


def _given(function: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Each name that a function gives a value, with an expression that is of its kind; None for an unknown one."""
    plain: set[int] = set()
    integer = ast.Constant(1)
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    elements = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
                    kinds = [(target, value), *((name, integer) for name in elements if _are_sizes(value))]
                    for name, kind in kinds:
                        if isinstance(name, ast.Name):
                            plain.add(id(name))
                            yield name.id, kind
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                plain.add(id(node.target))
                yield name, value
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                plain.add(id(node.target))
                yield name, ast.BinOp(left=integer, op=node.op, right=value)
            case ast.arg(arg=name, annotation=annotation):
                yield name, integer if isinstance(annotation, ast.Name) and annotation.id == "int" else None
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if id(node) not in plain:
                yield name, None
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, None
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, None
            case ast.MatchMapping(rest=str(name)):
                yield name, None
            case ast.alias(name=name, asname=other):
                yield other or name.partition(".")[0], None
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from ((name, None) for name in names)


def _are_sizes(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(attr="shape"):
            return True
        case ast.Call(func=ast.Attribute(attr="size" | "stride"), args=[], keywords=[]):
            return True
    return False
