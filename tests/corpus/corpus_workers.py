"""Processes that each import one torch package and work through items, replaced where they hang or die."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

Setup = Callable[..., tuple[Any, Callable[[Any], Any]]]
"""Called once in each process: what the process announces (plain data), and the function of an item."""


def _serve(pipe: Connection, package: Path | None, setup: Setup, settings: Sequence[Any]) -> None:
    if package is not None:
        sys.path.insert(0, str(package))
    announced, work = setup(*settings)
    pipe.send(announced)
    for item in iter(pipe.recv, None):
        try:
            result = work(item)
        except Exception as error:  # an item that cannot be worked on is that item's result
            result = {"outcome": "skip", "message": f"{type(error).__name__}: {error}"[:300]}
        pipe.send(result)


def add_worker_options(parser: argparse.ArgumentParser, jobs: int, timeout: float) -> None:
    """`--jobs` and `--timeout`, which `Workers` takes, with what they are where they are not given."""
    parser.add_argument("--jobs", type=int, default=jobs, help="processes, %(default)s")
    parser.add_argument("--timeout", type=float, default=timeout, help="seconds for one item, %(default)s")


class _Worker:
    def __init__(self, package: Path | None, setup: Setup, settings: Sequence[Any]) -> None:
        self.target = (package, setup, settings)
        self.item: Any = None
        self.deaths = 0
        self.deadline = 0.0
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, *self.target), daemon=True)
        self.process.start()
        other.close()
        try:
            self.announced = self.pipe.recv()
        except EOFError:
            raise SystemExit(f"a process over {self.target[0] or 'the installed torch'} did not start") from None

    def give(self, item: Any, seconds: float) -> None:
        self.item, self.deaths, self.deadline = item, 0, time.monotonic() + seconds
        self.pipe.send(item)

    def again(self, seconds: float) -> None:
        """Give the item to a new process, as the old one may have died of an earlier item."""
        self.replace()
        self.deadline = time.monotonic() + seconds
        self.pipe.send(self.item)

    def replace(self) -> None:
        self.stop()
        self.start()

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


class Workers:
    """`jobs` processes over the torch package below `package` (None: the installed one).

    `announced` is what `setup(*settings)` announced in the first of them. Use it as a context.
    """

    def __init__(
        self, package: Path | None, setup: Setup, settings: Sequence[Any] = (), jobs: int = 2, seconds: float = 180
    ) -> None:
        self.target = (package, setup, settings)
        self.jobs, self.seconds = jobs, seconds
        self.workers = [_Worker(*self.target)]
        self.announced = self.workers[0].announced

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.stop()

    def results(self, items: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
        """Each item with its result, as they come.

        An item that takes longer than `seconds` has `{"outcome": "timeout"}`, one that ends two processes
        `{"outcome": "error", "message": "the process died"}`.
        """
        queue = list(reversed(items))
        while len(self.workers) < min(self.jobs, len(queue)):
            self.workers.append(_Worker(*self.target))
        idle, busy = list(self.workers), list[_Worker]()
        while queue or busy:
            while queue and idle:
                idle[-1].give(queue.pop(), self.seconds)
                busy.append(idle.pop())
            ready = wait([worker.pipe for worker in busy], timeout=1)
            for worker in list(busy):
                result: Any = None
                if worker.pipe in ready:
                    try:
                        result = worker.pipe.recv()
                    except EOFError:
                        worker.deaths += 1
                        if worker.deaths == 1:
                            worker.again(self.seconds)
                            continue
                        result = {"outcome": "error", "message": "the process died"}
                        worker.replace()
                elif time.monotonic() > worker.deadline:
                    result = {"outcome": "timeout"}
                    worker.replace()
                else:
                    continue
                busy.remove(worker)
                idle.append(worker)
                yield worker.item, result
