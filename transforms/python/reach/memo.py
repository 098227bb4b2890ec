"""What the calls of a statement gave, and which of them have not ended."""

from __future__ import annotations

from collections.abc import Callable

from transforms.python.reach.registrars import Value

Key = tuple[object, ...]
Evaluate = Callable[[], tuple[Value, ...]]


class Memo:
    """The bindings, imports and calls of wrappers that one statement came to."""

    def __init__(self) -> None:
        self._evaluated: dict[Key, tuple[int, tuple[Value, ...]]] = {}
        """How deep each was evaluated, and what it gave."""
        self._running: set[Key] = set()

    def clear(self) -> None:
        """Another statement begins."""
        self._evaluated.clear()

    def once(self, key: Key, depth: int, evaluate: Evaluate) -> tuple[Value, ...]:
        """What `evaluate` gives or gave before, for what is made of itself adds nothing to what it is."""
        reached, values = self._evaluated.get(key, (depth + 1, ()))
        if reached > depth:
            self._evaluated[key] = (depth, ())
            values = evaluate()
            self._evaluated[key] = (depth, values)
        return values

    def unless_running(self, key: Key, evaluate: Evaluate) -> tuple[Value, ...]:
        """What a call gives; nothing inside of the same call, as of a method that calls itself on its object."""
        if key in self._running:
            return ()
        self._running.add(key)
        try:
            return evaluate()
        finally:
            self._running.remove(key)
