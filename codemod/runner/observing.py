"""What a kernel makes of its arguments, seen by running it: shapes, dtypes, strides, and what shares memory.

Calls are those that PyTorch's own samples end in, forward and backward, fused steps of optimizers, and draws from the
schema. Each is made again with sizes 0 and 1, permuted strides, gaps between elements, tensors without dimensions, and
other dtypes: of all tensors, of the first alone, and of all but the first.
"""

from __future__ import annotations

import inspect
import itertools
import signal
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from . import fakes, schema
from .forks import survive

RECORDED = 6
"""How many calls of an overload are kept of those that PyTorch's samples make."""
LONG = 6.0
"""Seconds to look for such draws."""
DRAWN = 12
"""How many draws of different kinds are made for an overload."""
SAMPLES = 4
"""How many samples of an entry are run."""
ENDED = 3
"""After so many more calls that ended their process, no further is made."""
STUCK = 2
"""Seconds after which a call is given up, which changed arguments may let run on for ever."""
DTYPES = (torch.float64, torch.bfloat16, torch.int32, torch.bool)
MIXED = (torch.float64, torch.bfloat16)
"""The dtypes that a part of the tensors get."""
Arguments = tuple[list[Any], dict[str, Any]]


class Recording(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Remembers calls of some overloads, with their arguments."""

    def __init__(self, overloads: Collection[Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._overloads = frozenset(overloads)
        self.calls: dict[Any, list[Arguments]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in self._overloads and len(self.calls.setdefault(func, [])) < RECORDED:
            self.calls[func].append(copied((list(args), dict(kwargs))))
        return func(*args, **kwargs)


def copied(arguments: Any) -> Any:
    """`arguments` with tensors of their own, which lie in memory as these do."""
    return pytree.tree_map(
        lambda leaf: _copy(leaf) if isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided else leaf, arguments
    )


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    copy = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
    return copy.copy_(tensor.detach())


def recorded(overloads: Collection[Any], entries: Iterable[Any]) -> Mapping[Any, list[Arguments]]:
    """The calls of `overloads` that the samples of `entries` end in, forward and backward, or steps of optimizers."""
    mode = Recording(overloads)
    for entry in entries:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gradient = entry.supports_autograd and torch.float32 in entry.supported_backward_dtypes("cpu")
            try:
                inputs = entry.sample_inputs("cpu", torch.float32, requires_grad=gradient)
                samples = list(itertools.islice(inputs, SAMPLES))
            except Exception:
                continue
            for sample in samples:
                try:
                    with mode:
                        _run(entry, sample)
                except Exception:
                    continue
    with mode, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for optimizer in vars(torch.optim).values():
            if isinstance(optimizer, type) and "fused" in inspect.signature(optimizer).parameters:
                _steps(optimizer)
    return mode.calls


def _steps(optimizer: Any) -> None:
    """Fused steps of an optimizer: with a number and with a tensor for the rate, and with each of its flags."""
    names = inspect.signature(optimizer).parameters
    options = [{}, *({name: value} for name, value in (("amsgrad", True), ("maximize", True), ("momentum", 0.9),
                                                       ("weight_decay", 0.1)) if name in names)]  # fmt: skip
    for rate, option in itertools.product((0.1, torch.tensor(0.1)), options):
        parameters = [torch.rand(3, 4, requires_grad=True), torch.rand(5, requires_grad=True)]
        try:
            made = optimizer(parameters, lr=rate, fused=True, **option)
            for _ in range(2):
                torch.stack([parameter.square().sum() for parameter in parameters]).sum().backward()  # type: ignore[no-untyped-call]
                made.step()
        except Exception:
            continue


def _run(entry: Any, sample: Any) -> None:
    result = entry.op(sample.input, *sample.args, **sample.kwargs)
    outputs = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    leaves = pytree.tree_leaves((sample.input, sample.args, sample.kwargs))
    inputs = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if outputs and inputs:
        torch.autograd.grad(torch.stack([o.abs().sum() for o in outputs]).sum(), inputs, allow_unused=True)


def calls(overload: Any, each: Any, recordings: Iterable[Arguments]) -> Iterator[Arguments]:
    """The calls to observe: the `recordings`, and draws; each as it is and changed in the ways above."""
    schema.CALLS, schema.SECONDS = DRAWN, LONG
    drawn = (schema.Draw(number, False).arguments(each) for number in schema.accepted(overload, each, False))
    for arguments in (*recordings, *drawn):
        yield from fakes.variants(arguments)
        for dtype in DTYPES:
            yield pytree.tree_map(partial(_converted, dtype), arguments)
        for dtype in MIXED:
            yield from _mixed(dtype, arguments)
        yield pytree.tree_map(_scalar, arguments)


def _mixed(dtype: torch.dtype, arguments: Arguments) -> Iterator[Arguments]:
    """The arguments with another dtype of the first tensor alone, and of all tensors but that."""
    leaves, spec = pytree.tree_flatten(arguments)
    first = next((index for index, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)), None)
    for alone in (True, False):
        changed = [_converted(dtype, leaf) if (index == first) is alone else leaf for index, leaf in enumerate(leaves)]
        yield pytree.tree_unflatten(changed, spec)


def _scalar(leaf: Any) -> Any:
    """The first element of a tensor, without dimensions."""
    dense = isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided and leaf.numel()
    return leaf.detach().reshape(-1)[0].clone() if dense else leaf


def _converted(dtype: torch.dtype, leaf: Any) -> Any:
    return leaf.to(dtype) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() else leaf


def bound(each: Any, arguments: Arguments) -> dict[str, Any]:
    """The arguments by name, with the defaults of those that are left out."""
    values = {a.name: a.default_value for a in each.arguments if a.has_default_value()}
    names = [a.name for a in each.arguments if not a.kwarg_only]
    return {**values, **dict(zip(names, arguments[0], strict=False)), **arguments[1]}


Observation = dict[str, Any]
"""`results`: one for each result, None for an undefined one; `changed`: whether an argument's sizes or strides did."""


def observe(overload: Any, each: Any, made: list[Arguments]) -> list[Observation | None]:
    """What each call showed; None where eager refuses it, or the call ends its process."""
    seen: list[Observation | None] = [None] * len(made)
    ended: list[str] = []

    def work(first: int) -> Iterator[tuple[int, Any]]:
        for number in range(first, len(made)):
            if len(ended) > ENDED:
                return
            yield number, None
            signal.alarm(STUCK)
            yield number, [number, _observed(overload, each, made[number])]

    for number, observation in survive(work, ended):
        seen[number] = observation
    return seen


def _observed(overload: Any, each: Any, arguments: Arguments) -> Observation | None:
    arguments = copied(arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = [described(leaf) for leaf in pytree.tree_leaves(arguments)]
            result = overload(*arguments[0], **arguments[1])
    except Exception:
        return None
    after = [described(leaf) for leaf in pytree.tree_leaves(arguments)]
    arguments_by_name = bound(each, arguments)
    results = list(result) if isinstance(result, (tuple, list)) else [] if not each.returns else [result]
    return {
        "results": [_result(leaf, arguments_by_name) for leaf in results],
        "changed": before != after,
    }


def described(leaf: Any) -> Any:
    """Shape, strides and dtype of a tensor, as JSON has them."""
    if not isinstance(leaf, torch.Tensor):
        return type(leaf).__name__
    return [list(leaf.shape), list(leaf.stride()) if leaf.layout == torch.strided else None, str(leaf.dtype)]


def _result(leaf: Any, arguments: Mapping[str, Any]) -> Any:
    if not isinstance(leaf, torch.Tensor):
        return None if leaf is None else type(leaf).__name__
    shape, stride, dtype = described(leaf)
    alias = torch._C._is_alias_of  # type: ignore[attr-defined]
    shared = [name for name, value in arguments.items() if isinstance(value, torch.Tensor) and alias(leaf, value)]
    layout = str(leaf.layout)
    return {"shape": shape, "stride": stride, "dtype": dtype, "shared": shared, "layout": layout}
