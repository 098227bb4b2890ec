"""Whether a size is behind what changes: the arguments of an operator would else ask for one another, in a circle."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from transforms.cpp.flow.assumptions import Key
from transforms.cpp.flow.outcome import Outcome
from transforms.cpp.flow.saved import is_saved
from transforms.cpp.reach.schemas import Family
from transforms.cpp.reading.facts import Slot


def unasked(outcomes: Mapping[Key, Outcome], families: Sequence[Family]) -> set[Slot]:
    """The slots of those of `families`, of operators that C++ defines, which no size comes to."""
    if not families:
        return set()
    grounded: set[Slot] = set()
    before = -1
    while len(grounded) != before:
        before = len(grounded)
        owners = {(slot.path, slot.start) for slot in grounded}
        for key, outcome in outcomes.items():
            if key in owners or _has_size(outcome, grounded):
                grounded |= outcome.uses | outcome.filled
        for family in families:
            if not grounded.isdisjoint(slot for slot in family.slots if slot.operator):
                grounded |= family.slots
    return {slot for family in families if grounded.isdisjoint(family.slots) for slot in family.slots}


def _has_size(outcome: Outcome, grounded: Collection[Slot]) -> bool:
    """Whether a function asks a tensor for a size, or takes a result or what was saved that comes of one."""
    asks = any(origin >= 0 for emission in outcome.emissions for origin in emission.origins)
    return asks or any(slot.index == -1 or (is_saved(slot) and slot in grounded) for slot in outcome.uses)
