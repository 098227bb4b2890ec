"""`symfix prove --op cumulative_trapezoid --repro` of this file: one x for all rows."""

from __future__ import annotations

import torch

sizes = (3, 4, 6)


def inputs(n: int) -> tuple[torch.Tensor, ...]:
    """The tensors for one size."""
    torch.manual_seed(0)
    return (
        torch.randn(3, n),
        torch.randn(n),
    )


def operator(y: torch.Tensor, x: torch.Tensor) -> object:
    """What is compiled."""
    return torch.cumulative_trapezoid(y, x)
