"""The order in which torch.einsum contracts three operands and more.

torch asks opt_einsum for it where that is installed (torch/functional.py, `einsum`), and opt_einsum makes a plain
number of each size that it weighs. torch has a setting to contract from left to right instead, for eager as for
compiled code.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from codemod.probe.trace import Frame

ORDERED = "torch.backends.opt_einsum.enabled = False"
"""The line of a program after which nothing is asked for an order."""
ORDER_ADVICE = f"torch.einsum asks opt_einsum for an order, which takes plain numbers: {ORDERED} keeps the sizes"
_FILE, _FUNCTION = "/torch/functional.py", "einsum"


def asks_for_order(stack: Sequence[Frame]) -> bool:
    """Whether what asked, the innermost of `stack`, is what torch.einsum calls outside of torch."""
    return any(_is_einsum(caller) and not callee.path.startswith(_torch(caller)) for caller, callee in pairwise(stack))


def _is_einsum(frame: Frame) -> bool:
    return frame.path.endswith(_FILE) and frame.function == _FUNCTION


def _torch(einsum: Frame) -> str:
    return einsum.path.removesuffix("functional.py")
