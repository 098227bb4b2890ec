"""Tensors that are padded with what is made for that: `torch.cat([x, x.new_zeros(b, pad)], dim=1)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from transforms.python.flow.imported import torch_name
from transforms.python.flow.nodes import called, dotted
from transforms.python.writing.equal_sizes import EqualSizes
from transforms.python.writing.place import Place
from transforms.python.writing.remainders import is_changed

_JOINS = frozenset({"torch.cat", "torch.concat", "torch.concatenate"})
_MAKERS = re.compile(r"^torch\.(?:zeros|ones|full)$")
_METHODS = frozenset({"new_zeros", "new_ones", "new_full"})
_CONVERSIONS = frozenset({"to", "type", "type_as"})
_KEYWORDS = frozenset({"dtype", "device", "fill_value", "size"})
_INFINITE = re.compile(r"^(?:float\('-?(?:inf|nan)'\)|(?:torch|math|np|numpy)\.(?:inf|nan))$")


class Filled(NamedTuple):
    """A tensor that is joined with a filling, and by how much that makes it longer."""

    tensor: ast.Name
    amount: ast.expr
    before: bool
    """Whether the filling comes first."""
    behind: int | None
    """How many dimensions are behind the one in which they are joined; None where that is not known."""
    rank: int
    """How many dimensions the tensor has; 0 where that is not known."""
    number: str
    """What it is filled with, as written."""

    @property
    def amounts(self) -> ast.Tuple:
        """The amount, as `F.pad` is given several."""
        return ast.Tuple([self.amount], ast.Load())


def is_filling(value: ast.expr) -> bool:
    """Whether an expression makes a tensor of one number."""
    made = _made(value)[0]
    return made is not None and (bool(_MAKERS.match(torch_name(made.func))) or called(made) in _METHODS)


def filled_by(place: Place, value: ast.expr, fillings: Mapping[str, ast.expr]) -> Filled | None:
    """What joins a tensor with a filling of its own sizes else; None for other expressions.

    `fillings` are variables that hold such. The filling is one of the tensor's dtype and device: an empty tensor of
    another dtype changes that of what it is joined with.
    """
    if not isinstance(value, ast.Call) or torch_name(value.func) not in _JOINS or not value.args:
        return None
    parts = value.args[0].elts if isinstance(value.args[0], (ast.Tuple, ast.List)) else []
    dimensions = [*value.args[1:], *(keyword.value for keyword in value.keywords)]
    dimension = _integer(dimensions[0] if dimensions else ast.Constant(0))
    named = all(keyword.arg in ("dim", "axis") for keyword in value.keywords)
    if len(parts) != 2 or dimension is None or dimensions[1:] or not named:
        return None
    for tensor, other in (parts, parts[::-1]):
        filling = fillings.get(other.id, other) if isinstance(other, ast.Name) else other
        if isinstance(tensor, ast.Name) and is_filling(filling) and _is_of(place, filling, tensor.id):
            branch = place.site.node
            if not isinstance(branch, (ast.If, ast.IfExp)):
                return None
            own = EqualSizes(place, branch, True)
            amount = _amount(own, _sizes(place, filling), tensor.id, dimension)
            if amount is None:
                return None
            rank = own.rank(tensor.id)
            behind = -dimension - 1 if dimension < 0 else rank - dimension - 1 if rank else None
            return Filled(tensor, amount, tensor is parts[1], behind, rank, _number(filling))
    return None


def _made(value: ast.expr) -> tuple[ast.Call | None, list[ast.Call]]:
    """The call that makes a tensor, and the conversions behind it."""
    conversions: list[ast.Call] = []
    while isinstance(value, ast.Call) and called(value) in _CONVERSIONS and isinstance(value.func, ast.Attribute):
        conversions.append(value)
        value = value.func.value
    return (value if isinstance(value, ast.Call) else None), conversions


def _filled_with(made: ast.Call) -> ast.expr:
    """What the call of a maker fills with."""
    if called(made) in ("full", "new_full"):
        named = (keyword.value for keyword in made.keywords if keyword.arg == "fill_value")
        return made.args[1] if len(made.args) > 1 else next(named, ast.Constant(0))
    return ast.Constant(int("ones" in called(made)))


def _number(filling: ast.expr) -> str:
    made = _made(filling)[0]
    return ast.unparse(_filled_with(made)) if made is not None else ""


def _sizes(place: Place, filling: ast.expr) -> Sequence[ast.expr]:
    """The sizes that a filling is given; none where what it is filled with may be no number, or may act."""
    made = _made(filling)[0]
    sizes = {keyword.arg: keyword.value for keyword in made.keywords}.get("size") if made else None
    if made is None or not (made.args or sizes):
        return ()
    full, number = called(made) in ("full", "new_full"), _filled_with(made)
    number = number.operand if isinstance(number, ast.UnaryOp) else number
    constant = isinstance(number, ast.Constant) or _INFINITE.match(ast.unparse(number))
    if not constant and not (isinstance(number, ast.Name) and place.values.value(number).numbers):
        return ()
    first = _held(place, sizes or made.args[0])
    if isinstance(first, (ast.Tuple, ast.List)):
        return first.elts if full or len(made.args) <= 1 else ()
    return () if full or sizes else made.args


def _is_of(place: Place, filling: ast.expr, tensor: str) -> bool:
    """Whether a filling has the dtype and the device of a tensor."""
    made, conversions = _made(filling)
    if made is None or not all(keyword.arg in _KEYWORDS for keyword in made.keywords):
        return False
    both = {f"{tensor}.dtype", f"{tensor}.device"}
    given = {keyword.arg: _text(place, keyword.value) for keyword in made.keywords}
    own = both if called(made) in _METHODS and dotted(made.func).startswith(f"{tensor}.") else set[str]()
    alike = {text for text in own if text.rpartition(".")[2] not in given} | (both & set(given.values()))
    for conversion in conversions:
        (target, *others) = [_text(place, argument) for argument in conversion.args] or [""]
        if others or conversion.keywords or target not in {tensor, f"{tensor}.type()", *both}:
            return False
        alike |= both & {target} or both  # a type as a text tells the kind of device too
    return alike == both


def _text(place: Place, node: ast.expr) -> str:
    return ast.unparse(_held(place, node))


def _held(place: Place, node: ast.expr) -> ast.expr:
    """An expression, and of a variable its only value, where that still is the same."""
    values = place.assigned(node.id) if isinstance(node, ast.Name) and not place.in_loop else []
    held = values[0] if len(values) == 1 else None
    return node if held is None or is_changed(place, held) else held


def _amount(own: EqualSizes, sizes: Sequence[ast.expr], tensor: str, dimension: int) -> ast.expr | None:
    """The one of `sizes` in the dimension in which they are joined, where all others are those of the tensor."""
    count = len(sizes)
    starred = [at for at, size in enumerate(sizes) if isinstance(size, ast.Starred)]
    at = dimension if dimension >= 0 else dimension + count
    if not 0 <= at < count or len(starred) > 1 or at in starred:
        return None
    if not starred and own.rank(tensor) != count:
        return None
    for index, size in enumerate(sizes):
        if isinstance(size, ast.Starred):
            # How many dimensions it stands for is not known: the join counts from the side that it is not on.
            last = f"{tensor}.shape[{index}:]" if index == count - 1 and dimension >= 0 else ""
            first = f"{tensor}.shape[:{1 - count}]" if index == 0 and dimension < 0 else ""
            if ast.unparse(size.value) != (last or first):
                return None
        elif index != at and not own.is_own(size, tensor, index - count * (starred == [0]), 0 if starred else count):
            return None
    return sizes[at]


def _integer(node: ast.expr) -> int | None:
    """A number as written; None for others."""
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    value = node.operand if isinstance(node, ast.UnaryOp) else node
    if not isinstance(value, ast.Constant) or type(value.value) is not int:
        return None
    return -value.value if negative else value.value
