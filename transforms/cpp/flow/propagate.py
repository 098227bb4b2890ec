"""Between functions: which helper parameters and results become symbolic, so that a chain can go on through them.

A slot (a parameter or a result) is tried because a value would flow into it. It is given up when the
helper's own body cannot bear it, or when any caller in the tree cannot serve it; then everything that
hoped for it is analysed again without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from codemod.model.transform import Project
from transforms.cpp.flow.assumptions import Assumptions, Key
from transforms.cpp.flow.engine import RENAMED, own_result_origin, parameter_origin
from transforms.cpp.flow.grounds import unasked
from transforms.cpp.flow.outcome import Outcome
from transforms.cpp.flow.outcomes import Outcomes
from transforms.cpp.flow.saved import is_saved
from transforms.cpp.flow.twin_search import TwinSearch, has_symbolic_type
from transforms.cpp.flow.twins import is_twin, twin_slot
from transforms.cpp.reach.alternatives import Alternatives
from transforms.cpp.reach.calls import called_as, called_names
from transforms.cpp.reach.schemas import Family, links
from transforms.cpp.reading.facts import FileFacts, Function, Slot
from transforms.cpp.reading.marks import masked
from transforms.cpp.reading.records import copies_bytes, find_member
from transforms.cpp.reading.syntax import parse_file
from transforms.cpp.reading.types import symbolic_spelling

_ROUNDS = 12


@dataclass(slots=True)
class Propagation:
    """What was settled, and the outcomes of the functions that it changed."""

    settled: frozenset[Slot]
    outcomes: dict[Key, Outcome]
    families: tuple[Family, ...] = ()
    """The families that hold as a whole."""
    twins: Mapping[Key, Outcome] = field(default_factory=dict)
    """The helpers that gain a twin, each with what comes of the twin's body."""
    alternatives: frozenset[frozenset[Key]] = frozenset()
    """The definitions of each settled function that has more than one."""

    @property
    def renamed(self) -> frozenset[Key]:
        """The kernels that gain the name `…_symint`."""
        return _kernels(self.families)


class Propagator:
    """The search for slots; `run` gives the result."""

    def __init__(
        self,
        project: Project,
        facts: Mapping[str, FileFacts],
        followed: Outcomes,
        dead: Assumptions,
        reached: Callable[[Function], bool],
        eligible: Callable[[Function, int], bool],
        families: Sequence[Family] = (),
        may_have_twin: Callable[[Function], bool] = lambda function: False,
    ) -> None:
        """`followed` gives the outcomes, with the dead ends of `dead`.

        `may_have_twin` says whether a twin may stand beside a helper that cannot change.
        """
        self.followed = followed
        self.dead = dead
        self.project = project
        self.reached = reached
        self.eligible = eligible
        self.definitions = {(f.path, f.start): f for file in facts.values() for f in file.functions if f.body >= 0}
        self.alternatives = Alternatives(self.definitions.values())
        self.families = [f for f in families if all(map(partial(self._follows, f), f.slots))]
        self.demanded = {slot: family.slots for family in self.families if family.operator for slot in family.slots}
        """The slots of families that change only where something asks for it, each with all of its family."""
        self.links = links(self.families)
        self.callers: dict[str, list[Key]] = {}
        for key, function in self.definitions.items():
            for name in _names_called(function):
                self.callers.setdefault(name, []).append(key)
        self.settled: set[Slot] = set()
        self.refused: set[Slot] = set()
        self.outcomes: dict[Key, Outcome] = {}
        self.twins = TwinSearch(self.definitions, may_have_twin, self._follow)
        self.bodies: dict[Key, Outcome] = {}
        """Those of the twins."""

    def run(self, base: Mapping[Key, Outcome]) -> Propagation:
        """Settle what the refusals of `base` ask for, as far as it holds."""
        seeds = {slot for family in self.families for slot in family.slots} - self.demanded.keys()
        self.settled |= seeds
        changed = self._grow(seeds | self._ask(base.values()))
        self._take_back(changed | self._refuse(self._refusals(self.outcomes, set()) | self._unneeded()))
        self._write_twins(base)
        self._retry_families(base)
        settled = frozenset(self.settled)
        owners = {(slot.path, slot.start) for slot in settled if not is_twin(slot)}
        outcomes = {key: outcome for key, outcome in self.outcomes.items() if key in owners or outcome.uses & settled}
        groups = frozenset(
            self.alternatives.groups([self.definitions[key] for key in owners & self.definitions.keys()])
        )
        return Propagation(settled, outcomes, self._whole_families(), self.bodies, groups)

    def _grow(self, changed: set[Slot]) -> set[Slot]:
        """Settle what is asked for where slots are `changed`; what has changed last, at the end."""
        for _ in range(_ROUNDS):
            if not changed:
                break
            fresh = self._analyse(self._affected(changed))
            self.outcomes.update(fresh)
            requested = self._ask(fresh.values())
            changed = self._refuse(self._refusals(fresh, requested, growing=True)) | requested
        return changed

    def _take_back(self, changed: set[Slot]) -> None:
        """Nothing more is settled: refuse until everything that stands is consistent."""
        while changed:
            fresh = self._analyse(self._affected(changed))
            self.outcomes.update(fresh)
            changed = self._refuse(self._refusals(fresh, set()))
            changed |= self._refuse(self._unneeded())

    def _write_twins(self, base: Mapping[Key, Outcome]) -> None:
        """Settle the twins of helpers that could not change, and the helpers that all callers would leave for one."""
        added: set[Slot] = set()
        for _ in range(_ROUNDS):  # what a twin returns may go on to another helper
            new = self._wanted_twins(base)
            if not new:
                break
            added |= new
            self.settled |= new
            self.outcomes.update(self._analyse(self._affected(new)))
        self._take_back_twins(added)
        self._take_back_twins(self._replace_helpers())

    def _retry_families(self, base: Mapping[Key, Outcome]) -> None:
        """Try the operators again whose kernels come to helpers that have twins by now, which may take more."""
        pending = {(slot.path, slot.start) for slot in self.settled if is_twin(slot)}
        calling: set[Key] = set()
        while pending:
            callers = self.callers.get(called_as(self.definitions[pending.pop()]), ())
            pending |= set(callers) - calling
            calling |= set(callers)
        again: set[Slot] = set()
        for family in self.families:
            refused = bool(family.operator) and not self.refused.isdisjoint(family.slots)
            if refused and any((slot.path, slot.start) in calling for slot in family.slots):
                again |= family.slots
        if again:
            self.refused.clear()
            self.settled |= again
            self.outcomes.update(self._analyse(self._affected(again)))
            new = self._wanted_twins(base)
            self.settled |= new
            changed = self._grow(again | new)
            changed |= self._refuse(self._refusals(self.outcomes, set()) | self._unneeded())
            self._take_back_twins(changed | again)
            self._write_twins(base)

    def _wanted_twins(self, base: Mapping[Key, Outcome]) -> set[Slot]:
        """The slots of twins that are asked for and not settled."""
        latest = {**base, **self.outcomes}.values()
        wanted = self.twins.find([o for o in latest if self.reached(o.function)], frozenset(self.settled))
        return set(wanted - self.settled)

    def _take_back_twins(self, changed: set[Slot]) -> None:
        """`_take_back`, until the bodies of all twins hold as well."""
        while changed:
            self.bodies = self.twins.bodies(frozenset(self.settled))
            self._take_back(changed)
            self.bodies = self.twins.bodies(frozenset(self.settled))
            gone = {slot for slot in self.settled if is_twin(slot) and (slot.path, slot.start) not in self.bodies}
            changed = self._refuse(gone | self._unneeded())

    def _replace_helpers(self) -> set[Slot]:
        """Settle the helpers that all their callers would have left for a twin; the slots that this changes."""
        changed: set[Slot] = set()
        for key, body in self.bodies.items():
            helper = body.function
            twin = {slot for slot in self.settled if is_twin(slot) and (slot.path, slot.start) == key}
            own = {twin_slot(slot) for slot in twin}
            callers = [self.outcomes.get(caller) for caller in self.callers.get(called_as(helper), ())]
            left = all(caller is not None and twin <= caller.uses for caller in callers)
            if left and all(self.eligible(helper, slot.index) for slot in own):
                self.settled = (self.settled - twin) | own
                self.refused -= own
                changed |= twin | own
        return changed

    def _follow(self, function: Function, settled: frozenset[Slot]) -> Outcome:
        """What comes of one function, no passive one, with slots that are settled."""
        return self.followed.of([function], self._assumptions(settled))[function.path, function.start]

    def _assumptions(self, settled: frozenset[Slot]) -> Assumptions:
        return replace(self.dead, settled=settled, renamed=_kernels(self._whole_families()))

    def _whole_families(self) -> tuple[Family, ...]:
        return tuple(family for family in self.families if family.slots <= self.settled)

    def _refuse(self, slots: set[Slot]) -> set[Slot]:
        """Give up `slots` and all that is linked to them."""
        gone: set[Slot] = set()
        pending = list(slots)
        while pending:
            slot = pending.pop()
            if slot not in gone:
                gone.add(slot)
                pending += (*self.links.get(slot, ()), *self._elsewhere(slot))
        self.settled -= gone
        self.refused |= gone
        return gone

    def _elsewhere(self, slot: Slot) -> tuple[Slot, ...]:
        """What a slot of a function is in its other definitions."""
        function = self.definitions.get((slot.path, slot.start))
        return () if function is None or is_twin(slot) else tuple(self.alternatives.slots(slot, function))

    def _follows(self, family: Family, slot: Slot) -> bool:
        """Whether a slot of a family may change, and no definition that the family lacks would have to as well."""
        return self.project.selected(slot.path) and family.slots.issuperset(self._elsewhere(slot))

    def _unneeded(self) -> set[Slot]:
        """Slots whose reason went away: no caller gives the parameter a symbolic value, no such value is returned."""
        used = frozenset[Slot]().union(*(o.uses for o in (*self.outcomes.values(), *self.bodies.values())))
        filled = frozenset[Slot]().union(*(outcome.filled for outcome in self.outcomes.values()))

        def needed(slot: Slot) -> bool:
            owner = self.outcomes.get((slot.path, slot.start))
            if is_twin(slot) or slot.member:
                return slot in (filled if slot.member else used)
            if slot.index < 0:
                return owner is None or slot.index in owner.gives
            return slot in used or slot in self.links

        gone = {slot for slot in self.settled if not any(map(needed, (slot, *self._elsewhere(slot))))}
        return gone | unasked(self.outcomes, [family for family in self._whole_families() if family.operator])

    def _ask(self, outcomes: Iterable[Outcome]) -> set[Slot]:
        """New slots that sinks ask for."""
        requested: set[Slot] = set()
        for outcome in outcomes:
            if not self.reached(outcome.function):
                continue
            for slot in (*(sink.slot for sink in outcome.refusals), *sorted(outcome.wanted, key=lambda s: s.index)):
                if slot is None or slot in self.settled or slot in self.refused:
                    continue
                together = {slot, *self.demanded.get(slot, ()), *self._elsewhere(slot)}
                if self.refused.isdisjoint(together) and all(map(self._may_change, together)):
                    requested |= together
                else:
                    self.refused.add(slot)
        self.settled |= requested
        return requested

    def _may_change(self, slot: Slot) -> bool:
        """Whether a slot can be tried; of a family, and of all definitions of a function, all are tried together."""
        if slot in self.demanded:
            return True
        if is_saved(slot):
            return self.project.selected(slot.path)
        function = self.definitions.get((slot.path, slot.start))
        if slot.member or function is None:
            return bool(slot.member) and self._is_member(slot)
        return has_symbolic_type(function, slot.index) and self.eligible(function, slot.index)

    def _is_member(self, slot: Slot) -> bool:
        """Whether a slot is a member of a struct that holds plain data, of one source file and nothing else."""
        owner, _, name = slot.member.rpartition("::")
        source = self.project.read(slot.path)
        hidden = copies_bytes(source) or name in masked(source).elsewhere
        member = None if hidden else find_member(parse_file(source)[0].root_node, owner, name)
        text = member.spelled.text if member is not None else None
        return self.project.selected(slot.path) and text is not None and symbolic_spelling(text.decode()) is not None

    def _affected(self, slots: Iterable[Slot]) -> set[Key]:
        keys: set[Key] = set()
        members = {slot.path for slot in slots if slot.member}
        keys |= {key for key in self.definitions if key[0] in members} if members else set()
        for slot in slots:
            owner = self.definitions.get((slot.path, slot.start))
            if owner is not None:
                keys.add((slot.path, slot.start))
            if owner is not None or slot.operator:
                keys.update(self.callers.get(self._name_of(slot), ()))
        return keys

    def _analyse(self, keys: Iterable[Key]) -> dict[Key, Outcome]:
        functions = [self.definitions[key] for key in keys]
        passive = {(function.path, function.start) for function in functions if self._passive(function)}
        label = "following values into helpers"
        return self.followed.of(functions, self._assumptions(frozenset(self.settled)), passive, label)

    def _passive(self, function: Function) -> bool:
        return not self.reached(function) and not self._owns(function)

    def _name_of(self, slot: Slot) -> str:
        """What calls the function or the operator that a slot belongs to (`_names_called`)."""
        return slot.operator or called_as(self.definitions[slot.path, slot.start])

    def _owns(self, function: Function) -> bool:
        own = (slot for slot in self.settled if slot.path == function.path and slot.start == function.start)
        return not all(map(is_twin, own))

    def _refusals(self, fresh: Mapping[Key, Outcome], requested: set[Slot], *, growing: bool = False) -> set[Slot]:
        """Settled slots that an outcome shows to be impossible, even when those just `requested` are granted.

        While slots are still asked for, `growing`, a caller that gives an integer may come to give a symbolic value.
        """
        refused: set[Slot] = set()
        for (path, start), outcome in fresh.items():
            own = {s for s in self.settled if s.path == path and s.start == start and not is_twin(s)}
            if outcome.lost:
                refused |= own
                callees = _names_called(outcome.function)
                helpers = (slot for slot in self.settled if not slot.member and not is_twin(slot))
                refused |= {slot for slot in helpers if self._name_of(slot) in callees}
                refused |= {slot for slot in self.settled if slot.member and slot.path == path}
                continue
            for slot in own:
                origin = own_result_origin(slot.index) if slot.index < 0 else parameter_origin(slot.index)
                if origin in outcome.concrete and not _hopeful(outcome, origin, requested):
                    refused.add(slot)
            if not growing:
                refused |= outcome.conflicts
                # No tensor with symbols gets through this kernel, whatever the schema says.
                refused |= own & self.demanded.keys() if outcome.stuck else set()
            refused |= {slot for slot, origin in outcome.dropped if not _hopeful(outcome, origin, requested)}
            passive = not self.reached(outcome.function) and not own
            if passive and any(emission.origins != {RENAMED} for emission in outcome.emissions):
                refused |= outcome.uses  # but its integers go to a kernel that takes SymInts, under whatever name
        return refused & self.settled


def _kernels(families: Iterable[Family]) -> frozenset[Key]:
    return frozenset(key for family in families for key in family.kernels)


def _names_called(function: Function) -> set[str]:
    """The names of the functions that a function calls, and of the operators that it asks the dispatcher for."""
    return called_names(function) | {lookup.operator for lookup in function.lookups}


def _hopeful(outcome: Outcome, origin: int, requested: set[Slot]) -> bool:
    """Whether every sink that `origin` reached may go away with the slots just asked for."""
    met = [sink for sink in outcome.refusals if origin in sink.origins]
    return bool(met) and all(sink.slot in requested for sink in met)
