"""`symfix prove --op alpha_dropout --repro` of this file: while training."""

from __future__ import annotations

import torch

sizes = (3, 4, 6)


def inputs(n: int) -> tuple[torch.Tensor, ...]:
    """The tensors for one size."""
    torch.manual_seed(0)
    return (torch.randn(2 * n, 5),)


def operator(x: torch.Tensor) -> object:
    """What is compiled."""
    return torch.alpha_dropout(x, 0.5, True)
