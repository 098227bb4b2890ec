"""What keeps a size symbolic in the place of what makes a plain number of it in C++.

The composite of `max_pool1d` checks sizes as numbers (aten/src/ATen/native/MaxPooling.cpp), so that what is compiled
serves one length. `max_pool1d_with_indices`, which it calls unless it runs on the CPU without gradients, does not.
`linspace` takes its steps as an int (aten/src/ATen/native/native_functions.yaml), and `arange` a SymInt.
"""

from __future__ import annotations

from codemod.probe.answers import ARROW

POOL = "max_pool1d"
POOL_ADVICE = f"{POOL} takes plain numbers in C++: {POOL}_with_indices(…)[0] gives the same and keeps the sizes"
_STEPS = "steps (int) of aten::linspace"
_STEPS_ADVICE = (
    "linspace takes a plain number of steps: start + (end - start) * torch.arange(steps) / (steps - 1) keeps the size"
)


def advice_instead(native: str, argument: str) -> str:
    """What to write where C++ made a number of a size, by its functions and the argument of a schema; "" else."""
    if POOL in native.split(ARROW):
        return POOL_ADVICE
    return _STEPS_ADVICE if _STEPS in argument else ""
