"""The compiler's part of the proof of a split: with each shard on its bases, what compiled before still compiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from codemod.bundle.commits import Step
from codemod.errors import SymfixError, system_error
from codemod.prove.build import sides
from codemod.prove.check import Checked, check
from codemod.prove.compiling import in_parallel
from codemod.prove.evidence import FOLDER, EvidenceStore, evidence_key
from codemod.prove.session import Provers
from codemod.prove.task import Settings, Task
from codemod.terminal import one_line
from codemod.writing.changes import Change, changes_in


@dataclass(frozen=True, slots=True)
class Compiled:
    """What compiling the sources of all shards showed, where it broke none."""

    sources: int
    """How many compile before and after; one that two shards change counts twice."""
    proved: int
    """Those of them that `symfix prove` had compiled."""
    unknown: tuple[str, ...]
    """The sources that show nothing, mostly because they do not compile before either."""
    reason: str
    """What is wrong with the first of them."""


def any_source(steps: Sequence[Step], provers: Provers) -> bool:
    """Whether `steps` change anything that a compiler can check."""
    return any(prover.checked(tuple(step.files), ()) for step in steps for prover in provers)


def check_compiles(
    steps: Sequence[Step],
    sources: Mapping[str, bytes],
    provers: Provers,
    settings: Settings,
    journal: Path,
    jobs: int,
) -> Compiled:
    """Compile the sources of each of `steps` as the commit has them, and with the step and all that it stands on.

    The tree of `settings` is that of the commit that the steps are made from.

    What `symfix prove` compiled of the same code, by its evidence in `journal`, is not compiled again.
    Raises SymfixError, which names the first shard that breaks a source and the edit, without waiting for others.
    """
    store = EvidenceStore(journal / FOLDER)
    tasks = []
    proved = 0
    for step, changes in _on_their_bases(steps, sources):
        key = evidence_key(changes)
        proved_paths = _proved(store, settings, key)
        paths = dict.fromkeys(p for prover in provers for p in prover.checked(tuple(step.files), proved_paths))
        left = tuple(path for path in paths if path not in proved_paths)
        proved += len(paths) - len(left)
        if left:
            tasks.append(Task(step.shard.name, key, changes, (), left))
    compiled = proved
    unknown: dict[str, str] = {}
    with closing(in_parallel("compiling the shards", partial(_check, settings), tasks, jobs)) as results:
        for task, checked in results:
            if checked.broken:
                raise SymfixError(
                    f"the shard {task.shard} alone {one_line(checked.broken)}; {_over(settings)}, nothing was made"
                )
            compiled += len(checked.compiled)
            for path in task.checked:
                if path not in checked.compiled:
                    unknown.setdefault(path, checked.reason)
    return Compiled(compiled, proved, tuple(unknown), one_line(next(iter(unknown.values()), "")))


def _over(settings: Settings) -> str:
    over = f"compiled over torch {settings.target.torch_version}"
    if settings.same_version:
        return over
    return f"{over}, while the checkout is {settings.version} (--python names an interpreter with that torch)"


def _on_their_bases(steps: Sequence[Step], sources: Mapping[str, bytes]) -> Iterator[tuple[Step, tuple[Change, ...]]]:
    """Each step with all that its branch changes in code; edits of tests are left out, which no compiler reads."""
    by_name = {step.shard.name: step for step in steps}
    for step in steps:
        groups = list(step.shard.groups)
        below = step.parent
        while below:
            groups += by_name[below].shard.groups
            below = by_name[below].parent
        yield step, changes_in(groups, sources)


def _proved(store: EvidenceStore, settings: Settings, key: str) -> frozenset[str]:
    """The sources that `symfix prove` compiled before and after the change of `key`, with this torch and compiler."""
    versions = {(name, settings.versions[name]) for name in ("torch", "compiler")}
    return frozenset(path for entry in store.all(key) if versions <= entry.versions.items() for path in entry.compiled)


def _check(settings: Settings, task: Task) -> Checked:
    try:
        return check(settings, task, *sides(settings, task.changes))
    except OSError as error:
        raise SymfixError(f"{task.shard}: {system_error(error)}") from error
