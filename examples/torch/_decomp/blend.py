"""A decomposition of an operator that C++ composes of others: tracing runs that C++, and never this."""

import torch
from torch import Tensor
from torch._decomp import register_decomposition
from torch.fx.experimental.symbolic_shapes import guard_or_true

aten = torch.ops.aten


@register_decomposition(aten.tile_mean)
def tile_mean(self: Tensor, tile: int) -> Tensor:
    """The mean of each tile of the rows."""
    torch._check(self.shape[0] > 0 and tile > 0, lambda: "expected rows and a tile")
    return self.reshape(self.shape[0] // tile, tile, self.shape[1]).mean(1)


@register_decomposition(aten.rank_counts)
def rank_counts(self: Tensor) -> Tensor:
    """How often each number up to the largest is there."""
    count = torch.sym_int(self.max().item()) + 1
    return (self[:, None] == torch.arange(count)).sum(0)


@register_decomposition(aten.picked_columns)
def picked_columns(self: Tensor, index: Tensor) -> Tensor:
    """The columns that an index names, which may be of any dtype where it is empty."""
    if guard_or_true(index.numel() != 0):
        torch._check(index.dtype == torch.int64, lambda: "expected an index of whole numbers")
    return self.new_empty((self.shape[0], index.numel()))
