"""What happens to the memory of a function's tensors, and who may see by it that a branch copied one of them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from transforms.python.writing.held import Held

COPY = "<copy>"
"""The memory that a copy lies in, where eager keeps the tensor."""

Arms: TypeAlias = Mapping[int, int]
"""The branches, outside loops, that something stands in, by `id`, with which of their blocks it is."""


class Event(NamedTuple):
    """A write, a read or a call, with the memory that it is given."""

    line: int
    held: Held
    arms: Arms
    may_write: bool = True
    """Of a call of what is not known: whether the file shows that it writes in place."""
    of_tensor: bool = False
    """Of a write: whether it changes the tensor itself."""
    within: range = range(0)
    """Of a call: the reads that its arguments are made of, which are over when it runs."""
    beside: Held = MappingProxyType({})
    """Of a call: what it is given beside a tensor that may be the copy."""

    def excludes(self, other: Event) -> bool:
        """Whether only one of two events happens in a run of the function."""
        return any(other.arms.get(statement, arm) != arm for statement, arm in self.arms.items())


class Traces:
    """The events of a function; `in_loop` says whether what stands above a line may run below it, too."""

    def __init__(self, in_loop: bool) -> None:
        self._in_loop = in_loop
        self.kept: Held = {}
        """What the tensor is that the sites keep."""
        self.writes: list[Event] = []
        self.passed: list[tuple[ast.Call, list[ast.expr]]] = []
        """The calls of what is not known, with the arguments that hold the copy."""
        self._calls: list[Event] = []
        self._reads: list[Event] = []
        self._returned: list[Held] = []
        self._stored: list[Held] = []

    def is_written(self) -> bool:
        """Whether the copy is written, or what it would have been, while the other is read."""
        for write in self.writes:
            if COPY in write.held or (self._is_kept(write.held) and self._is_read(write, COPY)):
                return True
        surely = [memory for memory, sure in self.kept.items() if sure]
        for call in self._calls:
            if call.held.get(COPY):
                both = any(call.beside.get(memory) or self._is_read(call, memory, True) for memory in surely)
                if call.may_write or both:
                    return True
            if COPY in call.held or not any(map(call.held.get, surely)):
                continue
            if call.may_write or self._is_read(call, COPY, True):
                return True
        return False

    def is_returned(self) -> bool:
        """Whether a caller gets the copy, or a view of it."""
        return any(held.get(COPY) for held in self._returned)

    def _is_kept(self, held: Held) -> bool:
        return any(memory in held and (sure or held[memory]) for memory, sure in self.kept.items())

    def _is_read(self, event: Event, memory: str, surely: bool = False) -> bool:
        later = (
            read
            for index, read in enumerate(self._reads)
            if (self._in_loop or (read.line >= event.line and index not in event.within)) and not event.excludes(read)
        )
        others = (read.held for read in later if memory == COPY or COPY not in read.held)
        return any(held.get(memory, False) or (memory in held and not surely) for held in others)
