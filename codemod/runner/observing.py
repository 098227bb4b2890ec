"""What a kernel makes of its arguments, seen by running it: shapes, dtypes, strides, and what shares memory.

Calls are those that PyTorch's own samples end in, forward and backward, fused steps of optimizers, and draws from the
schema. Each is made again with sizes 0 and 1, permuted strides, gaps between elements, tensors without dimensions, and
other dtypes: of all tensors, of the first alone, and of all but the first; with dimensions more and
less, and with single sizes one larger.
"""

from __future__ import annotations

import inspect
import itertools
import random
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from . import fakes, schema
from .forks import GIVEN_UP, limit, survive

RECORDED = 6
"""How many calls of an overload are kept of those that PyTorch's samples make."""
LONG = 6.0
"""Seconds to look for such draws."""
DRAWN = 12
"""How many draws of different kinds are made for an overload."""
SAMPLES = 8
"""How many samples of an entry are run."""
LONGER = 120
"""So many ways are tried to make some of the sizes larger."""
ENDED = 3
"""After so many more calls that were given up, no further is made."""
STUCK = 2
"""Seconds of processor time after which a call is given up, which changed arguments may let run on for ever."""
WALL, THICK = 0xA5, 1 << 14
"""The bytes around a tensor, and how many there are on each side."""
DTYPES = (torch.float64, torch.bfloat16, torch.int32, torch.bool)
MIXED = (torch.float64, torch.bfloat16)
"""The dtypes that a part of the tensors get."""
COMPOSITE = torch._C.DispatchKey.CompositeExplicitAutograd, torch._C.DispatchKey.CompositeImplicitAutograd
Arguments = tuple[list[Any], dict[str, Any]]


class Recording(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Remembers calls of some overloads, with their arguments."""

    def __init__(self, overloads: Collection[Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._overloads = frozenset(overloads)
        self.calls: dict[Any, list[Arguments]] = {}
        self._within: set[Any] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in self._overloads:
            self._keep(func, (list(args), dict(kwargs)))
        has = torch._C._dispatch_has_kernel_for_dispatch_key
        key = next((key for key in COMPOSITE if has(func.name(), key.name)), None)
        if key is None or func in self._within:
            return func(*args, **kwargs)
        self._within.add(func)  # some come to themselves, as `contiguous` does for a tensor that needs a copy
        try:
            with self:  # what a composite calls is seen too
                return func._op_dk(key, *args, **kwargs)
        finally:
            self._within.remove(func)

    def _keep(self, overload: Any, arguments: Arguments) -> None:
        kept = self.calls.setdefault(overload, [])
        like = pytree.tree_map(described, arguments)
        if len(kept) < RECORDED and all(pytree.tree_map(described, call) != like for call in kept):
            kept.append(copied(arguments))


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
                for vendor in (True, False):  # PyTorch's own kernels are called where a vendor's library is not
                    try:
                        with torch.backends.mkldnn.flags(vendor), mode:
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
    bases = [*recordings, *drawn]
    for arguments in bases:
        yield from fakes.variants(arguments)
        for dtype in DTYPES:
            yield pytree.tree_map(partial(_converted, dtype), arguments)
        for dtype in MIXED:
            yield from _mixed(dtype, arguments)
        yield pytree.tree_map(_scalar, arguments)
    for arguments in bases:
        yield from _other_ranks(arguments)
    for number, arguments in enumerate(bases):  # last, for kernels may not look at what does not fit together
        yield from _longer(([], bound(each, arguments)), 1 if number else 2)


def _other_ranks(arguments: Arguments) -> Iterator[Arguments]:
    """The arguments with a dimension less, and one more, of each tensor alone, and of all."""
    leaves, spec = pytree.tree_flatten(arguments)
    tensors = [n for n, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided]
    for places in (*([n] for n in tensors), tensors):
        if all(leaves[n].dim() and len(leaves[n]) for n in places):
            for part in (0, None):
                changed = [leaf[part] if n in places else leaf for n, leaf in enumerate(leaves)]
                yield pytree.tree_unflatten(changed, spec)


def _longer(arguments: Arguments, most: int) -> Iterator[Arguments]:
    """The arguments with each size and each whole number one larger; and then up to `most` of them, chosen at random.

    Sizes that are the same in all samples are told apart so, and those that have to be the same are seen to be.
    """
    leaves, spec = pytree.tree_flatten(arguments)
    places: list[tuple[int, int]] = []
    for index, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided:
            places += ((index, dimension) for dimension in range(leaf.dim()) if leaf.shape[dimension])
        elif type(leaf) is int:
            places.append((index, 0))
    for count in range(1, most + 1):
        several = list(itertools.combinations(places, count))
        for chosen in random.Random(0).sample(several, min(len(several), LONGER)):
            changed = list(leaves)
            for index, dimension in chosen:
                changed[index] = _one_more(changed[index], dimension)
            yield pytree.tree_unflatten(changed, spec)


def _one_more(leaf: Any, dimension: int) -> Any:
    return torch.cat((leaf, leaf.narrow(dimension, 0, 1)), dimension) if isinstance(leaf, torch.Tensor) else leaf + 1


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


def outcomes(overload: Any, each: Any, made: list[Arguments]) -> list[Observation | None]:
    """What each call showed, or `refused` alone, the first line of eager's message.

    None where it ends its process, or writes outside of its tensors.
    """
    seen: list[Observation | None] = [None] * len(made)
    ended: list[str] = []

    def work(first: int) -> Iterator[tuple[int, Any]]:
        for number in range(first, len(made)):
            if sum(how in GIVEN_UP for how in ended) > ENDED:
                return
            yield number, None
            limit(STUCK)
            yield number, [number, _observed(overload, each, made[number])]

    for number, observation in survive(work, ended):
        seen[number] = observation
    return seen


def _observed(overload: Any, each: Any, arguments: Arguments) -> Observation | None:
    walls: list[torch.Tensor] = []
    arguments = pytree.tree_map(partial(_walled, walls), arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = [described(leaf) for leaf in pytree.tree_leaves(arguments)]
            result = overload(*arguments[0], **arguments[1])
    except Exception as error:
        return {"refused": (str(error).splitlines() or [""])[0]}
    after = [described(leaf) for leaf in pytree.tree_leaves(arguments)]
    if any(bool((wall != WALL).any()) for wall in walls):
        return None  # it writes where nothing of it is: arguments that do not fit together, and are not looked at
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


def _walled(walls: list[torch.Tensor], leaf: Any) -> Any:
    """A copy of a tensor within memory of its own, whose parts before and behind it are added to `walls`."""
    if not isinstance(leaf, torch.Tensor) or leaf.layout != torch.strided:
        return leaf
    size, reach = (
        leaf.element_size(),
        sum((n - 1) * stride for n, stride in zip(leaf.shape, leaf.stride(), strict=True)),
    )
    inner = (reach + 1) * size if leaf.numel() else 0
    memory = torch.full((inner + 2 * THICK,), WALL, dtype=torch.uint8)
    memory = memory[: memory.numel() // size * size]
    walls += (memory[:THICK], memory[THICK + inner :])
    copy = memory.view(leaf.dtype).as_strided(leaf.shape, leaf.stride(), THICK // size)
    return copy.copy_(leaf.detach())


def _result(leaf: Any, arguments: Mapping[str, Any]) -> Any:
    if not isinstance(leaf, torch.Tensor):
        return None if leaf is None else type(leaf).__name__
    shape, stride, dtype = described(leaf)
    alias = torch._C._is_alias_of  # type: ignore[attr-defined]
    shared = [name for name, value in arguments.items() if isinstance(value, torch.Tensor) and alias(leaf, value)]
    layout = str(leaf.layout)
    return {"shape": shape, "stride": stride, "dtype": dtype, "shared": shared, "layout": layout}
