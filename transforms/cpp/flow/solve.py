"""The fixpoint: every accessor is taken to be symbolic, and what cannot bear that turns its sources concrete again."""

from __future__ import annotations

from transforms.cpp.flow.dispatch import run
from transforms.cpp.flow.engine import Flow

_PASSES = 12


def solve(flow: Flow) -> None:
    """Run passes until nothing changes; take back what reaches a sink; repeat until no sink is reached."""
    while True:
        for variable in flow.variables.values():
            variable.origins = None
        for _ in range(_PASSES):
            flow.begin()
            run(flow, flow.root)
            flow.retype_all()
            if not flow.changed:
                break
        bad = frozenset().union(*(sink.origins for sink in flow.sinks)) - flow.concrete
        for sink in flow.sinks:
            if sink.origins & bad:
                flow.refusals.append(sink)
        if not bad:
            return
        flow.concrete |= bad
