"""Which part of a value each target of an assignment gets."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from transforms.python.flow.values import PARAMETER, TUPLE, Value, element, item, tuple_of


def placed(target: ast.Tuple | ast.List) -> Iterator[tuple[ast.expr, int | None]]:
    """The parts of a target with their places, from the end behind a starred one, whose own is None."""
    star = next((at for at, part in enumerate(target.elts) if isinstance(part, ast.Starred)), len(target.elts))
    for index, part in enumerate(target.elts):
        if isinstance(part, ast.Starred):
            yield part.value, None
        else:
            yield part, index if index < star else index - len(target.elts)


def unpacked(target: ast.expr, value: Value) -> Iterator[tuple[ast.expr, Value]]:
    """The targets that hold one value each, with it; `*rest` gets all that there is."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, value
        return
    starred = any(isinstance(part, ast.Starred) for part in target.elts)
    exact = value.kind == TUPLE or (value.kind == PARAMETER and not starred)
    for part, index in placed(target):
        if index is None:
            yield from unpacked(part, value)
        else:
            yield from unpacked(part, item(value, index) if exact else element(value))


def matched(target: ast.expr, written: ast.expr, value: Value, value_of: Callable[[ast.expr], Value]) -> Value:
    """`value`, which is that of `written`; of `*shape, k` the value by value that as many targets get."""
    if not isinstance(written, ast.Tuple) or not isinstance(target, (ast.Tuple, ast.List)):
        return value
    stars = [at for at, part in enumerate(written.elts) if isinstance(part, ast.Starred)]
    spread = len(target.elts) - len(written.elts) + 1
    if len(stars) != 1 or spread < 0 or any(isinstance(part, ast.Starred) for part in target.elts):
        return value
    before, after = written.elts[: stars[0]], written.elts[stars[0] + 1 :]
    held = [element(value_of(written.elts[stars[0]]))] * spread
    return tuple_of([*map(value_of, before), *held, *map(value_of, after)])
