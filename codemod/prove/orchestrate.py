"""Proving many shards in parallel; evidence that is stored already is reused."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass

from codemod.planning.naming import base_name
from codemod.prove.evidence import Evidence, EvidenceStore
from codemod.prove.executor import work_through
from codemod.prove.task import Settings, Task
from codemod.prove.work import prove

_AHEAD = 2  # tasks prepared for each that is worked on: preparing reads the tree


@dataclass(frozen=True, slots=True)
class ProofRequest:
    """A shard to prove: the key of its evidence, and what makes its task, which takes longer than a look-up."""

    shard: str
    key: str
    make: Callable[[], Task]
    named: frozenset[str] = frozenset()
    """The operators of the shard that the user has named, which are to be among those that are run."""

    def __str__(self) -> str:
        return self.shard


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
    whole: Callable[[], Settings] | None = None,
) -> Generator[Proved, None, None]:
    """The evidence for each shard, as it comes about; `again` runs also those that `store` has evidence for.

    `whole` gives `settings` with all that a run needs beside, and is asked once something is run.
    Ends all processes it has started, and waits for them, when the caller stops early or is interrupted.
    """

    @functools.cache
    def work() -> Callable[[Task], Sequence[Evidence]]:
        return functools.partial(prove, whole() if whole is not None else settings)

    def stored(request: ProofRequest) -> Sequence[Evidence] | None:
        evidence = None if again else stored_evidence(store, settings, request.key)
        unseen = {base_name(name) for name in request.named} - {base_name(entry.operator) for entry in evidence or ()}
        if evidence and unseen:  # a run of others was kept; these may be no operators that can be run
            operators = {name for override in request.make().overrides for name in override.operators}
            return evidence if unseen.isdisjoint(map(base_name, operators)) else None
        return evidence

    def submit(request: ProofRequest) -> Future[Sequence[Evidence]]:
        task = request.make()  # before what `whole` may wait for
        return executor.submit(work(), task)

    ended = work_through(executor, requests, stored, submit, jobs * _AHEAD)
    with contextlib.closing(ended):
        for request, evidence, reused in ended:
            if not reused:
                others = () if again else stored_evidence(store, settings, request.key) or ()
                seen = {entry.operator for entry in evidence}
                with contextlib.suppress(OSError):
                    store.save(*evidence, *(entry for entry in others if entry.operator not in seen))
            yield Proved(request.shard, tuple(evidence), reused)


def stored_evidence(store: EvidenceStore, settings: Settings, key: str) -> tuple[Evidence, ...] | None:
    """What `store` has about the code of `key` with this torch, or None where a run could show more.

    What could not be proved is tried again: a compiler or a sample may have come since.
    """
    versions = settings.versions
    entries = [evidence for evidence in store.all(key) if evidence.versions == versions]
    if not entries or settings.repros or any(evidence.outcome == "not provable" for evidence in entries):
        return None
    return tuple(sorted(entries, key=lambda evidence: evidence.operator))
