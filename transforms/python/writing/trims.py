"""Slices that cut a rest off the end of a tensor, and how much of it they keep."""

from __future__ import annotations

import ast
from typing import NamedTuple, TypeGuard

from transforms.python.flow.nodes import is_read
from transforms.python.writing.equal_sizes import EqualSizes
from transforms.python.writing.evaluation import evaluated_before
from transforms.python.writing.numbers import Arithmetic, value_of
from transforms.python.writing.place import Place


class Trim(NamedTuple):
    """A slice `x[:, :-a]`: of which tensor, the dimension that it cuts, from the end behind `...`, and by how much."""

    slice: ast.Subscript
    tensor: str
    dimension: int
    amount: ast.expr


def trims_of(place: Place, branch: ast.If | ast.IfExp) -> list[Trim]:
    """The slices that a branch gives to the tensor they are of; none where it does anything else."""
    if isinstance(branch, ast.IfExp):
        found = [_trim(place, branch.body, ast.unparse(branch.orelse))]
    else:
        alone = [s for s in branch.body if isinstance(s, ast.Assign) and len(s.targets) == 1]
        found = [_trim(place, s.value, ast.unparse(s.targets[0])) for s in alone]
        if branch.orelse or len(alone) < len(branch.body):
            return []
    trims = [trim for trim in found if trim is not None]
    return trims if len(trims) == len(found) else []


def _trim(place: Place, value: ast.expr, tensor: str) -> Trim | None:
    value = laid_out(value)
    if not isinstance(value, ast.Subscript) or not isinstance(value.value, ast.Name) or value.value.id != tensor:
        return None
    if not _is_tensor(place, value.value):
        return None
    dimension, cut = cut_of(value)
    if cut is None or cut.lower is not None or not _is_negated(cut.upper):
        return None
    return Trim(value, tensor, dimension, cut.upper.operand)


def laid_out(value: ast.expr) -> ast.expr:
    """What `contiguous()` lays out anew; any other expression as it is."""
    match value:
        case ast.Call(func=ast.Attribute(value=tensor, attr="contiguous"), args=[], keywords=[]):
            return tensor
    return value


def cut_of(value: ast.Subscript) -> tuple[int, ast.Slice | None]:
    """The only dimension that a slice cuts, from the last behind `...`, and how; None where it does anything else."""
    parts = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
    rests = [at for at, part in enumerate(parts) if isinstance(part, ast.Constant) and part.value is Ellipsis]
    whole = [isinstance(part, ast.Slice) and part.lower is part.upper is part.step is None for part in parts]
    (index, *others) = [at for at in range(len(parts)) if at not in rests and not whole[at]] or [-1]
    cut = parts[index]
    if others or len(rests) > 1 or not isinstance(cut, ast.Slice) or cut.step is not None:
        return 0, None
    return index - len(parts) if rests and rests[0] < index else index, cut


def kept_by(value: ast.Subscript) -> tuple[int, ast.expr | None]:
    """The only dimension that a slice cuts, and how much it keeps at the most: `n` of `x[:n]` and of `x[-n:]`."""
    dimension, cut = cut_of(value)
    if cut is not None and cut.lower is None:
        return dimension, None if _is_negated(cut.upper) else cut.upper
    if cut is not None and cut.upper is None and _is_negated(cut.lower):
        return dimension, cut.lower.operand
    return dimension, None


def _is_negated(bound: ast.expr | None) -> TypeGuard[ast.UnaryOp]:
    return isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub)


def _is_tensor(place: Place, name: ast.Name) -> bool:
    """Whether a variable is a Tensor: it is known to be, or was asked for its size, which of an array is no method."""
    if place.values.surely_tensor(name):
        return True
    return any(text.startswith(f"{name.id}.size(") for text in evaluated_before(place.function, place.site.node).texts)


def are_cut_off(place: Place, asked: ast.expr, amounts: list[ast.expr]) -> bool:
    """Whether the amounts are above 0 where `asked` holds: a slice that ends at a number above 0 keeps as many."""
    arithmetic = Arithmetic(place)
    condition, *functions = (arithmetic.function(node) for node in (asked, *amounts))
    holding = [drawn for drawn in arithmetic.draws() if condition is not None and value_of(condition, drawn)]
    values = [value_of(function, drawn) for function in functions if function is not None for drawn in holding]
    return bool(values) and all(value is not None and value > 0 for value in values)


def length(place: Place, branch: ast.If | ast.IfExp, trim: Trim, amount: ast.expr) -> ast.expr:
    """How much is kept of a tensor: 0 where the rest is all of it or more.

    What a division leaves is written as `n // m * m`, which torch can tell that m divides: it takes `n - n % m` for as
    unknown as n % m, and refuses to run what views the parts.
    """
    arithmetic, sizes = Arithmetic(place), EqualSizes(place, branch, True)
    cut = arithmetic.function(amount)
    rest = arithmetic.value(amount) if isinstance(amount, ast.Name) else amount
    match rest:
        case ast.BinOp(left=size, op=ast.Mod(), right=divisor) if is_read(divisor) and sizes.is_own(
            size, trim.tensor, trim.dimension
        ):
            return ast.BinOp(ast.BinOp(size, ast.FloorDiv(), divisor), ast.Mult(), divisor)
    for text in arithmetic.texts if cut is not None else ():
        size = ast.parse(text, mode="eval").body
        if sizes.is_own(size, trim.tensor, trim.dimension):
            kept = arithmetic.function(ast.BinOp(size, ast.Sub(), amount))
            whole = arithmetic.function(size)
            drawn = [numbers for numbers in arithmetic.draws() if whole is not None and whole(numbers) >= 0]
            left = [value_of(kept, numbers) for numbers in drawn if kept is not None]
            if left and all(number is not None and number >= 0 for number in left):
                return ast.BinOp(size, ast.Sub(), amount)
    size = ast.parse(f"{trim.tensor}.size({trim.dimension})", mode="eval").body
    return ast.Call(ast.Name("max", ast.Load()), [ast.BinOp(size, ast.Sub(), amount), ast.Constant(0)], [])
