"""Which part of a value each target of an assignment gets."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from transforms.python.flow.values import (
    NOTHING,
    PARAMETER,
    TENSOR,
    TENSORS,
    TUPLE,
    Value,
    element,
    item,
    join,
    sequence_of,
    tuple_of,
)


def placed(target: ast.Tuple | ast.List) -> Iterator[tuple[ast.expr, int | None]]:
    """The parts of a target with their places, from the end behind a starred one, whose own is None."""
    star = next((at for at, part in enumerate(target.elts) if isinstance(part, ast.Starred)), len(target.elts))
    for index, part in enumerate(target.elts):
        if isinstance(part, ast.Starred):
            yield part.value, None
        else:
            yield part, index if index < star else index - len(target.elts)


def unpacked(target: ast.expr, value: Value) -> Iterator[tuple[ast.expr, Value]]:
    """The targets that hold one value each, with it; `*rest` gets a list of what the others leave."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, value
        return
    starred = any(isinstance(part, ast.Starred) for part in target.elts)
    exact = value.kind == TUPLE or (value.kind == PARAMETER and not starred)
    for part, index in placed(target):
        if index is None:
            yield from unpacked(part, _left(target, value))
        else:
            yield from unpacked(part, item(value, index) if exact else element(value))


def _left(target: ast.Tuple | ast.List, value: Value) -> Value:
    """What the starred part of a target gets: of a tuple the items that no other part does, else all that there is."""
    if value.kind != TUPLE:
        return value
    star = next(at for at, part in enumerate(target.elts) if isinstance(part, ast.Starred))
    held = join(value.items[star : len(value.items) - (len(target.elts) - star - 1)])
    of_sizes = held.symbolic or held.kind in (TENSOR, TENSORS)
    return sequence_of(held)._replace(container="list") if of_sizes else NOTHING


def matched(target: ast.expr, written: ast.expr, value: Value, value_of: Callable[[ast.expr], Value]) -> Value:
    """`value`, which is that of `written`; of `*shape, k` the value by value that as many targets get.

    A starred target takes as many of the shape as there are targets: how many it holds nobody asks.
    """
    if not isinstance(written, ast.Tuple) or not isinstance(target, (ast.Tuple, ast.List)):
        return value
    stars = [at for at, part in enumerate(written.elts) if isinstance(part, ast.Starred)]
    starred = any(isinstance(part, ast.Starred) for part in target.elts)
    spread = len(target.elts) if starred else len(target.elts) - len(written.elts) + 1
    if len(stars) != 1 or spread < 0:
        return value
    before, after = written.elts[: stars[0]], written.elts[stars[0] + 1 :]
    held = [element(value_of(written.elts[stars[0]]))] * spread
    return tuple_of([*map(value_of, before), *held, *map(value_of, after)])
