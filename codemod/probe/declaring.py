"""What a program can declare of the sizes that it marks as unknown, so that a question about them has an answer.

`torch._dynamo.decorators.mark_unbacked` takes `shape_id`, which sizes that always are equal have in common, and the
least and the most that a size comes to (PyTorch PR 172716). Torch checks all of it when the compiled code runs. Which
of them answer a question is tried with numbers in the place of the sizes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from codemod.probe.spelling import SYMBOL, spelled

SHAPE_ID, LEAST, MOST = "shape_id", "min", "max"
_HIGHEST = 4100
"""Up to this size a question is tried; what changes its answer above has no declaration."""
_FAR = (2**20, 2**31 + 7)
_LONGEST = 400
_FUNCTIONS: Mapping[str, Callable[..., int]] = {
    "Eq": lambda a, b: a == b, "Ne": lambda a, b: a != b, "Mod": lambda a, b: a % b, "PythonMod": lambda a, b: a % b,
    "Max": max, "Min": min,
}  # fmt: skip
"""What torch prints its expressions with (torch/utils/_sympy/functions.py), beside operators."""
_NODES = (
    ast.Expression, ast.Compare, ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Constant, ast.Load, ast.cmpop,
    ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.USub,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Declaration:
    """That `sizes`, as answers name them, are equal (SHAPE_ID), or that the only one is at least or most `value`."""

    keyword: str
    sizes: tuple[str, ...]
    value: int = 0


def declarations(expression: str, sources: Mapping[str, str], takes: Collection[str]) -> tuple[Declaration, ...]:
    """What of the keywords that mark_unbacked `takes` answers a question of torch's; each alone does.

    `sources` are those of its symbols. Nothing where one of them is no size of an argument, or is not unknown.
    """
    symbols = list(dict.fromkeys(SYMBOL.findall(expression)))
    sizes = tuple(spelled(sources.get(symbol, "")) for symbol in symbols)
    unknown = all(symbol.startswith("u") and ".size(" in size for symbol, size in zip(symbols, sizes, strict=True))
    holds = _question(expression, symbols) if symbols and unknown else None
    if holds is None:
        return ()
    declared = _bounds(holds, sizes) if len(symbols) == 1 else _of_equal(holds, sizes) if len(symbols) == 2 else []
    return tuple(each for each in declared if each.keyword in takes)


def advice_of(declared: Sequence[Declaration]) -> str:
    """What the program may declare, in words; "" for nothing."""
    return "; ".join(map(_sentence, declared))


def _sentence(declared: Declaration) -> str:
    first, last = declared.sizes[0], declared.sizes[-1]
    if declared.keyword == SHAPE_ID:
        return f"if {first} and {last} are always equal, say so: mark_unbacked(…, shape_id=…), the same for both"
    bound = "at least" if declared.keyword == LEAST else "at most"
    said = f"{declared.keyword}={declared.value}"
    return f"if {first} is always {bound} {declared.value}, say so: mark_unbacked(…, {said})"


def _of_equal(holds: Callable[..., int], sizes: tuple[str, ...]) -> list[Declaration]:
    """That two sizes are equal, where it leaves one outcome."""
    outcomes = {_outcome(holds, (n, n)) for n in (*range(50), *_FAR)}
    return [Declaration(SHAPE_ID, sizes)] if len(outcomes) == 1 and None not in outcomes else []


def _bounds(holds: Callable[..., int], sizes: tuple[str, ...]) -> list[Declaration]:
    """What a size has to be at least for one outcome, and at most for the other, if it has two."""
    outcomes = [_outcome(holds, (n,)) for n in (*range(_HIGHEST), *_FAR)]
    least = next((n for n in range(len(outcomes), 0, -1) if outcomes[n - 1] != outcomes[-1]), 0)
    if None in outcomes or not 0 < least < _HIGHEST:
        return []
    declared = [Declaration(LEAST, sizes, least)]
    if len(set(outcomes[:least])) > 1:
        return declared if least <= 2 else []
    return declared if least <= 2 else [*declared, Declaration(MOST, sizes, least - 1)]


def _outcome(holds: Callable[..., int], numbers: Sequence[int]) -> bool | None:
    try:
        return bool(holds(*numbers))
    except ZeroDivisionError:
        return None


def _question(expression: str, symbols: Sequence[str]) -> Callable[..., int] | None:
    """What an expression of torch's comes to for numbers in the place of its symbols; None where that is not known."""
    if len(expression) > _LONGEST:
        return None
    try:
        tree = ast.parse(expression, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        named = isinstance(node, ast.Name) and node.id not in (*symbols, *_FUNCTIONS)
        constant = isinstance(node, ast.Constant) and type(node.value) is not int
        if not isinstance(node, _NODES) or named or constant:
            return None
    code = compile(tree, "<question>", "eval")
    names = {"__builtins__": {}, **_FUNCTIONS}
    return lambda *numbers: eval(code, names, dict(zip(symbols, numbers, strict=True)))
