"""Spans of a file, asked for a place within one of them."""

from __future__ import annotations

import bisect
import itertools


class Spans:
    """Spans of bytes that may overlap; most are added in the order of the file, which is what is fast."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._furthest: list[int] = []
        """How far the spans up to each reach."""

    def add(self, start: int, end: int) -> None:
        """Take in the span [start, end)."""
        at = bisect.bisect(self._starts, start)
        self._starts.insert(at, start)
        self._ends.insert(at, end)
        before = self._furthest[at - 1 : at]
        self._furthest[at:] = list(itertools.accumulate(before + self._ends[at:], max))[len(before) :]

    def holds(self, start: int, end: int) -> bool:
        """Whether [start, end) lies within one of them."""
        at = bisect.bisect(self._starts, start)
        return at > 0 and self._furthest[at - 1] >= end
