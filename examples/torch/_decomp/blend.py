"""A decomposition of an operator that C++ composes of others: tracing runs that C++, and never this."""

import torch
from torch import Tensor
from torch._decomp import register_decomposition

aten = torch.ops.aten


@register_decomposition(aten.tile_mean)
def tile_mean(self: Tensor, tile: int) -> Tensor:
    """The mean of each tile of the rows."""
    torch._check(self.shape[0] > 0 and tile > 0, lambda: "expected rows and a tile")
    return self.reshape(self.shape[0] // tile, tile, self.shape[1]).mean(1)
