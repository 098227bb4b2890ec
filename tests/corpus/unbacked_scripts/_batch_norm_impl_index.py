"""`symfix prove --op _batch_norm_impl_index --repro` of this file: a batch whose size is not known."""

from __future__ import annotations

import torch

sizes = (3, 4, 6)


def inputs(n: int) -> tuple[torch.Tensor, ...]:
    """The tensors for one size."""
    torch.manual_seed(0)
    return (torch.randn(2 * n, 3, 5),)


def operator(x: torch.Tensor) -> object:
    """What is compiled."""
    return torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False)
