"""Work that ends its process is left out, the rest is done."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

from codemod.runner import forks


def work(first: int) -> Iterator[tuple[int, Any]]:
    """Numbers below 6: 2 and 5 end the process, 3 gives nothing."""
    for number in range(first, 6):
        yield number, None
        if number in (2, 5):
            os.kill(os.getpid(), signal.SIGKILL)
        if number != 3:
            yield number, f"item {number}"


def test_items_that_end_their_process_are_left_out() -> None:
    assert list(forks.survive(work)) == ["item 0", "item 1", "item 4"]


def test_how_a_process_ended_is_told() -> None:
    def leaving(first: int) -> Iterator[tuple[int, Any]]:
        for number in range(first, 3):
            yield number, None
            if number == 0:
                os.write(2, b"symbol lookup error: undefined symbol\n")
                os._exit(127)
            if number == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            yield number, "done"

    ended: list[str] = []
    assert list(forks.survive(leaving, ended)) == ["done"]
    assert ended == ["symbol lookup error: undefined symbol", "SIGKILL"]


def test_a_caller_that_has_enough_ends_the_work() -> None:
    def endless(first: int) -> Iterator[tuple[int, Any]]:
        while True:
            yield first, "again"

    results = forks.survive(endless)
    assert [next(results), next(results)] == ["again", "again"]
    results.close()  # type: ignore[attr-defined]


def test_work_that_fails_ends_with_what_there_is() -> None:
    def failing(first: int) -> Iterator[tuple[int, Any]]:
        yield 0, "one"
        raise ValueError

    assert list(forks.survive(failing)) == ["one"]


def test_work_that_goes_on_for_ever_is_given_up() -> None:
    def work(first: int) -> Iterator[tuple[int, Any]]:
        for number in range(first, 2):
            yield number, None
            forks.limit(1)
            while number == 0:
                pass
            yield number, number

    ended: list[str] = []
    assert list(forks.survive(work, ended)) == [1]
    assert set(ended) <= forks.GIVEN_UP
    assert len(ended) == 1
