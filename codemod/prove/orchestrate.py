"""Proving many shards in parallel; evidence that is stored already is reused."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass

from codemod.errors import SymfixError, system_error
from codemod.prove import isolate, nursery
from codemod.prove.evidence import Evidence, EvidenceStore
from codemod.prove.task import Settings, Task
from codemod.prove.work import prove

_AHEAD = 2  # tasks prepared for each that is worked on: preparing reads the tree


@dataclass(frozen=True, slots=True)
class ProofRequest:
    """A shard to prove: the key of its evidence, and what makes its task, which takes longer than a look-up."""

    shard: str
    key: str
    make: Callable[[], Task]


@dataclass(frozen=True, slots=True)
class Proved:
    """The evidence for one shard. `reused` says that it was not run again."""

    shard: str
    evidence: tuple[Evidence, ...]
    reused: bool = False


def prove_all(
    settings: Settings,
    requests: Iterable[ProofRequest],
    store: EvidenceStore,
    executor: Executor,
    jobs: int,
    again: bool = False,
) -> Generator[Proved, None, None]:
    """The evidence for each shard, as it comes about; `again` runs also those that `store` has evidence for.

    Ends all processes it has started, and waits for them, when the caller stops early or is interrupted.
    """
    pending: dict[Future[list[Evidence]], Task] = {}
    work = functools.partial(prove, settings)
    isolate.resume()
    finished = False
    try:
        for request in requests:
            stored = None if again else stored_evidence(store, settings, request.key)
            if stored is not None:
                yield Proved(request.shard, stored, reused=True)
                continue
            task = request.make()
            pending[executor.submit(work, task)] = task
            if len(pending) >= jobs * _AHEAD:
                yield from _ended(pending, store)
        while pending:
            yield from _ended(pending, store)
        finished = True
    finally:
        if not finished:
            for future in pending:
                future.cancel()
            isolate.stop_all()
        executor.shutdown(wait=True, cancel_futures=True)
        nursery.close()


def stored_evidence(store: EvidenceStore, settings: Settings, key: str) -> tuple[Evidence, ...] | None:
    """What `store` has about the code of `key` with this torch, or None where a run could show more.

    What could not be proved is tried again: a compiler or a sample may have come since.
    """
    versions = settings.versions
    entries = [evidence for evidence in store.all(key) if evidence.versions == versions]
    if not entries or settings.repros or any(evidence.outcome == "not provable" for evidence in entries):
        return None
    return tuple(sorted(entries, key=lambda evidence: evidence.operator))


def _ended(pending: dict[Future[list[Evidence]], Task], store: EvidenceStore) -> Iterator[Proved]:
    done, _ = wait(pending, return_when=FIRST_COMPLETED)
    for future in done:
        task = pending.pop(future)
        try:
            evidence = future.result()
        except OSError as error:
            raise SymfixError(f"{task.shard}: {system_error(error)}") from error
        with contextlib.suppress(OSError):
            store.save(*evidence)
        yield Proved(task.shard, tuple(evidence))
