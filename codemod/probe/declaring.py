"""What a program can declare of the sizes that it marks as unknown, so that a question about them has an answer.

`torch._dynamo.decorators.mark_unbacked` takes `shape_id`, which sizes that always are equal have in common, and the
least and the most that a size comes to (PyTorch PR 172716). Torch checks all of it when the compiled code runs. Which
of them answer a question is found as torch does, by the ranges of what the question is made of
(torch/utils/_sympy/value_ranges.py).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from codemod.probe.ranges import (
    ANY,
    Range,
    compares_order,
    difference,
    multiplied_out,
    question,
    settles,
)
from codemod.probe.spelling import SYMBOL, spelled

SHAPE_ID, LEAST, MOST = "shape_id", "min", "max"
_HIGHEST = 4100
"""Up to this number it is tried whether sizes are large, or small, enough."""
_SMALL = 64
"""What a program rather has more of than less."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """That `sizes`, as answers name them, are equal (SHAPE_ID), or that each is at least or at most `value`."""

    keyword: str
    sizes: tuple[str, ...]
    value: int = 0


def declarations(
    expression: str, sources: Mapping[str, str], takes: Collection[str], held: Mapping[str, int | None]
) -> tuple[Declaration, ...]:
    """What of the keywords that mark_unbacked `takes` answers a question of torch's; each alone does.

    `sources` are those of its symbols, and `held` their sizes in the run as far as they are seen, of which it has to be
    true. Nothing where a symbol is no size of an argument, or is not unknown.
    """
    symbols = list(dict.fromkeys(SYMBOL.findall(expression)))
    sizes = tuple(spelled(sources.get(symbol, "")) for symbol in symbols)
    unknown = all(symbol.startswith("u") and ".size(" in size for symbol, size in zip(symbols, sizes, strict=True))
    asked = question(expression, symbols) if symbols and unknown else None
    if asked is None or settles(asked, dict.fromkeys(symbols, ANY)):
        return ()
    declared = [Declaration(SHAPE_ID, sizes)] if len(sizes) == 2 and difference(asked, symbols) is not None else []
    seen = [size for symbol in symbols if (size := held.get(symbol)) is not None]
    found = (*declared, *_bounds(asked, symbols, sizes))
    return tuple(each for each in found if each.keyword in takes and _is_true(each, seen))


def _is_true(declared: Declaration, sizes: Sequence[int]) -> bool:
    if declared.keyword == SHAPE_ID:
        return len(set(sizes)) < 2
    return all(size >= declared.value if declared.keyword == LEAST else size <= declared.value for size in sizes)


def advice_of(declared: Sequence[Declaration]) -> str:
    """What the program may declare, in words; "" for nothing."""
    return "; ".join(map(_sentence, declared))


def _sentence(declared: Declaration) -> str:
    value = "…), the same for both" if declared.keyword == SHAPE_ID else f"{declared.value})"
    return f"if {claim(declared, declared.sizes, 'always')}, say so: mark_unbacked(…, {declared.keyword}={value}"


def claim(declared: Declaration, names: Sequence[str], adverb: str) -> str:
    """What is declared of sizes that have these names, in words: `a and b are always equal`."""
    *others, last = names
    named = f"{', '.join(others)} and {last} are" if others else f"{last} is"
    if declared.keyword == SHAPE_ID:
        return f"{named} {adverb} equal"
    return f"{named} {adverb} {'at least' if declared.keyword == LEAST else 'at most'} {declared.value}"


def _bounds(asked: ast.expr, symbols: Sequence[str], sizes: tuple[str, ...]) -> list[Declaration]:
    """What each size has to be at least, and what at most, for one outcome; likelier first.

    Whether something is one number among many, unless that is 0 or 1, no program has reason to rule out.
    """
    written = (asked, multiplied_out(asked) if len(symbols) > 1 else asked)
    if not compares_order(asked) or None in written:
        return []

    def decides(each: Range) -> bool:
        ranges = dict.fromkeys(symbols, each)
        return all(form is not None and settles(form, ranges) for form in written)

    least = next((n for n in range(1, _HIGHEST) if decides(Range(n))), 0)
    if not least:
        return []
    found = [Declaration(LEAST, sizes, least)]
    most = next((n for n in range(_HIGHEST, 1, -1) if decides(Range(0, n))), 0)
    found += [Declaration(MOST, sizes, most)] if most else []
    return found if least <= _SMALL else found[::-1]
