"""The state of a review: the current item, the decisions, and undo. It draws nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from codemod.model.decisions import Choice, Decision, decide
from codemod.model.edits import Edit
from codemod.planning.decision_store import DecisionStore
from codemod.review.items import Item


@dataclass(frozen=True, slots=True)
class _Step:
    """What one key press decided: what stood before, and where it was pressed."""

    before: dict[str, Decision | None]
    at: int


class Session:
    """A review of `items`, of which there is at least one. Every decision is kept in `store` before it counts here."""

    def __init__(
        self, items: Sequence[Item], hashes: Mapping[str, str], decisions: Iterable[Decision], store: DecisionStore
    ) -> None:
        self.items = items
        self.decisions: dict[str, Decision] = {decision.id: decision for decision in decisions}
        self._hashes = hashes
        self._store = store
        self._steps: list[_Step] = []
        self.at = self._undecided_from(0) or 0

    @property
    def item(self) -> Item:
        """The change in view."""
        return self.items[self.at]

    def choice(self, item: Item) -> Choice | None:
        """What is decided on `item`."""
        decision = self.decisions.get(item.id)
        return decision.choice if decision else None

    def counts(self) -> Counter[Choice | None]:
        """How many changes are decided in each way."""
        return Counter(self.choice(item) for item in self.items)

    def decide(self, choice: Choice, edits: Iterable[Edit] = ()) -> bool:
        """Decide the change in view and go to the next undecided; returns whether there is one.

        Raises SymfixError where the decision cannot be kept; nothing is decided then.
        """
        self._keep([decide(self.item.group, choice, self._hashes, edits)])
        return self.advance()

    def decide_rest(self, choice: Choice) -> int:
        """Decide the change in view, and the undecided of its operator after it; returns how many that was.

        Raises SymfixError where the decisions cannot be kept; nothing is decided then.
        """
        shard = self.item.shard.name
        rest = [
            item
            for number, item in enumerate(self.items)
            if number == self.at or (number > self.at and item.shard.name == shard and self.choice(item) is None)
        ]
        self._keep([decide(item.group, choice, self._hashes) for item in rest])
        self.advance()
        return len(rest)

    def undo(self) -> bool:
        """Take back the last key press that decided something, and go there; returns whether there was one.

        Raises SymfixError where that cannot be kept.
        """
        if not self._steps:
            return False
        step = self._steps[-1]
        self._store.set(step.before, [decision for decision in step.before.values() if decision])
        for name, decision in step.before.items():
            if decision:
                self.decisions[name] = decision
            else:
                del self.decisions[name]
        self._steps.pop()
        self.at = step.at
        return True

    def move(self, by: int) -> bool:
        """Go `by` changes on or back; returns whether that far there are any."""
        if not 0 <= self.at + by < len(self.items):
            return False
        self.at += by
        return True

    def advance(self) -> bool:
        """Go to the next undecided change, after the last one to the first; returns whether there is one."""
        place = self._undecided_from(self.at + 1)
        if place is not None:
            self.at = place
        return place is not None

    def _undecided_from(self, start: int) -> int | None:
        count = len(self.items)
        around = ((start + step) % count for step in range(count))
        return next((place for place in around if self.choice(self.items[place]) is None), None)

    def _keep(self, decisions: Sequence[Decision]) -> None:
        self._store.set([decision.id for decision in decisions], decisions)
        self._steps.append(_Step({decision.id: self.decisions.get(decision.id) for decision in decisions}, self.at))
        self.decisions.update((decision.id, decision) for decision in decisions)
