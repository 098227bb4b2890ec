"""Code that uses the library: what `torch.compile` reads, and a lowering for Inductor."""

import numpy as np
import torch
from torch import Tensor
from torch._inductor.lowering import register_lowering, repeat, select, slice_
from torch._inductor.virtualized import V
from torch.utils._sympy.functions import Min


@torch.compile(dynamic=True)
def row_norms(source: Tensor, buffer: Tensor) -> Tensor:
    """With `out=` the compiled code is made again for every size."""
    return torch.linalg.norm(source, dim=1, out=buffer)


@torch.compile(dynamic=True)
def joined_columns(source: Tensor) -> Tensor:
    """What numpy computes of sizes is a constant, and compiled again for others."""
    return source.reshape(source.size(0), np.prod(source.shape[1:]))


@torch.compile(dynamic=True)
def relative_rows(source: Tensor, rows: Tensor) -> Tensor:
    """Of what makes Tensors of sizes, `torch.tensor` alone keeps them symbolic."""
    return rows / torch.as_tensor([source.size(0)], device=rows.device)


@torch.compile(dynamic=True)
def fitted_rows(source: Tensor, rows: int) -> Tensor:
    """What is short is padded, and what is long is cut: one graph does both."""
    if source.size(0) < rows:
        source = torch.nn.functional.pad(source, (0, 0, 0, rows - source.size(0)))
    else:
        source = source[:rows]
    return source + 1


@torch.compile(dynamic=True)
def merged_quarters(source: Tensor) -> Tensor:
    """Whether a side is odd is asked for both at once, and what is padded by nothing is as it was."""
    rows, columns = source.shape
    odd = rows % 2 == 1 or columns % 2 == 1
    if odd:
        source = torch.nn.functional.pad(source, (0, columns % 2, 0, rows % 2))
    return source[::2, ::2] + source[1::2, 1::2]


@torch.compile(dynamic=True)
def paired_rows(source: Tensor, other: Tensor) -> Tensor:
    """Dynamo makes a check of an assertion of one comparison, and asks for the others."""
    assert source.size(0) % 2 == 0 and source.size(0) == other.size(0), "pairs of rows"
    return source + other


class Causal(torch.nn.Module):
    """What it keeps for one length is asked for it, and compiled again for each other."""

    mask = None

    def forward(self, source: Tensor) -> Tensor:
        """The rows before each row, together."""
        rows = source.size(0)
        if self.mask is None or self.mask.size(0) != rows:
            self.mask = torch.ones(rows, rows).tril()
        return self.mask @ source


causal = torch.compile(Causal(), dynamic=True)


@register_lowering(torch.ops.neighbors.padded_rows)
def padded_rows(source, rows):
    """Written for an older torch: this method of `sizevars` has another name now."""
    return source, V.graph.sizevars.evaluate_static_shape(rows)


@register_lowering(torch.ops.neighbors.rows_apart)
def rows_apart(source):
    """A loop counts with the number, so that it stays one."""
    rows = V.graph.sizevars.guard_int(source.get_size()[0])
    return [select(source, 0, row) for row in range(rows)]


@register_lowering(torch.ops.neighbors.square_part)
def square_part(source):
    """Whichever side is the shorter, one kernel serves both."""
    rows, columns = source.get_size()
    side = V.graph.sizevars.evaluate_min(rows, columns)
    return slice_(slice_(source, 0, 0, side), 1, 0, side)


@register_lowering(torch.ops.neighbors.repeated_rows)
def repeated_rows(source, times):
    """How often a value is read is an estimate, for which no size has to be known."""
    source.mark_reuse(V.graph.sizevars.guarding_hint_or_throw(times))
    return repeat(source, [times, 1])


def best_rows(source: Tensor, values: Tensor, indices: Tensor) -> Tensor:
    """Never compiled: nothing here is reported."""
    torch.topk(source, 3, out=(values, indices))
    return values
