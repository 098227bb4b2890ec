"""What the rules make of an event: the edits of those that answer its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from transforms.cpp.flow.events import Event, Replacement
from transforms.cpp.flow.state import Emission

Rewrite = Callable[[Event], Iterator[Replacement]]
Rewrites = Mapping[type[Event], Sequence[tuple[str, Rewrite]]]
"""For each kind of event the names and functions of the rules that answer it."""


def emit(rewrites: Rewrites, event: Event) -> Iterator[Emission]:
    """The edits that the rules answering `event` make there, for the sake of its origins; none where it has none."""
    if event.origins:
        for rule, rewrite in rewrites.get(type(event), ()):
            for part in rewrite(event):
                yield Emission(rule, part.start, part.end, part.new, event.origins, part.message)
