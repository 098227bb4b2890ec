"""`symfix prove --op group_norm --repro` of this file: sequences, whose number of channels is not known."""

from __future__ import annotations

import torch

sizes = (3, 4, 6)


def inputs(n: int) -> tuple[torch.Tensor, ...]:
    """The tensors for one size."""
    torch.manual_seed(0)
    return (
        torch.randn(2, 2 * n, 5),
        torch.randn(2 * n),
        torch.randn(2 * n),
    )


def operator(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> object:
    """What is compiled."""
    return torch.group_norm(x, 2, weight, bias)
