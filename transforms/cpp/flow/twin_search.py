"""Between functions: helpers that cannot change, as others need them with integers, and gain a symbolic twin instead.

A twin is written where the helper's body converts whole, and stays while a function that symbols reach calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from transforms.cpp.flow.assumptions import Key
from transforms.cpp.flow.outcome import Outcome
from transforms.cpp.flow.twins import is_twin, twin_slot
from transforms.cpp.reading.facts import PART, Function, Slot
from transforms.cpp.reading.types import symbolic_spelling, template_arguments

_ROUNDS = 6
Wanted = dict[Key, set[int]]
"""What is symbolic of each helper's twin: indexes of parameters, -1 for the result, PART and lower for parts of it."""


class TwinSearch:
    """The search for helpers that gain a twin; `find` gives their bodies."""

    def __init__(
        self,
        helpers: Mapping[Key, Function],
        may_have: Callable[[Function], bool],
        follow: Callable[[Function, frozenset[Slot]], Outcome],
    ) -> None:
        """`may_have` says whether a twin may stand beside a helper; `follow` reads one with slots that are settled."""
        self._helpers = helpers
        self._may_have = may_have
        self._follow = follow

    def find(self, outcomes: Iterable[Outcome], settled: frozenset[Slot]) -> frozenset[Slot]:
        """The slots of the twins that the refusals of `outcomes` ask for, and whose bodies hold."""
        wanted: Wanted = {}
        self._ask(outcomes, settled, wanted)
        bodies: dict[Key, Outcome] = {}
        for _ in range(_ROUNDS):
            bodies = self._bodies(wanted, settled)
            if not self._ask(bodies.values(), settled, wanted):
                break
        while failed := [key for key, body in bodies.items() if not _holds(body, wanted[key])]:
            for key in failed:
                del wanted[key]
            bodies = self._bodies(wanted, settled)
        return _twins(wanted)

    def bodies(self, settled: frozenset[Slot]) -> dict[Key, Outcome]:
        """What comes of the bodies of the twins that are settled, of those that hold."""
        wanted: Wanted = {}
        for slot in filter(is_twin, settled):
            wanted.setdefault((slot.path, slot.start), set()).add(twin_slot(slot).index)
        return {key: body for key, body in self._bodies(wanted, settled).items() if _holds(body, wanted[key])}

    def _bodies(self, wanted: Wanted, settled: frozenset[Slot]) -> dict[Key, Outcome]:
        """The bodies of twins, which may call each other."""
        others = settled | _twins(wanted)
        return {key: self._follow(self._helpers[key], others | _slots(key, indexes)) for key, indexes in wanted.items()}

    def _ask(self, outcomes: Iterable[Outcome], settled: frozenset[Slot], wanted: Wanted) -> bool:
        """Note the slots that sinks ask for and nothing settles; whether there are more than before."""
        changed = {(slot.path, slot.start) for slot in settled if not is_twin(slot)}
        before = sum(map(len, wanted.values()))
        for slot in (sink.slot for outcome in outcomes for sink in outcome.refusals):
            key = (slot.path, slot.start) if slot is not None else None
            helper = self._helpers.get(key) if key is not None else None
            if slot is None or key is None or helper is None or slot.member or key in changed:
                continue
            if has_symbolic_type(helper, slot.index) and (key in wanted or self._may_have(helper)):
                wanted.setdefault(key, set()).add(slot.index)
        return sum(map(len, wanted.values())) > before


def has_symbolic_type(function: Function, index: int) -> bool:
    """Whether what a slot of a function is spelled as has a symbolic counterpart."""
    if index >= 0:
        return symbolic_spelling(function.params[index].type) is not None
    parts = template_arguments(function.returns) if index <= PART else [function.returns]
    place = PART - index if index <= PART else 0
    return place < len(parts) and symbolic_spelling(parts[place]) is not None


def _slots(key: Key, indexes: Iterable[int]) -> frozenset[Slot]:
    return frozenset(Slot(*key, index) for index in indexes)


def _twins(wanted: Wanted) -> frozenset[Slot]:
    return frozenset(twin_slot(slot) for key, indexes in wanted.items() for slot in _slots(key, indexes))


def _holds(body: Outcome, indexes: set[int]) -> bool:
    """Whether the body of a twin converts whole, with nothing in it that needs a person's eye."""
    unread = body.lost or body.unknown or body.unreadable or body.iterators or body.template or body.guarded
    stopped = body.concrete or body.conflicts or body.dropped or body.blocked or body.stuck
    return not (unread or stopped) and all(index in body.gives for index in indexes if index < 0)
