"""`symfix prove --op diff --repro` of this file: the second difference."""

from __future__ import annotations

import torch

sizes = (3, 4, 6)


def inputs(n: int) -> tuple[torch.Tensor, ...]:
    """The tensors for one size."""
    torch.manual_seed(0)
    return (torch.randn(2, n),)


def operator(x: torch.Tensor) -> object:
    """What is compiled."""
    return torch.diff(x, n=2)
