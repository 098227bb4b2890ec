"""A meta beside its kernel, on many calls: each in a process that it may end, and once compiled with unbacked sizes."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch._dynamo.decorators import mark_unbacked
from torch.utils import _pytree as pytree

from . import causes, fakes, hypotheses, observing
from .forks import survive

LONG = 5 * observing.STUCK
"""Seconds after which a comparison is given up."""
AGAIN = 5
"""How often a kernel is called alone, to see whether it ends its process."""
ATTEMPTS = 3
"""How often a call that ended its process is compared, each time in another."""
COMPILED = 60
"""Seconds after which a compile is given up."""


@dataclass(frozen=True)
class Comparison:
    """How a meta stands beside its kernel."""

    end: str
    """`fakes.PASSES`, or the first comparison that does not pass."""
    samples: int
    """How many comparisons were made."""
    fatal: int = 0
    """How many calls were left out, for the kernel alone ends the process on each."""


def compared(overload: Any, source: Any, calls: Sequence[Any], outputs: Sequence[str]) -> Comparison:
    """How an overload's fake ends beside its kernel on `calls`.

    They are of `source`, which is the functional overload where it has `outputs`. A call that ends its process is no
    word against the fake: it may have been the kernel, or what a kernel called before did to memory. Each call then
    gets a process of its own, and what the kernel ends there without any fake is left out.
    """
    ended: list[str] = []

    def compare(number: int) -> list[str]:
        signal.alarm(LONG)
        try:
            made = with_outs(source, calls[number], outputs) if outputs else [calls[number]]
            several = [fakes.compared(overload, *observing.copied(call)) for call in made]
        except Exception as error:  # it is no comparison, and the rest is still to be compared
            return [f"{fakes.STOPS}: {causes.first_line(error)}"]
        return [end for end in several if end is not None]

    def work(first: int) -> Iterator[tuple[int, Any]]:
        for number in range(first, len(calls)):
            if ended:
                return
            yield number, None
            yield number, compare(number)

    ends = [end for several in survive(work, ended) for end in several]
    if not ended:
        return _comparison(ends, 0)
    ends, fatal = [], 0
    for number, call in enumerate(calls):
        several = None
        for _ in range(ATTEMPTS):  # what a kernel does to memory ends some processes, and others not
            several = next(survive(partial(_only, compare, number), ended), None)
            if several is not None:
                break
        if several is not None:
            ends += several
            continue
        how = ended[-1] if ended else "its work fails"
        ended.clear()
        next(survive(partial(_only, _run, source, call), ended), None)
        if not ended:
            return Comparison(f"a call ends the process: {how}", len(ends), fatal)
        fatal += 1
    return _comparison(ends, fatal)


def _comparison(ends: Sequence[str], fatal: int) -> Comparison:
    end = next((end for end in ends if end != fakes.PASSES), "")
    if not end and len(ends) < hypotheses.ENOUGH:
        end = f"eager accepts {len(ends)} of the calls that are made, of which {hypotheses.ENOUGH} are wanted"
    return Comparison(end or fakes.PASSES, len(ends), fatal)


def _only(work: Any, *arguments: Any) -> Iterator[tuple[int, Any]]:
    """One item of work, for `survive`: the last of the arguments is the item to go on with."""
    *rest, first = arguments
    if not first:
        yield 0, None
        yield 0, work(*rest)


def _run(overload: Any, call: Any) -> int:
    """How often the kernel alone takes the call; some times, for what it does to memory shows late."""
    signal.alarm(LONG)
    times = 0
    for _ in range(AGAIN):
        positional, named = observing.copied(call)
        try:
            overload(*positional, **named)
        except Exception:
            continue
        times += 1
    return times


def with_outs(overload: Any, call: Any, names: Sequence[str]) -> Iterator[Any]:
    """A call with tensors to write to: empty ones, and ones of the right shape and strides."""
    positional, named = observing.copied(call)
    result = overload(*positional, **named)
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    for make in (torch.empty_like, lambda tensor: tensor.new_empty(0)):
        positional, named = observing.copied(call)
        yield positional, {**named, **dict(zip(names, map(make, results), strict=True))}


def unbacked(overload: Any, source: Any, calls: Sequence[Any], outputs: Sequence[str]) -> str:
    """How a compile of the first of `calls` ends with every size above 1 unbacked."""

    def work(first: int) -> Iterator[tuple[int, Any]]:
        for number in range(first, min(1, len(calls))):
            yield number, None
            signal.alarm(COMPILED)
            call = next(with_outs(source, calls[number], outputs)) if outputs else calls[number]
            yield number, _unbacked(overload, call)

    return str(next(survive(work), "the compile ends its process, or does not end"))


def _unbacked(overload: Any, call: Any) -> str:
    positional, named = observing.copied(call)
    for leaf in pytree.tree_leaves((positional, named)):
        if isinstance(leaf, torch.Tensor):
            for dimension, size in enumerate(leaf.shape):
                if size > 1:
                    mark_unbacked(leaf, dimension)
    torch._dynamo.reset()
    try:
        torch.compile(lambda a, k: overload(*a, **k), backend="eager", fullgraph=True)(positional, named)
    except Exception as error:
        return causes.first_line(error)
    return fakes.PASSES
