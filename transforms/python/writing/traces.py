"""What happens to the memory of a function's tensors, and who may see by it that a branch copied one of them."""

from __future__ import annotations

import ast
from typing import NamedTuple

from transforms.python.writing.held import Held

COPY = "<copy>"
"""The memory that a copy lies in, where eager keeps the tensor."""


class Event(NamedTuple):
    """A write, a read or a call, with the memory that it is given."""

    line: int
    held: Held
    may_write: bool = True
    """Of a call of what is not known: whether the file shows that it writes in place."""
    of_tensor: bool = False
    """Of a write: whether it changes the tensor itself."""


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
            if COPY in write.held or (self._is_kept(write.held) and self._is_read(write.line, COPY)):
                return True
        surely = [memory for memory, sure in self.kept.items() if sure]
        for call in self._calls:
            if call.held.get(COPY) and (call.may_write or any(self._is_read(call.line, m, True) for m in surely)):
                return True
            if COPY in call.held or not any(map(call.held.get, surely)):
                continue
            if call.may_write or self._is_read(call.line, COPY, True):
                return True
        return False

    def is_returned(self) -> bool:
        """Whether a caller gets the copy, or a view of it."""
        return any(held.get(COPY) for held in self._returned)

    def _is_kept(self, held: Held) -> bool:
        return any(memory in held and (sure or held[memory]) for memory, sure in self.kept.items())

    def _is_read(self, line: int, memory: str, surely: bool = False) -> bool:
        later = (read for read in self._reads if read.line >= line or self._in_loop)
        others = (read.held for read in later if memory == COPY or COPY not in read.held)
        return any(held.get(memory, False) or (memory in held and not surely) for held in others)
