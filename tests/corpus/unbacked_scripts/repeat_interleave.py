"""`symfix prove --op repeat_interleave --repro` of this file: a number of repeats for each row."""

from __future__ import annotations

import torch

sizes = (3, 4, 6)


def inputs(n: int) -> tuple[torch.Tensor, ...]:
    """The tensors for one size."""
    torch.manual_seed(0)
    return (
        torch.randn(n, 5),
        torch.arange(n),
    )


def operator(x: torch.Tensor, repeats: torch.Tensor) -> object:
    """What is compiled."""
    return torch.repeat_interleave(x, repeats, 0)
