"""Samples with every dimension unbacked, the same samples in other sizes, and whether two results agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

ALL = 16
"""The size that all dimensions take at once."""


def arbitrary(function: Any, arguments: Any) -> bool:
    """Whether the values of eager's result depend on the seed, or on what the memory held before."""
    import copy

    import torch

    if function.__name__.startswith(("empty", "new_empty")):
        return True
    results = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        results.append(function(*copy.deepcopy(arguments)))
    return not same_values(*results)


def same_values(first: Any, second: Any) -> bool:
    """Whether two results agree in structure, shapes, dtypes and values."""
    import torch

    try:
        torch.testing.assert_close(first, second, rtol=2e-4, atol=2e-4, equal_nan=True)
    except AssertionError:
        return False
    except TypeError:  # plain Python objects among the results
        return bool(repr(first) == repr(second))
    return True


def same_shapes(first: Any, second: Any) -> bool:
    """Whether two results agree in structure, shapes and dtypes."""
    import torch
    from torch.utils import _pytree as pytree

    left, right = pytree.tree_leaves(first), pytree.tree_leaves(second)
    return len(left) == len(right) and all(
        not isinstance(a, torch.Tensor) or (isinstance(b, torch.Tensor) and a.shape == b.shape and a.dtype == b.dtype)
        for a, b in zip(left, right, strict=True)
    )


def agree(function: Any, arguments: Any, actual: Any, expected: Any) -> bool:
    """Whether a result is eager's: in its values, or in its shapes where eager's own values are arbitrary."""
    return same_values(actual, expected) or (same_shapes(actual, expected) and arbitrary(function, arguments))


def definite(function: Any, arguments: Any) -> bool:
    """Whether eager's result rests on the arguments alone, and not on what the memory held before.

    Kernels trust some values, such as the offsets of embedding_bag, and read past their inputs where these are off; the
    mean of nothing may be what memory held. So the call is repeated with other values left in freed memory, and with
    new memory filled (`torch.utils.deterministic.fill_uninitialized_memory`).
    """
    import copy

    import torch

    results = []
    for left in (0.0, 1e7, -3e5, None):
        if left is not None:
            freed = [
                torch.full((size,), left) for size in (1, 2, 3, 5, 8, 16, 33, 64, 128, 256, 512) for _ in range(40)
            ]
            del freed
        before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
        torch.use_deterministic_algorithms(left is None or before[0], warn_only=True)
        try:
            torch.manual_seed(0)
            results.append(function(*copy.deepcopy(arguments)))
        finally:
            torch.use_deterministic_algorithms(before[0], warn_only=before[1])
    return all(same_values(result, results[0]) for result in results[1:])


def sized(leaf: Any) -> bool:
    """Whether a leaf of the arguments is a Tensor whose sizes can be changed."""
    import torch

    return isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided


def unbacked(arguments: Any) -> tuple[Any, int]:
    """A copy of the arguments with every dimension of every tensor marked, and how many those are."""
    import copy

    from torch._dynamo.decorators import mark_unbacked
    from torch.utils import _pytree as pytree

    copied = copy.deepcopy(arguments)
    marked = 0
    for leaf in pytree.tree_leaves(copied):
        if sized(leaf):
            for dimension in range(leaf.dim()):
                mark_unbacked(leaf, dimension)
                marked += 1
    return copied, marked


def resize(leaf: Any, sizes: Mapping[int, int]) -> Any:
    """A dense Tensor with these sizes by dimension: its values repeat or end, the order of its strides stays."""
    import torch

    order = sorted(range(leaf.dim()), key=leaf.stride, reverse=True)
    values = leaf.detach().permute(order)
    for place, dimension in enumerate(order):
        old, new = leaf.shape[dimension], sizes.get(dimension, leaf.shape[dimension])
        if not old and new:
            values = values.new_zeros([*values.shape[:place], new, *values.shape[place + 1 :]])
        elif new != old:
            values = values.index_select(place, torch.arange(new, device=leaf.device) % max(old, 1))
    inverse = sorted(range(leaf.dim()), key=order.__getitem__)
    return values.contiguous().permute(inverse).requires_grad_(leaf.requires_grad)


def other_sizes(arguments: Any) -> Iterator[tuple[str, Any]]:
    """The arguments in other sizes, each with what was changed.

    Each size of the tensors, wherever it stands, plus one, doubled, 0 and 1; then all sizes at once, also as `ALL`.
    """
    from torch.utils import _pytree as pytree

    sizes = sorted({size for leaf in pytree.tree_leaves(arguments) if sized(leaf) for size in leaf.shape})
    for size in sizes:
        for new in sorted({size + 1, 2 * size, 0, 1} - {size}):
            yield f"{size} -> {new}", _changed(arguments, {size: new})
    for label, change in (
        ("plus one", {size: size + 1 for size in sizes}),
        ("doubled", {size: 2 * size for size in sizes}),
        *((f"{new}", dict.fromkeys(sizes, new)) for new in (ALL, 0, 1)),
    ):
        if len(sizes) > 1 or (sizes and label == str(ALL)):
            yield f"all {label}", _changed(arguments, change)


def single_sizes(arguments: Any) -> Iterator[tuple[str, Any]]:
    """The arguments with one dimension of one tensor plus one, 0 or 1, each with what was changed."""
    from torch.utils import _pytree as pytree

    leaves, spec = pytree.tree_flatten(arguments)
    for index, leaf in enumerate(leaves):
        for dimension in range(leaf.dim()) if sized(leaf) else ():
            size = leaf.shape[dimension]
            for new in sorted({size + 1, 0, 1} - {size}):
                changed = [resize(leaf, {dimension: new}) if place == index else _copied(other)
                           for place, other in enumerate(leaves)]  # fmt: skip
                yield f"input {index}, dimension {dimension}: {size} -> {new}", pytree.tree_unflatten(changed, spec)


def _changed(arguments: Any, change: Mapping[int, int]) -> Any:
    from torch.utils import _pytree as pytree

    def leaf_changed(leaf: Any) -> Any:
        if not sized(leaf):
            return leaf
        sizes = {dimension: change[size] for dimension, size in enumerate(leaf.shape) if size in change}
        return resize(leaf, sizes) if sizes else _copied(leaf)

    return pytree.tree_map(leaf_changed, arguments)


def _copied(leaf: Any) -> Any:
    return leaf.clone() if sized(leaf) else leaf
