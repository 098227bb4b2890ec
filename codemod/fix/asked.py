"""What a condition that torch asks on a line is written as, so that it asks for less."""

from __future__ import annotations

from collections.abc import Iterator

from codemod.fix.caches import cache_at
from codemod.fix.crops import crop_at
from codemod.fix.grids import grid_at
from codemod.fix.order import order_at
from codemod.fix.pools import pool_at
from codemod.fix.reshapes import reshapes_at
from codemod.model.edits import Edit
from codemod.probe.answers import Answer
from codemod.probe.symbolic_forms import POOL_ADVICE

UNDECIDED = ("error", "break")
"""Where torch may have met a branch that it could not decide."""
_CACHE = "what is kept for one size is made anew wherever it is compiled"
_CROP = "the slice wherever it is compiled, in place of a branch that only crops: it takes all where that is no more"
_GRID = "numbers in equal steps of arange wherever it is compiled, in place of linspace, which makes its steps a number"
_ORDER = "what decides without a size is asked before the sizes"
_POOL = "the first result of max_pool1d_with_indices, which is that of max_pool1d and keeps the length symbolic"
_VIEW = "a view of what lies in order, in place of a reshape: it infers a size without asking for the others"


def asked_at(answer: Answer, path: str, source: bytes, line: int) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Each way to write what an answer says of `line`, in words, with its edits of `path`.

    What an object keeps for the size that it met last is made anew. Other operands are asked first, or a slice is taken
    wherever the branch that only crops is compiled. What C++ asks of a reshape, a view does not ask.
    """
    written = [(_CACHE, cache_at(path, source, line)), (_GRID, grid_at(path, source, line))]
    if answer.kind in UNDECIDED:
        ordered = order_at(path, source, line)
        written += [(_ORDER, (ordered,) if ordered is not None else ()), (_CROP, crop_at(path, source, line))]
        written += [(_VIEW, reshapes_at(path, source, line))] if "reshape" in answer.native else []
    if answer.advice == POOL_ADVICE:
        written += [(_POOL, pool_at(path, source, line))]
    return ((what, edits) for what, edits in written if edits)
