"""The inputs of a call in other sizes, and whether eager's result for them rests on the inputs alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import torch

from .check import difference

ALL = 16
"""A size that all dimensions take at once."""
_FREED = (1, 2, 3, 5, 8, 16, 33, 64, 128, 256, 512)  # elements of tensors whose memory the next ones take


def others(inputs: Sequence[Any]) -> Iterator[tuple[str, list[Any]]]:
    """`inputs` in other sizes, each with what was changed.

    Each size, wherever it stands, plus one, doubled, 0 and 1; then all at once, also as `ALL`.
    """
    for label, change in _changes({size for tensor in inputs if is_sized(tensor) for size in tensor.shape}):
        try:
            changed = [_resized(value, change) if is_sized(value) else value for value in inputs]
        except RuntimeError:  # a dtype that has no kernel for it
            continue
        yield label, changed


def _changes(numbers: Collection[int]) -> Iterator[tuple[str, dict[int, int]]]:
    """What each of the sizes becomes, with a label for it."""
    for size in sorted(numbers):
        for new in sorted({size + 1, 2 * size, 0, 1} - {size}):
            yield f"{size} becomes {new}", {size: new}
    if numbers:
        yield "all are one more", {size: size + 1 for size in numbers}
        yield f"all are {ALL}", dict.fromkeys(numbers, ALL)
    if len(numbers) > 1:
        yield "all are 0", dict.fromkeys(numbers, 0)
        yield "all are 1", dict.fromkeys(numbers, 1)


def copied(inputs: Sequence[Any]) -> list[Any]:
    """The inputs again, for a call that may write to them."""
    return [tensor.detach().clone() if isinstance(tensor, torch.Tensor) else tensor for tensor in inputs]


def settled(function: Callable[..., Any], inputs: Sequence[Any], shapes_only: bool) -> bool:
    """Whether eager gives the same for `inputs` whatever memory held before: else they are none that it is made for.

    Kernels trust some values, such as offsets, and read past their inputs where these are off.
    """
    results = []
    for left in (0.0, 1e7, -3e5, None):
        if left is not None:
            freed = [torch.full((size,), left) for size in _FREED for _ in range(40)]
            del freed
        torch.use_deterministic_algorithms(left is None, warn_only=True)  # new memory is then filled with NaN
        try:
            torch.manual_seed(0)
            results.append(function(*copied(inputs)))
        finally:
            torch.use_deterministic_algorithms(False)
    return not any(difference(result, results[0], shapes_only) for result in results[1:])


def is_sized(value: Any) -> bool:
    """Whether it is a tensor whose sizes and strides can be others."""
    return isinstance(value, torch.Tensor) and value.layout == torch.strided


def _resized(tensor: torch.Tensor, change: Mapping[int, int]) -> torch.Tensor:
    """A dense tensor with sizes changed as `change` says: values repeat or end, the order of strides stays."""
    order = sorted(range(tensor.dim()), key=tensor.stride, reverse=True)
    values = tensor.detach().permute(order)
    for place, old in enumerate(values.shape):
        new = change.get(old, old)
        if not old and new:
            values = values.new_zeros([*values.shape[:place], new, *values.shape[place + 1 :]])
        elif new != old:
            values = values.index_select(place, torch.arange(new) % max(old, 1))
    inverse = sorted(range(tensor.dim()), key=order.__getitem__)
    return values.contiguous().permute(inverse)
