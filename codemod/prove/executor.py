"""Where tasks are worked on, threads of this process or a cluster, and how many are worked through."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from codemod.errors import SymfixError, system_error
from codemod.prove import isolate, nursery

T = TypeVar("T")
Item = TypeVar("Item")

_DASK = "dask://"
_SECONDS = 20


def make_executor(address: str, jobs: int) -> Executor:
    """`jobs` threads where `address` is "", else the cluster at `dask://HOST:PORT`.

    Raises SymfixError where the address is another, dask is not installed, or no scheduler answers.
    """
    if not address:
        return ThreadPoolExecutor(jobs, "symfix")
    if not address.startswith(_DASK):
        raise SymfixError(f"--executor {address}: not understood; give dask://HOST:PORT")
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise SymfixError(f"--executor {address}: dask is not installed; pip install 'symfix[dask]'") from error
    try:
        return _Cluster(distributed.Client(f"tcp://{address.removeprefix(_DASK)}", timeout=_SECONDS))
    except (OSError, ValueError) as error:
        raise SymfixError(f"--executor {address}: no scheduler answers there: {error}") from error


def work_through(
    executor: Executor,
    items: Iterable[Item],
    kept: Callable[[Item], T | None],
    submit: Callable[[Item], Future[T]],
    ahead: int,
) -> Generator[tuple[Item, T, bool], None, None]:
    """(item, its result, whether that was kept from an earlier run) for each of `items`, as results come about.

    `submit` gives `executor` what `kept` has no result for, so that no more than `ahead` wait or are worked on. Ends
    all processes that were started, waits for them, and closes `executor`, also when the caller stops early or is
    interrupted. Raises SymfixError, which names the item, where the system refuses something.
    """
    pending: dict[Future[T], Item] = {}
    isolate.resume()
    finished = False
    try:
        for item in items:
            result = kept(item)
            if result is not None:
                yield item, result, True
                continue
            pending[submit(item)] = item
            if len(pending) >= ahead:
                yield from _ended(pending)
        while pending:
            yield from _ended(pending)
        finished = True
    finally:
        if not finished:
            for future in pending:
                future.cancel()
            isolate.stop_all()
        executor.shutdown(wait=True, cancel_futures=True)
        nursery.close()


def _ended(pending: dict[Future[T], Item]) -> Generator[tuple[Item, T, bool], None, None]:
    done, _ = wait(pending, return_when=FIRST_COMPLETED)
    for future in done:
        item = pending.pop(future)
        try:
            result = future.result()
        except OSError as error:
            raise SymfixError(f"{item}: {system_error(error)}") from error
        yield item, result, False


class _Cluster(Executor):
    """The workers of a dask client, which is closed with it."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._executor = client.get_executor()

    def submit(self, function: Callable[..., T], /, *arguments: Any, **named: Any) -> Future[T]:
        """Have a worker call `function`; it and its arguments are pickled."""
        future: Future[T] = self._executor.submit(function, *arguments, **named)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the work, and leave the cluster as it was."""
        self._executor.shutdown(wait=wait and not cancel_futures)
        self._client.close()
