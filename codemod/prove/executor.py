"""Where tasks are worked on: threads of this process, each waiting for its own processes, or a cluster."""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor

from codemod.errors import SymfixError

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
        from distributed import Client
    except ImportError as error:
        raise SymfixError(f"--executor {address}: dask is not installed; pip install 'symfix[dask]'") from error
    try:
        executor: Executor = Client(f"tcp://{address.removeprefix(_DASK)}", timeout=_SECONDS).get_executor()
    except (OSError, ValueError) as error:
        raise SymfixError(f"--executor {address}: no scheduler answers there: {error}") from error
    return executor
