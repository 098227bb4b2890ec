"""Raises the recursion limit for functions that call themselves, which bound their own depth and raise TooDeep."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class TooDeep(Exception):
    """Code is nested deeper than is analysed; the message says what, in a form that goes on `it is …`."""


@contextmanager
def room(frames: int) -> Iterator[None]:
    """Python's recursion limit, raised so that `frames` more calls fit wherever the caller stands.

    What runs inside must raise TooDeep before it nests that many: each takes a piece of the thread's stack.
    """
    limit, depth = sys.getrecursionlimit(), 0
    frame = sys._getframe()
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    sys.setrecursionlimit(max(limit, depth + frames))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
