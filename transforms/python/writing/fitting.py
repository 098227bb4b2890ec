"""Branches that pad a tensor which is shorter than a length, and cut one that is longer."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from transforms.python.flow.nodes import variables_in
from transforms.python.writing.asked_anyway import parts_of, size_of
from transforms.python.writing.numbers import FEWEST, Arithmetic, value_of
from transforms.python.writing.paddings import Padding, clamped, listed, padded_by, padding
from transforms.python.writing.place import Place
from transforms.python.writing.trims import kept_by, laid_out


class Fitting(NamedTuple):
    """The padding and the slice of a branch."""

    ways: tuple[tuple[ast.expr, bool], ...]
    """The conditions on the way to the padding, with what each has to come to."""
    cuts: tuple[ast.expr, bool] | None
    """The condition of the slice, and what it has to come to; None where all that is not padded is cut."""
    padded: ast.expr
    amounts: list[ast.expr]
    held: dict[str, ast.expr]
    cut: ast.Subscript
    last: ast.expr
    """The end of what is written behind the padding: the slice, or `contiguous()` of it."""
    kept: ast.If | ast.Subscript
    """The branch, or the slice that is returned."""


def fitting(place: Place, branch: ast.If) -> Fitting | None:
    """What a branch pads and cuts, one of them in an `elif` perhaps; None where it does anything else.

    Of an `elif` it is the same as of the `if`.
    """
    around = place.around(branch)
    if isinstance(around, ast.If) and around.orelse == [branch] and (found := fitting(place, around)):
        return found
    block = place.block_of(branch)
    body, below = branch.body, block[block.index(branch) + 1 :][:1]
    behind = branch.orelse or (below if isinstance(body[-1], ast.Return) else [])
    asked = (branch.test, True)
    match branch.orelse:
        case [ast.If(test=test, body=second, orelse=[])]:
            found = _fitting(place, branch, [asked], (test, True), body, second)
            found = found or _fitting(place, branch, [(branch.test, False), (test, True)], asked, second, body)
            return found if found and (found.kept is branch or _gives(below, found.cut.value)) else None
    return _fitting(place, branch, [asked], None, body, behind) or _fitting(
        place, branch, [(branch.test, False)], None, behind, body
    )


def _gives(statements: Sequence[ast.stmt], value: ast.expr) -> bool:
    """Whether a statement returns a variable as it is."""
    match statements:
        case [ast.Return(value=ast.Name() as given)]:
            return ast.dump(given) == ast.dump(value)
    return False


def _fitting(
    place: Place,
    branch: ast.If,
    ways: Sequence[tuple[ast.expr, bool]],
    cuts: tuple[ast.expr, bool] | None,
    pads: Sequence[ast.stmt],
    others: Sequence[ast.stmt],
) -> Fitting | None:
    """The same with the conditions, of statements that pad and of those that cut."""
    match pads, others:
        case [*_, ast.Assign(value=value)], [ast.Assign(targets=[ast.Name(id=tensor)], value=other)]:
            returned = False
        case [ast.Return(value=ast.expr() as value)], [ast.Return(value=ast.expr() as other)]:
            returned, tensor = True, ""
        case _:
            return None
    padded, cut = laid_out(value) if returned else value, laid_out(other)
    padded_tensor, given = padded_by(padded) or (None, None)
    if given is None or not isinstance(padded_tensor, ast.Name) or not isinstance(cut, ast.Subscript):
        return None
    of = padded_tensor.id
    if not isinstance(cut.value, ast.Name) or cut.value.id != of or tensor not in ("", of):
        return None
    found = Padding(listed(given), {}) if returned else padding(place, pads, [])
    if found is None or not found.amounts:
        return None
    # What the slice reads is read behind the padding.
    changed = {n.id for s in pads for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    if not variables_in(cut.slice).isdisjoint({of, *changed}):
        return None
    tests = [test for test, _ in (*ways, *([cuts] if cuts else []))]
    if any(isinstance(part, ast.NamedExpr) for test in tests for part in ast.walk(test)):
        return None
    last = other if value is padded else cut
    return Fitting(tuple(ways), cuts, padded, found.amounts, found.held, cut, last, cut if returned else branch)


def amounts(place: Place, found: Fitting) -> list[ast.expr] | None:
    """The amounts with which what is padded, cut to the length, is what each path gives; None if that is not seen."""
    arithmetic = Arithmetic(place, found.held)
    dimension, most_kept = kept_by(found.cut)
    size = _size(place, found, dimension, arithmetic)
    if size is None or most_kept is None:
        return None
    tests = [*found.ways, *([found.cuts] if found.cuts else [])]
    functions = [arithmetic.function(node) for node in (*(test for test, _ in tests), size, most_kept, *found.amounts)]
    if None in functions:
        return None
    counts, negative = Counter[str](), [False] * len(found.amounts)
    for drawn in arithmetic.draws():
        values = [value_of(function, drawn) for function in functions if function is not None]
        if None in values:
            continue
        met = [bool(value) is truth for value, (_, truth) in zip(values, tests, strict=False)]
        long, most, *given = values[len(tests) :]
        pads = all(met[: len(found.ways)])
        cuts = not pads and (not found.cuts or met[-1])
        if min(long, most) < 0:
            continue  # of no tensor
        if (pads and min(given) < 0) or (not cuts and long + sum(given if pads else ()) > most):
            return None
        if not pads and max(given) > 0:
            return None
        negative = [is_less or (not pads and number < 0) for is_less, number in zip(negative, given, strict=True)]
        counts["pads" if pads else "cuts" if cuts else "keeps"] += 1
    if min(counts["pads"], counts["cuts"]) < FEWEST:
        return None
    return [clamped(amount) if is_less else amount for amount, is_less in zip(found.amounts, negative, strict=True)]


def _size(place: Place, found: Fitting, dimension: int, arithmetic: Arithmetic) -> ast.expr | None:
    """What reads the size of the dimension that is cut, in a condition; None where that is not what it still is."""
    tensor = ast.unparse(found.cut.value)
    line = found.ways[0][0].lineno
    for part in (part for test, _ in found.ways for part in parts_of(test, arithmetic)):
        size = size_of(place, part)
        if size is not None and size.tensor == tensor and dimension in (size.dimension, size.dimension - size.rank):
            given = (n for n in place.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
            since = any(n.id == tensor and size.line <= n.lineno < line for n in given)
            return None if since or (place.in_loop and size.line < line) else part
    return None
