"""Branches that only crop a tensor to the sizes they ask about, which keeps all of it where nothing sticks out."""

from __future__ import annotations

import ast

from transforms.python.flow.nodes import called
from transforms.python.writing.compiled import asked_of
from transforms.python.writing.copies import is_seen
from transforms.python.writing.numbers import FEWEST, Arithmetic, value_of
from transforms.python.writing.place import Place
from transforms.python.writing.trims import laid_out


def only_crops(place: Place, branch: ast.If, test: ast.expr) -> bool:
    """Whether a branch, taken where `test` holds, only crops what the statement above viewed.

    To all of it where `test` does not hold, as numbers in place of the sizes show, and so that nobody sees a copy.
    """
    if branch.orelse or len(branch.body) != 1:
        return False
    tensor, bounds = _cropped(branch.body[0])
    sizes = _sizes(place, branch, tensor) if bounds else []
    if not bounds or len(sizes) < len(bounds):
        return False
    pairs = [(size, bound) for size, bound in zip(sizes, bounds, strict=False) if bound is not None]
    return _fits(place, asked_of(place, test, True), pairs) and not is_seen(place, branch)


def _cropped(statement: ast.stmt) -> tuple[str, list[ast.expr | None]]:
    """The tensor that `x = x[:, :h]` crops, and where each dimension ends, None where it stays; no ends for others."""
    value = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    value = laid_out(value) if value is not None else None
    if not isinstance(value, ast.Subscript) or not isinstance(value.value, ast.Name):
        return "", []
    slices = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
    bounds = [part.upper for part in slices if isinstance(part, ast.Slice) and part.lower is part.step is None]
    if _assigned(statement) != value.value.id or len(bounds) < len(slices) or not any(bounds):
        return "", []
    return value.value.id, bounds


def _assigned(statement: ast.stmt | None) -> str:
    """The only variable that a statement assigns, "" for other statements."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def _sizes(place: Place, branch: ast.If, tensor: str) -> list[ast.expr]:
    """The sizes of a tensor, as the statement above a branch viewed it; none where that is no view."""
    block = place.block_of(branch)
    above = block[block.index(branch) - 1] if branch is not block[0] else None
    made = above.value if isinstance(above, ast.Assign) and _assigned(above) == tensor else None
    if not isinstance(made, ast.Call) or called(made) not in ("view", "reshape") or made.keywords:
        return []
    listed = made.args[0] if len(made.args) == 1 else None
    sizes = listed.elts if isinstance(listed, (ast.Tuple, ast.List)) else made.args
    parts = [part for size in sizes for part in ast.walk(size)]  # its own sizes are others behind the view
    return [] if any(isinstance(p, ast.Starred) or getattr(p, "id", "") == tensor for p in parts) else sizes


def _fits(place: Place, asked: ast.expr, pairs: list[tuple[ast.expr, ast.expr]]) -> bool:
    """Whether no size is more than its bound where `asked` does not hold."""
    arithmetic = Arithmetic(place)
    condition = arithmetic.function(asked)
    functions = [(arithmetic.function(size), arithmetic.function(bound)) for size, bound in pairs]
    draws = list(arithmetic.draws()) if condition is not None else []
    passed = [drawn for drawn in draws if condition is not None and value_of(condition, drawn) in (0, False)]
    if min(len(passed), len(draws) - len(passed)) < FEWEST:
        return False
    for size, bound in functions:
        if size is None or bound is None:
            return False
        values = [(value_of(size, drawn), value_of(bound, drawn)) for drawn in passed]
        if any(n is None or m is None or n > m for n, m in values) or max(n for n, _ in values) < 0:
            return False  # what is -1 is a size that view computes
    return True
