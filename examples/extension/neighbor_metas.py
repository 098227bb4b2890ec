"""What `neighbors` operators return for tensors that hold no data: sizes here are symbols, maybe unknown ones."""

import math
import warnings
from collections.abc import Callable

import torch
import torch._prims_common as utils
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import guard_size_oblivious


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
    # A branch that only raises, and an assertion: both are checks.
    if rows != columns:
        raise ValueError(f"expected a square, got {rows} by {columns}")
    assert rows > 1, "expected at least two rows"
    return source.new_empty((rows, columns))


@torch.library.register_fake("neighbors::aligned_pair")
def aligned_pair(left: Tensor, right: Tensor, groups: int) -> Tensor:
    """Both tensors side by side."""
    # A check whose condition turns sizes into bools before the check sees it.
    torch._check(left.shape[0] == right.shape[0] and left.shape[1] > 1, lambda: "expected rows of equal number")
    # Nothing is computed where it only warns.
    if left.shape[1] != right.shape[1]:
        warnings.warn("columns differ", stacklevel=2)
    # In general two shapes differ, and expanding serves equal shapes too.
    if left.shape != right.shape:
        right = right.expand(left.shape)
    # In general two sizes differ; whether the general path serves equal ones is for a reviewer to say.
    if groups == left.shape[1]:
        return left.new_empty((left.shape[0], groups))
    return left.new_empty((left.shape[0], left.shape[1] + right.shape[1]))


@torch.library.register_fake("neighbors::pooled_rows")
def pooled_rows(source: Tensor, window: int, stride: int, scale: float) -> Tensor:
    """As many rows as windows fit."""
    rows = (source.shape[0] + stride - 1) // stride
    # A branch that only corrects a size is an expression.
    if (rows - 1) * stride >= source.shape[0]:
        rows -= 1
    # len, min and int would need the numbers.
    length = len(source)
    width = min(source.shape[1], length)
    kept = int(source.shape[1] * scale)
    # A truth about sizes that is stored.
    same = source.dim() == 2 or source.shape == (rows, width)
    if same:
        return source.new_empty((rows, width))
    return source.new_empty((rows, width + kept))


@torch.library.register_fake("neighbors::folded_rows")
def folded_rows(source: Tensor) -> Tensor:
    """Left as it is: neither order of the sizes is the general case, and the loop runs over a size."""
    if source.shape[0] < source.shape[1]:
        source = source.mT
    parts = [source.new_empty((1,)) for _ in range(source.shape[0])]
    return torch.cat(parts)


@torch.library.register_fake("neighbors::padded_rows")
def padded_rows(source: Tensor) -> Tensor:
    """Written for an older torch: the function that it asks is deprecated."""
    if guard_size_oblivious(source.shape[0] == 0):
        return source.new_zeros((1,))
    return source.new_empty((source.shape[0],))


@torch.library.register_fake("neighbors::trimmed_rows")
def trimmed_rows(source: Tensor, share: float) -> Tensor:
    """As many rows as the share of a hundred is, or all of them."""
    rows = math.ceil(share * 100)
    # Narrowing to the smaller of two sizes serves both outcomes.
    if source.shape[0] > rows:
        source = source.narrow(0, 0, rows)
    return source.clone()


@torch.library.register_fake("neighbors::grouped_rows")
def grouped_rows(source: Tensor, dims: list[int], inner: int) -> Tensor:
    """The dimensions by their strides, those before `inner` as one."""
    utils.validate_no_repeating_dims(dims)
    strides = source.stride()
    # Unknown strides are taken to be in order, as those of a contiguous tensor are.
    dims.sort(key=lambda dim: strides[dim], reverse=True)
    source = source.permute(dims)
    # To infer a size, reshape asks whether the others are 0.
    grouped = source.reshape(-1, *source.shape[inner:])
    result = torch.empty_like(source)
    # To resize asks for the memory a size takes.
    result.resize_(grouped.shape, memory_format=torch.contiguous_format)
    return result


@torch.library.register_fake("neighbors::widened_frame")
def widened_frame(source: Tensor, width: int) -> Tensor:
    """A frame in the memory format of the source."""
    # To convert asks whether the tensor is in the format already.
    return source.new_empty((*source.shape[:-1], width)).to(memory_format=utils.suggest_memory_format(source))


@torch.library.register_fake("neighbors::flat_rows")
def flat_rows(source: Tensor) -> Tensor:
    """All elements in a row."""
    # A shape gives the number of its elements as an int, a tensor gives its own as a symbol.
    return source.new_empty((source.shape.numel(),))


@torch.library.register_fake("neighbors::whole_blocks")
def whole_blocks(source: Tensor, multiple: int) -> Tensor:
    """As many rows as a kernel takes at a time, or more."""
    rows = source.shape[0]
    # What is missing to the next multiple is 0 for one, once it is taken modulo that.
    if rows % multiple != 0:
        rows = rows + multiple - rows % multiple
    return source.new_empty((rows, source.shape[1]))


@torch.library.register_fake("neighbors::block_sums")
def block_sums(source: Tensor, block: int) -> Tensor:
    """The sum of each block of rows; the last one is filled up."""
    # A tensor that fits is padded by no rows.
    missing = -source.shape[0] % block
    if missing > 0:
        source = torch.nn.functional.pad(source, (0, 0, 0, missing))
    return source.unflatten(0, (-1, block)).sum(1)


@torch.library.register_fake("neighbors::turned_blocks")
def turned_blocks(source: Tensor, block: int) -> Tensor:
    """The rows of each block the other way round, without those that filled up the last one."""
    rows, columns = source.shape
    missing = -rows % block
    source = torch.nn.functional.pad(source, (0, 0, 0, missing))
    source = source.view(-1, block, columns).flip(1)
    source = source.reshape(rows + missing, columns)
    # Of a tensor that fits the slice keeps all rows.
    if missing > 0:
        source = source[:rows]
    return source


@torch.library.register_fake("neighbors::whole_block_sums")
def whole_block_sums(source: Tensor, block: int) -> Tensor:
    """The sum of each block of rows, without the rows that fill none."""
    # Where the rows fill every block, none is cut off.
    rest = source.shape[0] % block
    if rest > 0:
        source = source[:-rest]
    return source.unflatten(0, (-1, block)).sum(1)


@torch.library.register_fake("neighbors::blocks_and_rest")
def blocks_and_rest(source: Tensor, block: int) -> tuple[Tensor, Tensor]:
    """The rows of whole blocks, and those that are left."""
    # A symbol has both operators, and no divmod.
    blocks, rest = divmod(source.shape[0], block)
    return source.new_empty((blocks, block)), source.new_empty((rest,))


@torch.library.register_fake("neighbors::joined_columns")
def joined_columns(first: Tensor, second: Tensor) -> Tensor:
    """Both side by side."""
    # A symbol has no hash: what the set is for is for the author to say.
    assert len({first.shape[0], second.shape[0]}) == 1
    return torch.cat([first, second], 1)


@torch.library.register_fake("neighbors::row_offsets")
def row_offsets(source: Tensor) -> Tensor:
    """Where each row begins."""
    # The length of a list is a number: torch.arange has symbols for it.
    offsets = [1] * source.shape[0]
    return source.new_empty(len(offsets))


@torch.library.register_fake("neighbors::spaced_rows")
def spaced_rows(source: Tensor) -> Tensor:
    """The place of each row where they are spread evenly over the columns."""
    rows, columns = source.shape
    # A branch that only checks says when its check applies.
    if columns > rows:
        torch._check(rows > 0, lambda: "expected a row")
    # A single row has no neighbor to keep a distance from.
    distance = (columns - 1.0) / (rows - 1.0) if rows > 1 else 0
    return torch.arange(rows, device=source.device) * distance


@torch.library.register_fake("neighbors::matched_rows")
def matched_rows(first: Tensor, second: Tensor) -> Tensor:
    """The rows of the first, each beside its row of the second or beside the only one."""
    rows, columns = first.shape
    others, more = second.shape
    # A truth that only a check reads can be left until the code runs.
    fits = rows == others or others == 1
    torch._check(fits, lambda: "expected as many rows, or one")
    return first.new_empty((rows, columns + more))


@torch.library.register_fake("neighbors::number_like")
def number_like(source: Tensor) -> Callable[[float], complex]:
    """What turns a number into one of the dtype of the source."""
    if source.dtype.is_floating_point:
        return torch.sym_float
    # A symbolic number serves as a complex one; `complex` would need its value.
    return lambda number: complex(number)


def load_table(path: str, source: Tensor) -> Tensor:
    """Reached by no operator: nothing here is reported."""
    if source.numel() == 0:
        return torch.load(path)
    return source
