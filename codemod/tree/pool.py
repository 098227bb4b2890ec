"""Work in other processes: one function over many items, or one beside what goes on here."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from codemod.errors import SymfixError

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.connection import Connection

T = TypeVar("T")

# Below this many items, starting processes costs more than they save.
_FEW = 8
# So many are handed to a process at once at most: what it says of them comes back together.
_MOST = 32


_LOST = "a worker process died, perhaps for want of memory; try again with --jobs 1"
_is_beside = False
"""Whether this process is one that `beside` started."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What a worker says of an item on which the function raised."""

    message: str
    expected: bool
    """A SymfixError: the message is written for the user."""

    def error(self, label: str) -> SymfixError:
        """The error to raise for the user; `label` says what failed where the function has a fault."""
        return SymfixError(self.message if self.expected else f"{label or 'analysis'} failed: {self.message}")


def default_jobs() -> int:
    """The number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(
    function: Callable[[Any], Any], items: Sequence[Any], jobs: int, label: str = "", bytes_of: Sequence[int] = ()
) -> Iterator[tuple[int, Any | Failure]]:
    """Yield (index, result or Failure) for every item, in the order in which they come about.

    Function and items must be picklable where processes cannot be forked. `bytes_of` says how large each item is:
    large ones are begun first, and small ones handed out together, so that the processes end together.
    """
    _end_without_parent()
    if jobs <= 1 or len(items) < _FEW:
        yield from ((index, _guarded(function, item)) for index, item in enumerate(items))
        return
    import multiprocessing  # with the futures a tenth of what a command takes to start
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool

    context = multiprocessing.get_context("fork" if can_fork() else None)
    gc.freeze()  # keep the collector from touching, and so copying, the pages that the children share
    executor = ProcessPoolExecutor(min(jobs, len(items)), context, _start, (function, items))
    try:
        chunks = _chunks(bytes_of or [1] * len(items), jobs)
        futures: dict[Future[list[Any]], list[int]] = {executor.submit(_work, chunk): chunk for chunk in chunks}
        with progress(label, len(items)) as advance:
            for future in as_completed(futures):
                chunk = futures.pop(future)
                yield from zip(chunk, future.result(), strict=True)
                advance(len(chunk))
        # Idle workers end at once. At the end of the program the executor's thread may find its pipe closed, which
        # Python reports on stderr (concurrent/futures/process.py, _ThreadWakeup.wakeup).
        executor.shutdown(wait=True)
    except BrokenProcessPool as error:
        raise SymfixError(_LOST) from error
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        gc.unfreeze()


def can_fork() -> bool:
    """Whether a process may safely go on as two; only there does `beside` work."""
    return sys.platform == "linux"


@contextmanager
def beside(function: Callable[[], T], label: str) -> Iterator[Callable[[], T]]:
    """Call `function` in a forked process while the block runs, which gets what waits for its result.

    The result must be picklable; `label` says what it is. Waiting raises SymfixError where the function raised, or
    the process died. That process may start processes too, shows no progress, and does not outlive the block.
    """
    import multiprocessing

    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    gc.freeze()
    process = context.Process(target=_send, args=(function, sender))
    process.start()
    sender.close()  # so that the pipe ends with the process

    def result() -> T:
        try:
            with progress(label, 1):
                made = receiver.recv()
        except EOFError as error:
            raise SymfixError(_LOST) from error
        if isinstance(made, Failure):
            raise made.error(label)
        return made  # type: ignore[no-any-return]

    try:
        yield result
    finally:
        gc.unfreeze()
        receiver.close()
        process.terminate()
        process.join()


def _send(function: Callable[[], object], sender: Connection) -> None:
    global _is_beside
    _is_beside = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent answers Ctrl-C
    sender.send(_guarded(lambda _: function(), None))


def _end_without_parent() -> None:
    """End a process that `beside` started whose parent was killed: nobody waits for what it makes."""
    from multiprocessing import parent_process

    parent = parent_process() if _is_beside else None
    if parent is not None and not parent.is_alive():
        os._exit(1)


def _chunks(bytes_of: Sequence[int], jobs: int) -> Iterator[list[int]]:
    """The indices of items that are worked on together, the largest items first."""
    most = sum(bytes_of) / (jobs * 8)
    chunk: list[int] = []
    held = 0
    for index in sorted(range(len(bytes_of)), key=lambda index: -bytes_of[index]):
        if chunk and (len(chunk) == _MOST or held + bytes_of[index] > most):
            yield chunk
            chunk, held = [], 0
        chunk.append(index)
        held += bytes_of[index]
    if chunk:
        yield chunk


_function: Callable[[Any], Any]
_items: Sequence[Any]


def _start(function: Callable[[Any], Any], items: Sequence[Any]) -> None:
    global _function, _items
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent answers Ctrl-C
    gc.disable()  # what a worker makes of an item holds no cycles, and the worker does not live long
    threading.Thread(target=_die_with_parent, daemon=True).start()
    _function, _items = function, items


def _die_with_parent() -> None:
    """End this worker when its parent is killed, which otherwise leaves it waiting for work for ever."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _work(chunk: Sequence[int]) -> list[Any]:
    return [_guarded(_function, _items[index]) for index in chunk]


def _guarded(function: Callable[[Any], Any], item: Any) -> Any:
    try:
        return function(item)
    except SymfixError as error:
        return Failure(str(error), expected=True)
    except Exception as error:
        import traceback

        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(frame.filename)}:{frame.lineno}"
        return Failure(f"{type(error).__name__}: {error} ({where})", expected=False)


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on a terminal's stderr, and what moves it on by so many of `total`; elsewhere nothing."""
    if not label or _is_beside or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda done: progress.advance(task, done)
