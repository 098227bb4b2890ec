"""The outcomes of a tree's functions: each is found out again only where what it rests on no longer holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Container, Iterable
from functools import partial
from typing import NamedTuple

from codemod.model.transform import Project
from transforms.cpp.flow.answers import Rewrites
from transforms.cpp.flow.assumptions import Assumptions, Key
from transforms.cpp.flow.noted import Answers, Lookup
from transforms.cpp.flow.outcome import Outcome, Task, analyse, tasks_by_file
from transforms.cpp.reach.vocabulary import Vocabulary
from transforms.cpp.reading.facts import Function

_Asked = tuple[Key, bool]
"""A function, and whether it is passive."""


class _Kept(NamedTuple):
    """The outcomes of the functions of one file, and what they rest on beside its bytes and their traces."""

    lookups: frozenset[Lookup]
    answers: str
    outcomes: tuple[tuple[bool, Outcome], ...]


class Outcomes:
    """What was found out so far of functions of `project`, with one vocabulary: in this run, and in earlier ones."""

    def __init__(self, project: Project, vocabulary: Vocabulary, rewrites: Rewrites) -> None:
        self._project = project
        self._vocabulary = vocabulary
        self._rewrites = rewrites
        self._answers = Answers(vocabulary)
        self._found: defaultdict[_Asked, list[Outcome]] = defaultdict(list)
        self._used: defaultdict[str, dict[int, tuple[bool, Outcome]]] = defaultdict(dict)
        self._lookups: defaultdict[str, set[Lookup]] = defaultdict(set)
        self._recalled: set[str] = set()
        self._followed: set[str] = set()

    def of(
        self,
        functions: Iterable[Function],
        assumptions: Assumptions,
        passive: Container[Key] = (),
        label: str = "following values",
    ) -> dict[Key, Outcome]:
        """The outcome of each of `functions`, in the order of the files and in these; `label` is shown meanwhile.

        No symbolic tensor reaches those that are `passive`; they are only asked whether they can follow. Raises
        SymfixError where the analysis of a function fails.
        """
        facts, slots = assumptions.facts(), assumptions.slots()
        asked = {(function.path, function.start): function for function in functions}
        self._recall({path for path, _ in asked})
        outcomes: dict[Key, Outcome] = {}
        for key, function in asked.items():
            for outcome in self._found[key, key in passive]:
                if outcome.trace.holds(facts, slots) and outcome.function == function:
                    outcomes[key] = outcome
                    break
        fresh = [function for key, function in asked.items() if key not in outcomes]
        for outcome in self._follow(fresh, assumptions, passive, label):
            key = outcome.function.path, outcome.function.start
            self._found[key, key in passive].append(outcome)
            outcomes[key] = outcome
        for (path, start), outcome in outcomes.items():
            self._used[path][id(outcome)] = (path, start) in passive, outcome
        return {key: outcomes[key] for key in sorted(outcomes)}

    def keep(self) -> None:
        """Have the next run know what this one used of the files in which it found out something."""
        kept = {}
        for path in self._followed:
            lookups = frozenset(self._lookups[path])
            used = tuple(self._used[path].values())
            kept[path] = _Kept(lookups, self._answers.digest(lookups), used)
        self._project.keep(__name__, kept)

    def _recall(self, paths: Collection[str]) -> None:
        """Take over what an earlier run found out in those files, where it rests on nothing that changed."""
        unseen = sorted(set(paths) - self._recalled)
        self._recalled.update(unseen)
        for path, kept in self._project.recall(__name__, unseen).items():
            if isinstance(kept, _Kept) and kept.answers == self._answers.digest(kept.lookups):
                self._lookups[path] |= kept.lookups
                for passive, outcome in kept.outcomes:
                    self._found[(path, outcome.function.start), passive].append(outcome)

    def _follow(
        self, functions: Iterable[Function], assumptions: Assumptions, passive: Container[Key], label: str
    ) -> Iterable[Outcome]:
        tasks = [
            Task(
                path,
                self._project.read(path),
                tuple(in_file),
                self._vocabulary,
                assumptions,
                frozenset(f.start for f in in_file if (path, f.start) in passive),
            )
            for path, in_file in tasks_by_file(functions).items()
        ]
        work, sizes = partial(analyse, self._rewrites), [len(task.source) for task in tasks]
        made = self._project.map(work, tasks, label, sizes)
        for task, (outcomes, lookups) in zip(tasks, made, strict=True):
            self._followed.add(task.path)
            self._lookups[task.path] |= lookups
            yield from outcomes
