"""`symfix prove --op adaptive_avg_pool3d --repro` of this file: an output whose size another tensor has."""

from __future__ import annotations

import torch

sizes = (3, 4, 6)


def inputs(n: int) -> tuple[torch.Tensor, ...]:
    """The tensors for one size."""
    torch.manual_seed(0)
    return (
        torch.randn(2, 3, 2 * n, 8, 6),
        torch.randn(n),
    )


def operator(x: torch.Tensor, y: torch.Tensor) -> object:
    """What is compiled."""
    return torch.nn.functional.adaptive_avg_pool3d(x, (y.shape[0], 4, 3))
