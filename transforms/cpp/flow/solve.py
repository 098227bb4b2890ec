"""The fixpoint: every accessor is taken to be symbolic, and what cannot bear that turns its sources concrete again."""

from __future__ import annotations

from transforms.cpp.flow.dispatch import run
from transforms.cpp.flow.engine import LEVELS, Flow
from transforms.cpp.flow.whole import count_loops, half_converted
from transforms.recursion import room

_PASSES = 12
_FRAMES = 8 * LEVELS
"""Room on the stack: between two levels there are at most seven calls."""
_STEPS = 100
"""How often a node may be read on average, over all passes; PyTorch's are read seven times."""


def solve(flow: Flow) -> None:
    """Run passes until nothing changes; take back what reaches a sink; repeat until no sink is reached.

    Raises TooDeep where the function is nested or entangled beyond what is analysed.
    """
    flow.steps = _STEPS * (100 + sum(1 for _ in flow.root.walk()))
    with room(_FRAMES):
        _solve(flow)


def _solve(flow: Flow) -> None:
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
            if not flow.passive and (counts := count_loops(flow)):
                flow.guarded |= counts
                flow.concrete -= counts
                flow.refusals = [sink for sink in flow.refusals if not sink.origins <= counts]
                continue
            held = half_converted(flow) if not flow.passive else []
            flow.refusals += held
            bad = frozenset().union(*(sink.origins for sink in held))
            if not bad:
                return
            flow.guarded -= bad
        flow.concrete |= bad
