"""Device code: where kernels of CUDA, HIP or Metal are written and launched.

Symbols arrive there in what is registered for Meta, autograd or as a composite, and in what that calls. All else in a
file of that kind runs with numbers, and often, so it stays as it is. A function that launches kernels, itself or by
others, cannot go on with symbols whatever it is registered for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from transforms.cpp.reach.calls import Index, is_kernel
from transforms.cpp.reading.facts import FileFacts, Function

SUFFIXES = (".cu", ".cuh", ".hip", ".mm")

Node = tuple[str, int]


def is_device_code(file: FileFacts) -> bool:
    """Whether a file is compiled for a device by its suffix, or defines or launches kernels."""
    return file.device or file.path.endswith(SUFFIXES)


class Launchers:
    """Which functions come to a kernel without the dispatcher, which would give Meta tensors another way."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._callees: dict[Node, list[Function]] = {}

    def __contains__(self, function: Function) -> bool:
        seen = {(function.path, function.start)}
        pending = [function]
        while pending:
            current = pending.pop()
            if is_kernel(current):
                return True
            for callee in self._called(current):
                if (callee.path, callee.start) not in seen:
                    seen.add((callee.path, callee.start))
                    pending.append(callee)
        return False

    def _called(self, function: Function) -> list[Function]:
        node = (function.path, function.start)
        if node not in self._callees:
            pairs = self._index.callees(function, function.calls)
            self._callees[node] = [callee for _, functions in pairs for callee in functions]
        return self._callees[node]


def shared(
    index: Index, functions: Iterable[Function], reached: Collection[Node], helpers: Mapping[Node, Function]
) -> set[Node]:
    """Those of `helpers`, reached functions of device code, that others than `reached` functions of `functions` call.

    So are those that such a helper calls.
    """
    if not helpers:
        return set()
    names = {helper.name for helper in helpers.values()}
    result: set[Node] = set()
    called: dict[Node, set[Node]] = {}
    for function in functions:
        if names.isdisjoint(call.callee.rpartition("::")[2].partition("<")[0] for call in function.calls):
            continue
        node = (function.path, function.start)
        pairs = index.callees(function, function.calls)
        called[node] = {key for _, callees in pairs for f in callees if (key := (f.path, f.start)) in helpers}
        if node not in reached:
            result |= called[node]
    pending = list(result)
    while pending:
        fresh = called.get(pending.pop(), set()) - result
        result |= fresh
        pending += fresh
    return result
