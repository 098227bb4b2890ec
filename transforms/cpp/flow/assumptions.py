"""What the search between functions holds at a time, and what of it the outcome of one function rests on.

An outcome follows from the function's source, the vocabulary, and what the search answered where it was asked. Where
each of these answers would be given again, so would the outcome: it need not be found out again. Build systems call
such a record a verifying trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from transforms.cpp.reading.facts import Function, Slot

Key = tuple[str, int]
"""(path, start) of a function."""
Place = str | Key
"""A function; or a file, for the members of its classes and what its autograd functions save."""
Fact = Slot | tuple[str, str | Key]
"""A slot that is settled, or a kind of assumption and what it is made of."""
_RENAMED, _DEAD_END, _DEAD_OPERATOR = "renamed", "dead end", "dead operator"
_ANYTHING = ("settled", "anything")


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What a function is followed with; the vocabulary, which stays the same, is not among it."""

    settled: frozenset[Slot] = frozenset()
    """Parameters, results, members and arguments of schemas that the plan makes symbolic."""
    renamed: frozenset[Key] = frozenset()
    """Kernels that gain the name `…_symint`."""
    dead_ends: frozenset[Key] = frozenset()
    """Functions of the tree that no symbolic tensor gets through."""
    dead_operators: frozenset[str] = frozenset()
    """Base names of operators of the tree that no symbolic tensor gets through, though they have a kernel for it."""

    def facts(self) -> frozenset[Fact]:
        """All of it in one set, and whether anything is settled."""
        return frozenset(
            chain(
                self.settled,
                ((_RENAMED, key) for key in self.renamed),
                ((_DEAD_END, key) for key in self.dead_ends),
                ((_DEAD_OPERATOR, name) for name in self.dead_operators),
                (_ANYTHING,) if self.settled else (),
            )
        )

    def slots(self) -> Mapping[Place, frozenset[Slot]]:
        """The settled slots by their function, those of members and of what is saved by their file."""
        places: dict[Place, set[Slot]] = {}
        for slot in self.settled:
            places.setdefault(_place(slot), set()).add(slot)
        return {place: frozenset(slots) for place, slots in places.items()}


@dataclass(frozen=True, slots=True)
class Trace:
    """What was asked while one function was followed, by the answers."""

    held: frozenset[Fact] = frozenset()
    lacked: frozenset[Fact] = frozenset()
    slots: tuple[tuple[Place, frozenset[Slot]], ...] = ()
    """All settled slots of a place."""

    def holds(self, facts: frozenset[Fact], slots: Mapping[Place, frozenset[Slot]]) -> bool:
        """Whether all would be answered so again; `facts` and `slots` are what the methods of Assumptions return."""
        same = self.held <= facts and self.lacked.isdisjoint(facts)
        return same and all(slots.get(place, frozenset()) == found for place, found in self.slots)


NOTHING_ASKED = Trace()


class Asked:
    """The assumptions as one function asks them: each answer is noted for its trace."""

    def __init__(self, assumptions: Assumptions) -> None:
        self._assumptions = assumptions
        self._answers: dict[Fact, bool] = {}
        self._slots: dict[Place, frozenset[Slot]] = {}

    def trace(self) -> Trace:
        """All that was asked so far."""
        held = frozenset(fact for fact, answer in self._answers.items() if answer)
        return Trace(held, frozenset(self._answers.keys() - held), tuple(self._slots.items()))

    def is_settled(self, slot: Slot) -> bool:
        """Whether the plan makes a slot symbolic."""
        answer = self._answers[slot] = slot in self._assumptions.settled
        return answer

    def settled_among(self, slots: Iterable[Slot]) -> set[Slot]:
        """Those of `slots` that are settled."""
        return {slot for slot in slots if self.is_settled(slot)}

    def settled_of(self, function: Function) -> frozenset[Slot]:
        """All settled slots of a function, those of its twin included."""
        return self._at((function.path, function.start))

    def settled_members(self, path: str) -> frozenset[Slot]:
        """All settled members of the classes of a file, and what its autograd functions save."""
        return self._at(path)

    def is_anything_settled(self) -> bool:
        """Whether there is any settled slot at all."""
        answer = self._answers[_ANYTHING] = bool(self._assumptions.settled)
        return answer

    def is_renamed(self, kernel: Function) -> bool:
        """Whether a kernel gains the name `…_symint`."""
        key = kernel.path, kernel.start
        answer = self._answers[_RENAMED, key] = key in self._assumptions.renamed
        return answer

    def is_dead_end(self, function: Function) -> bool:
        """Whether no symbolic tensor gets through a function."""
        key = function.path, function.start
        answer = self._answers[_DEAD_END, key] = key in self._assumptions.dead_ends
        return answer

    def is_dead_operator(self, name: str) -> bool:
        """Whether no symbolic tensor gets through any kernel of an operator, given by its base name."""
        answer = self._answers[_DEAD_OPERATOR, name] = name in self._assumptions.dead_operators
        return answer

    def _at(self, place: Place) -> frozenset[Slot]:
        if place not in self._slots:
            self._slots[place] = frozenset(slot for slot in self._assumptions.settled if _place(slot) == place)
        return self._slots[place]


def _place(slot: Slot) -> Place:
    return slot.path if slot.member else (slot.path, slot.start)
