"""What helps against compiling again, by the reason that torch gives for it."""

from __future__ import annotations

import re

from codemod.probe.spelling import spelled

STATIC = re.compile(r"tensor '(.+?)' size mismatch at index (\d+)\. expected (\d+), actual (\d+)")
_FRAMEWORK = "due to 0/1 specialization in the framework"
_BOUNDED = re.compile(r"\d+ <= [^<=]+ <= (\d+)")
_ZERO_ONE = "sizes 0 and 1 are compiled apart by default; torch._dynamo.decorators.{mark} lets one serve all"
_DUCK = "duck sizing added this equality"
DUCK_SIZING = "torch.fx.experimental._config.use_duck_shape = False"
"""The line of a program after which sizes that are equal at first are symbols of their own, as torch itself says."""
DUCK_ADVICE = f"sizes that are equal when it is first compiled are one symbol: {DUCK_SIZING} keeps them apart"
_STACK = "___stack"  # what Dynamo calls the values that a graph break left on the stack


def advice_about(reason: str) -> str:
    """What helps against a reason to compile again; "" where nothing is known to."""
    if _FRAMEWORK in reason:
        bounded = _BOUNDED.match(reason)
        above = f"; sizes above {bounded[1]} are too, by a line that compares them" if bounded is not None else ""
        return f"{_ZERO_ONE.format(mark='mark_unbacked')}{above}"
    if _DUCK in reason:
        return DUCK_ADVICE
    match = STATIC.search(reason)
    if match is None:
        return ""
    name, *numbers = spelled(match[1]), match[3], match[4]
    if name.startswith(_STACK):
        return "it is computed before a graph break, where nothing can mark it"
    if not {"0", "1"}.isdisjoint(numbers):
        return _ZERO_ONE.format(mark=f"mark_unbacked({name}, {match[2]})")
    return f"static when first compiled; torch._dynamo.mark_dynamic({name}, {match[2]}) before makes it dynamic at once"
