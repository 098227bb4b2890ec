"""Where tasks are worked on: threads of this process, each waiting for its own processes, or a cluster."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, TypeVar

from codemod.errors import SymfixError

T = TypeVar("T")

_DASK = "dask://"
_SECONDS = 20


def make_executor(address: str, jobs: int) -> Executor:
    """`jobs` threads where `address` is "", else the cluster at `dask://HOST:PORT`.

    Raises SymfixError where the address is another, dask is not installed, or no scheduler answers.
    """
    if not address:
        return ThreadPoolExecutor(jobs, "prove")
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
