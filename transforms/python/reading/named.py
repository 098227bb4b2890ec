"""Where a file names functions without calling them: in a dict, a list, a partial, an attribute, an argument."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from transforms.python.flow.nodes import all_nodes, dotted, named_parameters
from transforms.python.reading.emptied import Chunk, emptied
from transforms.python.reading.extract import Definition, Parts, Scope, scopes
from transforms.python.reading.parsing import NestedTooDeep
from transforms.python.reading.registering import MAY_REGISTER, last_name

_BEHIND_A_DOT = re.compile(rb"\.(\w+)")


class Named(NamedTuple):
    """A function as it is named in a scope, "" for that of the module."""

    scope: str
    name: str
    registering: bool = False
    """Whether it is an argument of what may register it."""


def named_in(path: str, source: bytes, names: tuple[str, ...]) -> tuple[Named, ...]:
    """Where a file names one of `names`, or what has one as its last part. `.f` is `f` behind a dot.

    At its top, and in lambdas, it is named by a call too. Not what an import, a decorator or a comparison names, nor
    what another variable of that name shadows.
    """
    held = _held(source, names)
    if not held:
        return ()
    for text in (_telling(source, held), source):  # what looks like a definition may stand in a string
        try:
            return tuple(dict.fromkeys(_named(Parts(text), held)))
        except (SyntaxError, ValueError, NestedTooDeep, RecursionError):
            continue
    return ()


def _held(source: bytes, names: Iterable[str]) -> frozenset[str]:
    """The names among `names` that stand in `source`, without their dots."""
    behind_a_dot = {name.decode() for name in _BEHIND_A_DOT.findall(source)}
    return frozenset(
        name.strip(".")
        for name in names
        if (name[1:] in behind_a_dot if name[0] == "." and name.isascii() else name.encode() in source)
    )


def _telling(source: bytes, names: Collection[str]) -> bytes:
    """`source` without the bodies of definitions that can name none of `names`, which are most."""
    named = re.compile(rb"(?<!def )\b(?:" + b"|".join(re.escape(name.encode()) for name in sorted(names)) + rb")\b")
    not_called = re.compile(named.pattern + rb"(?![ \t]*\()")

    def may_name(chunk: Chunk) -> bool:
        called = chunk.kind == b"class" or not chunk.alone or b"lambda" in chunk.text
        return (named if called else not_called).search(chunk.text) is not None

    return emptied(source, may_name)


def _named(trees: Parts, names: Collection[str]) -> Iterator[Named]:
    bound: dict[str, frozenset[str]] = {}
    for tree in trees:
        for scope in scopes(tree):
            bound[scope.name] = bound.get(scope.name.rpartition(".")[0], frozenset()).union(_bound(scope))
            lambdas = [inner.body for inner in scope.nodes if isinstance(inner, ast.Lambda)]
            apart, registering = _apart(scope)
            for node in (*scope.nodes, *all_nodes(lambdas)):
                if not isinstance(node, (ast.Name, ast.Attribute)) or id(node) in apart:
                    continue
                last = node.id if isinstance(node, ast.Name) else node.attr
                if last in names and isinstance(node.ctx, ast.Load):
                    head, name = dotted(node).partition(".")[0], dotted(node)
                    if name and head not in bound[scope.name]:
                        yield Named(scope.name, name, id(node) in registering)


def _bound(scope: Scope) -> Iterator[str]:
    """The parameters and variables of a function, but for `self` and `cls`."""
    if isinstance(scope.node, Definition):
        yield from {parameter.arg for parameter in named_parameters(scope.node.args)} - {"self", "cls"}
        yield from (node.id for node in scope.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _apart(scope: Scope) -> tuple[set[int], set[int]]:
    """The nodes that are called in a function, decorate, or are compared; and those given to what may register them."""
    decorators = getattr(scope.node, "decorator_list", [])
    apart, registering = set(map(id, all_nodes(decorators))), set[int]()
    for node in scope.nodes:
        if isinstance(node, ast.Compare):
            apart.update(map(id, (node.left, *node.comparators)))
        elif isinstance(node, ast.Call):
            if isinstance(scope.node, Definition):
                apart.add(id(node.func))
            if MAY_REGISTER.search(last_name(dotted(node.func))) or isinstance(node.func, ast.Call):
                registering.update(map(id, (*node.args, *(keyword.value for keyword in node.keywords))))
    return apart, registering
