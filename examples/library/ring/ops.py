"""What Python adds to the operators of C++, and an operator that is Python alone."""

import torch
from torch import Tensor


@torch.library.register_fake("ring::blend")
def blend(left: Tensor, right: Tensor, share: float) -> Tensor:
    """A tensor like the first."""
    # A branch that only raises is a check, which unknown sizes pass.
    if left.shape != right.shape:
        raise RuntimeError("expected tensors of one shape")
    return torch.empty_like(left)


def blend_backward(ctx, grad: Tensor) -> tuple[Tensor, Tensor, None]:
    """Each gets its share of the gradient."""
    return grad * ctx.share, grad * (1 - ctx.share), None


def blend_context(ctx, inputs, output) -> None:
    """Keep what the formula needs."""
    ctx.share = inputs[2]


torch.library.register_autograd("ring::blend", blend_backward, setup_context=blend_context)


@torch.library.custom_op("ring::head_rows", mutates_args=())
def head_rows(source: Tensor, share: float) -> Tensor:
    """The first rows, so many as the share is."""
    return source[: int(source.shape[0] * share)].clone(memory_format=torch.contiguous_format)


@head_rows.register_fake
def _(source: Tensor, share: float) -> Tensor:
    # `int` asks for the number of rows, which makes a graph for each.
    return source.new_empty((int(source.shape[0] * share), *source.shape[1:]))
