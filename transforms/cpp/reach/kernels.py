"""Functions that only look as if symbols came through, and helpers that kernels call: explained, never edited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from codemod.model.findings import Finding, Level, Mode
from transforms.cpp.reach.reached import FORWARD, UNTRACED, Stop
from transforms.cpp.reading.facts import Function

# By feature, in the order in which they are told: the refusal, and what the body does.
_STOPS = {
    "dispatch": ("at-dispatch", "is written for one scalar type at a time (AT_DISPATCH)"),
    "parallel": ("parallel-for", "shares its work among threads"),
    "data_ptr": ("data-ptr", "reads memory through a pointer"),
    "accessor": ("data-ptr", "reads memory through an accessor"),
    "launch": ("kernel-launch", "launches a kernel of the device"),
}
_THROUGH_OTHERS = ("kernel-launch", "comes to a kernel of the device through what it calls")


def findings(
    functions: Mapping[tuple[str, int], Function], stopped: Mapping[tuple[str, int], Stop]
) -> Iterator[Finding]:
    """One finding for each stopped function that asks a tensor for its sizes; `functions` by path and start."""
    for key, (refusal, reach) in stopped.items():
        function = functions[key]
        if not function.candidates:
            continue
        if refusal == FORWARD:
            message = f"`{function.name}` serves forward-mode derivatives only"
            formulas = "formulas of outputs in derivatives.yaml call it"
            called = formulas if reach.operators else "it keeps forward gradients"
            reason = f"{called}, and no symbolic trace was seen to stop there;"
            reason += " convert it with a test of torch.func.jvp over symbolic sizes"
        elif refusal == UNTRACED:
            message = f"`{function.name}` serves operators that nothing traces"
            reason = "backward formulas alone come to it, of operators with kernels for backends and no fake;"
            reason += " convert it once these have one"
        elif reach.kind == "helper":
            refusal, message = "device-code", f"`{function.name}` is device code, and kernels call it too"
            reason = "it stays as they need it; symbols want a function of their own"
        else:
            stops = (_STOPS[feature] for feature in _STOPS if feature in function.features)
            refusal, does = next(stops, _THROUGH_OTHERS)
            message = f"`{function.name}` is {reach.kind}, and a kernel"
            reason = f"its body {does}, which needs concrete sizes; register it for the backends and"
            reason += " give it a Meta kernel"
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
            message,
            reason,
            refusal,
            reach.steps,
        )
