"""What judges functions that were drawn at random: shapes to call them with, and what comes of it. Needs torch."""

from __future__ import annotations

import itertools
import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from drawn_functions import HEAD
from torch._dynamo.decorators import mark_unbacked

Shapes = tuple[tuple[int, ...], tuple[int, ...]]
Call = Callable[[Any, Any], Any]
K = 3
"""The number that each function is given besides."""
_LIMITS = {"recompile_limit": 10**6, "accumulated_recompile_limit": 10**6}
_OF_TORCH = re.compile(r"\bM(?:in|ax)\(|Guard failed on the same frame it was created")
"""Compiled code refuses a size of 1 that it took for another, whatever the function was before; a fault of Dynamo."""


def _shapes() -> Iterator[Shapes]:
    for rows, columns in itertools.product((5, 0, 1, 2, 3, 4, 7, 9), (6, 0, 1, 2, 3)):
        others = [(rows, columns), (rows, 1), (1, columns), (columns,), (rows,), (1,), (0,), (columns, rows), (1, 1)]
        others += [(rows + 1, columns), (0, columns), (rows, 0), (columns, 4)]
        yield from (((rows, columns), other) for other in dict.fromkeys(others))


ALL = list(_shapes())
"""Shapes of x and y, those that broadcast and others."""


def inputs(sizes: Shapes, unbacked: bool = False) -> list[Any]:
    """Tensors of these shapes, the same each time; `unbacked`: whose sizes are not known while tracing."""
    torch.manual_seed(0)
    tensors = [torch.rand(shape) for shape in sizes]
    for tensor in tensors if unbacked else ():
        for dimension in range(tensor.dim()):
            mark_unbacked(tensor, dimension)
    return tensors


def end(function: Call, sizes: Shapes) -> Any:
    """What a function gives, or as a text what it raises."""
    try:
        return function(*inputs(sizes))
    except Exception as error:  # whatever it is, the rewritten one has to raise it too
        return f"{type(error).__name__}: {error}".partition("\nException raised from")[0]


def same(first: Any, second: Any) -> bool:
    """Whether two ends are alike: equal tensors, or the same text."""
    if isinstance(first, str) or isinstance(second, str):
        return bool(type(first) is type(second) and first == second)
    return first.shape == second.shape and torch.allclose(first.float(), second.float(), equal_nan=True)


def eager_differs(ends: Mapping[Shapes, Any], after: Call) -> str:
    """Where a rewritten function ends otherwise in eager; "" where it does not."""
    for sizes, expected in ends.items():
        changed = end(after, sizes)
        if not same(expected, changed) and not _has_a_message_now(expected, changed):
            return f"eager, {sizes}: {_shown(expected)}, now {_shown(changed)}"
    return ""


def _has_a_message_now(before: Any, after: Any) -> bool:
    """Whether an exception that had no message has one: the condition that failed, all that there is to say."""
    texts = isinstance(before, str) and isinstance(after, str)
    return texts and before.endswith(": ") and after.startswith(f"{before}expected ")


def compiled_differs(ends: Mapping[Shapes, Any], operator: Call) -> tuple[bool, str]:
    """Whether an operator compiles with every size unbacked, and where what it gives then differs from `ends`.

    Where it does not compile, the text says why.
    """
    taken = [sizes for sizes, expected in ends.items() if not isinstance(expected, str)]
    compiles, shown, why = False, "", ""
    for rank in (1, 2):
        of_rank = [sizes for sizes in taken if len(sizes[1]) == rank]
        traced = next((sizes for sizes in of_rank if min(map(min, sizes)) > 1), None)
        if traced is None:
            continue
        torch.compiler.reset()
        with torch._dynamo.config.patch(_LIMITS):
            compiled: Any = torch.compile(_with_shape(operator), backend="aot_eager", fullgraph=True)
            try:
                compiled(*inputs(traced, unbacked=True))
            except Exception as error:  # Dynamo raises many
                why = why or _why(error)
                continue
            compiles, shown = True, shown or _first_difference(compiled, of_rank, ends)
    return compiles, shown if compiles else why


def _why(error: Exception) -> str:
    """What an error says first, and the line of the function that was drawn."""
    causes: list[BaseException] = [error]
    while (inner := causes[-1].__cause__ or causes[-1].__context__) is not None:
        causes.append(inner)
    frames = [frame for each in causes for frame in traceback.extract_tb(each.__traceback__)]
    line = next((frame.lineno for frame in reversed(frames) if frame.filename == "<string>"), None)
    said = str(error).strip().splitlines()[0][:120]
    return f"line {line - len(HEAD.splitlines())}: {said}" if line else said


def takes_any(ends: Mapping[Shapes, Any]) -> bool:
    """Whether there are shapes to trace with: such as a function takes, none of whose sizes is special."""
    return any(not isinstance(expected, str) and min(map(min, sizes)) > 1 for sizes, expected in ends.items())


def _with_shape(operator: Call) -> Call:
    def call(x: Any, y: Any) -> Any:
        result = operator(x, y)
        return result, list(result.shape)

    return call


def _first_difference(compiled: Any, taken: Sequence[Shapes], ends: Mapping[Shapes, Any]) -> str:
    for sizes in taken:
        expected = ends[sizes]
        try:
            result, shape = compiled(*inputs(sizes))
        except (AssertionError, RuntimeError) as error:
            if not _OF_TORCH.search(str(error)):
                return f"{sizes}: refused: {str(error).splitlines()[0][:100]}"
            continue
        if shape != list(expected.shape) or not same(expected, result):
            return f"{sizes}: {shape} for {list(expected.shape)}, or other values"
    return ""


def _shown(ending: Any) -> str:
    return ending if isinstance(ending, str) else f"a tensor of {list(ending.shape)}"
