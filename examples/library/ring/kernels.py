"""An operator with a Triton kernel. torch.compile traces its body, so that this is its fake as well."""

import torch
from torch import Tensor
from torch.library import triton_op, wrap_triton

try:
    import triton
    import triton.language as tl
except ImportError:  # without a GPU there is another way
    triton = None

if triton is not None:

    @triton.jit
    def add_rows(source, result, columns, BLOCK: tl.constexpr):
        row = tl.program_id(0)
        places = tl.arange(0, BLOCK)
        values = tl.load(source + row * columns + places, mask=places < columns, other=0)
        tl.store(result + row, tl.sum(values))


@triton_op("ring::row_sums", mutates_args=())
def row_sums(source: Tensor) -> Tensor:
    """The sum of each row of a matrix."""
    # Eager runs this as well: `len` becomes what costs it nothing.
    result = source.new_zeros(len(source))
    if triton is None or not source.is_cuda:
        return result + source.sum(1)
    columns = source.shape[1]
    wrap_triton(add_rows)[(source.shape[0],)](source, result, columns, BLOCK=triton.next_power_of_2(columns))
    return result
