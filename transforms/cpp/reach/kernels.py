"""Composite operators whose body is a backend's kernel: explained, never edited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from codemod.model.findings import Finding, Level, Mode
from codemod.model.operators import Reach
from transforms.cpp.reading.facts import Function

# By feature, in the order in which they are told: the refusal, and what the body does.
_STOPS = {
    "dispatch": ("at-dispatch", "is written for one scalar type at a time (AT_DISPATCH)"),
    "parallel": ("parallel-for", "shares its work among threads"),
    "data_ptr": ("data-ptr", "reads memory through a pointer"),
    "accessor": ("data-ptr", "reads memory through an accessor"),
}


def findings(
    functions: Mapping[tuple[str, int], Function], stopped: Mapping[tuple[str, int], Reach]
) -> Iterator[Finding]:
    """One finding for each stopped kernel that asks a tensor for its sizes; `functions` by path and start."""
    for key, reach in stopped.items():
        function = functions[key]
        if not function.candidates:
            continue
        refusal, does = next(_STOPS[feature] for feature in _STOPS if feature in function.features)
        yield Finding(
            function.path,
            function.start,
            function.body,
            function.line,
            1,
            Mode.LEAK,
            "leak",
            Level.MANUAL,
            function.qualified,
            reach.operators,
            f"`{function.name}` is {reach.kind}, and a kernel",
            f"its body {does}, which needs concrete sizes; register it for the backends and give it a Meta kernel",
            refusal,
            reach.steps,
        )
