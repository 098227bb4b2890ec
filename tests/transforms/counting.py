"""What a piece of work takes, counted and not timed."""

from __future__ import annotations

import cProfile
import tracemalloc
from collections.abc import Callable


def calls(work: Callable[[], object]) -> int:
    """How many functions, Python's and C's, `work` calls."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())


def peak(work: Callable[[], object]) -> int:
    """The most bytes that `work` holds at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
