"""The outcomes of a tree's functions: each is found out again only where what it rests on no longer holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable
from functools import partial

from codemod.model.transform import Project
from transforms.cpp.flow.answers import Rewrites
from transforms.cpp.flow.assumptions import Assumptions, Key
from transforms.cpp.flow.outcome import Outcome, Task, analyse, tasks_by_file
from transforms.cpp.reach.vocabulary import Vocabulary
from transforms.cpp.reading.facts import Function


class Outcomes:
    """What was found out so far of functions of `project`, with one vocabulary."""

    def __init__(self, project: Project, vocabulary: Vocabulary, rewrites: Rewrites) -> None:
        self._project = project
        self._vocabulary = vocabulary
        self._rewrites = rewrites
        self._found: defaultdict[tuple[Key, bool], list[Outcome]] = defaultdict(list)

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
        outcomes: dict[Key, Outcome] = {}
        for key in asked:
            for outcome in self._found[key, key in passive]:
                if outcome.trace.holds(facts, slots):
                    outcomes[key] = outcome
                    break
        fresh = [function for key, function in asked.items() if key not in outcomes]
        for outcome in self._follow(fresh, assumptions, passive, label):
            key = outcome.function.path, outcome.function.start
            self._found[key, key in passive].append(outcome)
            outcomes[key] = outcome
        return {key: outcomes[key] for key in sorted(outcomes)}

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
        for outcomes in self._project.map(work, tasks, label, sizes):
            yield from outcomes
