"""Calls that PyTorch's modules make of functions with PyTorch's samples for them (ModuleInfo), as cells of RNNs do."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .cases import Call

CALLS = 6
"""How many calls of each function are recorded."""
PIECES = ("forward", "backward", "double_backward", "jvp", "vmap")


class Recorder(TorchFunctionMode):
    """Remembers the arguments that the functions of `torch` are called with, by their names."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = defaultdict(list)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        if getattr(torch, name, None) is func and len(self.calls[name]) < CALLS:
            self.calls[name].append((tuple(args), dict(kwargs or {})))
        return func(*args, **(kwargs or {}))


@cache
def recorded() -> dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]]:
    """The calls that the modules' samples make, by function; none where ModuleInfo cannot be imported."""
    try:
        from torch.testing._internal.common_modules import module_db
    except ImportError:
        return {}
    recorder = Recorder()
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for info in module_db:
            try:
                options = {"device": "cpu", "dtype": torch.float32, "requires_grad": False, "training": False}
                for sample in info.module_inputs_func(info, **options):
                    module = info.module_cls(*sample.constructor_input.args, **sample.constructor_input.kwargs)
                    with recorder:
                        module(*sample.forward_input.args, **sample.forward_input.kwargs)
            except Exception:  # a module that needs a device or a package that is not here
                continue
    return dict(recorder.calls)


def calls(base: str, piece: str) -> Iterator[Call]:
    """The calls of the operator `base` that exercise `piece`."""
    if piece in PIECES:
        for positional, named in recorded().get(base, ()):
            yield Call(f"torch.{base}", list(positional), named)
