"""What a piece of work takes, counted and not timed."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable


def calls(work: Callable[[], object]) -> int:
    """How many functions, Python's and C's, `work` calls."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def peak(work: Callable[[], object]) -> int:
    """The most bytes that `work` holds at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
