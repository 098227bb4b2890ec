"""What `neighbors` operators return for tensors that hold no data: sizes here are symbols."""

import torch
from torch import Tensor


@torch.library.register_fake("neighbors::neighbor_degree")
def neighbor_degree(index: Tensor, nodes: Tensor) -> Tensor:
    """One count for each node, as a column."""
    if index.numel() == 0:
        # Only a shortcut: the general path serves an empty index as well.
        return nodes.new_zeros((nodes.shape[0], 1))
    return nodes.new_empty((nodes.shape[0], 1))


@torch.library.register_fake("neighbors::neighbor_chain")
def neighbor_chain(source: Tensor) -> Tensor:
    """The sum over the rows, in the shape of the source."""
    rows, columns = source.shape
    if rows != columns and columns != 1:
        raise ValueError(f"expected a square or a column, got {rows} by {columns}")
    longest = max(rows, columns)
    assert longest > 0, "expected at least one row"
    return source.new_empty((rows, longest // max(rows, 1)))


def load_table(path: str, source: Tensor) -> Tensor:
    """Reached by no operator: nothing here is reported."""
    if source.numel() == 0:
        return torch.load(path)
    return source
