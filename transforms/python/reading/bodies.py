"""From the bytes of a Python file to what its functions do with values."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from transforms.python.flow.asking import coerces
from transforms.python.flow.imported import mark
from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.made import made_numbers
from transforms.python.flow.nodes import dotted, named_parameters
from transforms.python.flow.sites import sites
from transforms.python.flow.values import TENSOR, TENSORS, Value, all_dependencies, join
from transforms.python.reading.extract import (
    Definition,
    Parts,
    Scope,
    called_in,
    calls_in,
    in_utf8,
    passed_on,
    primitives,
    scopes,
    untraced_in,
)
from transforms.python.reading.facts import Body, Call
from transforms.python.reading.parsing import NestedTooDeep


class Wanted(NamedTuple):
    """Which functions of a file to read."""

    names: tuple[str, ...]
    lines: tuple[tuple[int, int], ...]
    """The first and last line of each statement at the top that holds one, or a definition of the same name."""
    meanings: tuple[tuple[str, str], ...] = ()
    """What imported names stand for, see `flow.imported.meanings`."""


def wanted_bodies(path: str, source: bytes, wanted: Wanted) -> dict[str, Body]:
    """The bodies of the functions that are wanted of a file. Raises what `Parts` raises.

    No other statement at the top is parsed, which takes as long as all the rest.
    """
    if in_utf8(source):
        try:
            return bodies(path, _with_lines(source, wanted.lines), wanted.names, dict(wanted.meanings))
        except (SyntaxError, ValueError, NestedTooDeep):  # a decorator begins above its first line, perhaps
            pass
    return bodies(path, source, wanted.names, dict(wanted.meanings))


def _with_lines(source: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    """`source` with nothing but these lines, where they stood."""
    lines = source.splitlines(keepends=True)
    kept: list[bytes] = []
    done = 0
    for first, last in sorted(set(spans)):
        if last > done:
            begin = max(first - 1, done)
            kept += [b"\n" * (begin - done), *lines[begin:last]]
            done = last
    return b"".join(kept)


def bodies(
    path: str, source: bytes, names: Collection[str], meanings: Mapping[str, str] | None = None
) -> dict[str, Body]:
    """The bodies of those functions of a file that have `names`. Raises what `Parts` raises."""
    prims = b"prims" in source
    pieces = [name.split(".") for name in names]
    around = {".".join(parts[:end]) for parts in pieces for end in range(1, len(parts))}
    found: dict[str, Body] = {}
    for tree in Parts(source):
        interpreters: dict[str, Interpreter] = {}
        for scope in scopes(tree, chosen=around.union(names)):
            if not isinstance(scope.node, Definition):
                continue
            try:
                outer = interpreters.get(scope.name.rpartition(".")[0])
                mark(scope.node, scope.nodes, meanings or {}, outer.variables if outer else ())
                values = Interpreter(scope.node, scope.nodes, outer=outer, telling=scope.telling)
                interpreters[scope.name] = values
                found[scope.name] = _body(scope, values, prims)
            except RecursionError:  # nested too deep: it may ask for any size, which the rewriting then refuses
                calls = tuple(map(Call, sorted(called_in(scope))))
                found[scope.name] = Body(calls, conditions=(frozenset(),))
    return {name: found[name] for name in names if name in found}


def _body(scope: Scope, values: Interpreter, prims: bool) -> Body:
    assert isinstance(scope.node, Definition)
    conditions = {all_dependencies(site.value) for site in sites(scope.telling, values)}
    return Body(
        tuple(_in_order(_calls(scope, values, prims))),
        _returns(scope.telling, values),
        (frozenset(),) if frozenset() in conditions else tuple(conditions),
        tuple(made_numbers(scope.node, [p.arg for p in named_parameters(scope.node.args)])),
    )


def _calls(scope: Scope, values: Interpreter, prims: bool) -> set[Call]:
    calls = set(map(Call, primitives(scope.nodes))) if prims else set()
    for call in calls_in(scope, untraced_in(scope)):
        if callee := dotted(call.func):
            passed = ((slot, values.value(argument)) for slot, argument in _slots(call))
            # What functions of other modules are given decides nothing here, and numbers only what no other file calls.
            own, private = "." not in callee or callee.startswith("self."), callee.startswith("_")
            arguments = tuple(
                (slot, v) for slot, v in passed if _telling(v) or v.real or private or (own and not v.scalar)
            )
            calls.add(Call(callee, arguments))
            calls.update(map(Call, passed_on(call, callee)))
    return calls


def _telling(value: Value) -> bool:
    return value.symbolic or value.kind in (TENSOR, TENSORS) or any(map(_telling, value.items))


def _slots(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """The arguments of a call by their slots, see `Call`."""
    unpacked = ""
    for index, argument in enumerate(call.args):
        star, argument = ("*", argument.value) if isinstance(argument, ast.Starred) else ("", argument)
        yield f"{unpacked}{star}+" if unpacked else f"{index}{star}", argument
        unpacked = unpacked or (str(index) if star else "")
    yield from ((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg)


def _in_order(calls: Iterable[Call]) -> Iterator[Call]:
    for _, same in itertools.groupby(sorted(calls, key=_callee), _callee):
        group = list(same)
        yield from sorted(group, key=_arguments) if len(group) > 1 else group


def _callee(call: Call) -> str:
    return call.callee


def _arguments(call: Call) -> str:
    return repr(call.arguments)


def _returns(nodes: Sequence[ast.AST], values: Interpreter) -> Value:
    returned = (n.value for n in nodes if type(n) is ast.Return and n.value is not None)
    return join(values.value(expression) for expression in returned if not coerces(expression, values))
