"""`symfix prove --op tensor_split --repro` of this file: a number of sections."""

from __future__ import annotations

import torch

sizes = (3, 4, 6)


def inputs(n: int) -> tuple[torch.Tensor, ...]:
    """The tensors for one size."""
    torch.manual_seed(0)
    return (torch.randn(2, 7 * n + 1),)


def operator(x: torch.Tensor) -> object:
    """What is compiled."""
    return torch.tensor_split(x, 3, 1)
