"""What `torch.library.opcheck` says of an operator, with the arguments that a repro calls it with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from . import causes
from .check import Repro
from .forks import survive

Ends = dict[str, str]
"""How each of its tests ended: "passes", or why it fails."""


class Watching(TorchFunctionMode):
    """Remembers the first call of an operator."""

    def __init__(self, operator: str) -> None:
        super().__init__()
        self._operator = operator
        self.call: tuple[Any, tuple[Any, ...], dict[str, Any]] | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        packet = getattr(func, "overloadpacket", func)
        if self.call is None and getattr(packet, "_qualified_op_name", "") == self._operator:
            overload = func if packet is not func else getattr(func, "default", None)
            copied = pytree.tree_map(copy, (tuple(args), dict(kwargs or {})))
            self.call = (overload, *copied) if overload is not None else None
        return func(*args, **(kwargs or {}))


def copy(value: Any) -> Any:
    """A leaf of its own of the same values, where `value` is a tensor."""
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


def check(operator: str, script: str) -> Ends:
    """How the tests end that `opcheck` has for the first call in a repro, sizes being dynamic where it traces.

    Empty where this torch has no `opcheck`, or the repro does not call the operator itself.
    """
    opcheck = getattr(torch.library, "opcheck", None)
    if opcheck is None:
        return {}

    def work(first: int) -> Iterator[tuple[int, Any]]:
        if first:
            return
        repro = Repro(script, operator)
        with Watching(operator) as watching:
            repro.results(repro.operator, repro.sizes[0])
        if watching.call is None:
            return
        yield 0, None
        overload, positional, named = watching.call
        ends = opcheck(overload, positional, named, raise_exception=False)
        yield 0, {name: end(value) for name, value in ends.items()}

    ended: list[str] = []
    results = list(survive(work, ended))
    return results[0] if results else {"opcheck": f"the process ended: {ended[0]}"} if ended else {}


def end(value: Any) -> str:
    """How one test ended."""
    if isinstance(value, BaseException):
        return causes.describe(value)
    return "passes" if value == "SUCCESS" else str(value)
