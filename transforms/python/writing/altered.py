"""What statements may give another value, or take elements and dimensions away from, and what other names have it too.

A name here is a variable's, or the last one of an attribute: `sizes` of `sizes` and of `self.sizes`.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from transforms.python.flow.nodes import all_nodes, bound_otherwise, called

_SHORTENING = frozenset(
    {"pop", "popitem", "popleft", "remove", "clear", "squeeze_", "resize_", "resize_as_", "set_", "as_strided_"}
)
"""Methods after which an index, a key or a dimension of what they are called on may be there no more."""
_MOVING = frozenset({"insert", "appendleft", "reverse", "sort", "rotate"})
"""Methods after which another element may stand at an index."""
_GIVES_ITSELF = re.compile(
    r"^(?:\w*[a-z0-9]_|contiguous|to|type|type_as|cpu|cuda|float|half|double|bfloat16|int|long|bool)$"
)
"""Methods whose result may be the tensor that they are called on, and no other one."""


def assigned(nodes: Sequence[ast.AST]) -> set[str]:
    """The variables that nodes may assign or delete, those of patterns, handlers and imports among them."""
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del))}
    return stored | set(bound_otherwise(nodes)) - {""}


def deleted(nodes: Sequence[ast.AST]) -> set[str]:
    """The variables that nodes may leave without a value: `del n`, and `error` of `except … as error`."""
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)}
    return names | {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name is not None}


def assigned_by_others(function: ast.AST) -> set[str]:
    """The variables of a function that another one may assign: a function in it, or any where they are the module's."""
    return {
        name for node in all_nodes([function]) if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names
    }


def changed(function: ast.AST, nodes: Iterable[ast.AST]) -> Set[str]:
    """The names of what `nodes` change in place, by whatever other name of the function it is known."""
    names = {name for node in nodes for owner in _changed_by(node) for name in _named(owner)}
    return all_names(function, names) if names else names


def all_names(function: ast.AST, names: Set[str]) -> Set[str]:
    """Names, and the others by which a function may know the same."""
    others = _aliases(function)
    return {*names}.union(*(others.get(name, ()) for name in names))


def _changed_by(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions whose elements or dimensions one node changes."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in _SHORTENING | _MOVING:
            yield node.func.value
        yield from (keyword.value for keyword in node.keywords if keyword.arg == "out")
    elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        yield node.value
    elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        yield node.value if node.attr == "data" else node


def _named(node: ast.AST) -> Iterator[str]:
    """The names of all that an expression may be, or hold."""
    parts: Sequence[ast.AST] = ()
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Subscript(value=value) | ast.Starred(value=value) | ast.NamedExpr(value=value):
            parts = [value]
        case ast.IfExp(body=body, orelse=orelse):
            parts = [body, orelse]
        case ast.BoolOp(values=parts) | ast.Dict(values=parts):
            pass
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            pass
        case ast.Call(func=ast.Attribute(value=value)) if _GIVES_ITSELF.match(called(node)):
            parts = [value]
    for part in parts:
        yield from _named(part)


def _bound(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """What a node binds, each with what it is given."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
            | ast.For(target=target, iter=value)
            | ast.withitem(context_expr=value, optional_vars=ast.expr() as target)
        ):
            yield target, value


@functools.lru_cache(maxsize=2)
def _aliases(function: ast.AST) -> Mapping[str, Set[str]]:
    """The names of a function by which the same may be known, of each that has others."""
    groups: dict[str, set[str]] = {}
    for node in all_nodes([function]):
        for target, value in _bound(node):
            names = {*_named(value)}
            if names:
                _join(groups, {*names, *_named(target)})
    return groups


def _join(groups: dict[str, set[str]], names: Set[str]) -> None:
    """Make one group of those of `names`, the smaller ones moved into the largest."""
    parts = {id(group): group for group in (groups.setdefault(name, {name}) for name in names)}
    largest, *others = sorted(parts.values(), key=len, reverse=True)
    for other in others:
        largest |= other
        groups.update(dict.fromkeys(other, largest))
