"""What a value is, as far as symbolic shapes go: a Tensor, a size, a shape, a truth about sizes, or none of these.

What depends on a caller or on what a helper returns is a *parameter* value and names that dependency, so that a file
can be read by itself and the answer be filled in once the whole tree is known.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

EMPTY, STATIC, PLAIN, TENSOR, TENSORS, INT, FLOAT, BOOL, SHAPE, TUPLE, SEQUENCE, PARAMETER = (
    "empty",
    "static",
    "plain",
    "tensor",
    "tensors",
    "int",
    "float",
    "bool",
    "shape",
    "tuple",
    "sequence",
    "parameter",
)
SYMBOLIC = frozenset({INT, FLOAT, BOOL, SHAPE})


class Value(NamedTuple):
    """A kind, the parameters it depends on, and for tuples and sequences what they hold.

    "plain" is all that no other kind says. "empty" is None and what holds nothing: another value of the same variable
    decides. "static" is no Tensor, and the sizes it tells are no symbols: a ProcessGroup, an array, a known size.
    `container` is "tuple" (torch.Size too) or "list" where that is known: the two are never equal.
    A value without dependencies is what it says whatever the callers do. A dependency is a parameter's name, or
    `()` and a callee as written for what that call returns.
    """

    kind: str
    dependencies: frozenset[str] = frozenset()
    items: tuple[Value, ...] = ()
    container: str = ""
    sure: bool = True
    """False for what may be a Tensor, or hold Tensors, or be a bool, and may be something else.

    Of a number and of "plain": for what may as well be a Tensor, or numpy's; of a parameter: for one without
    annotation.
    """
    optional: bool = False
    """Whether a number, or what a shape holds, may be None or no number at all on another path."""
    scalar: str = ""
    """Of "plain": "bool", "number" or "float" for what is surely one; a "number" is no float."""
    whole: bool = True
    """Of a size, a shape: whether nothing in it may be a fraction, such as a factor of which nothing is known.
    Of a float, a truth: whether all that it is made of are numbers of Python's and of torch's."""

    @property
    def symbolic(self) -> bool:
        """Whether it may hold a symbol, under the dependencies it names."""
        return self.kind in SYMBOLIC or (self.kind == PARAMETER) or any(item.symbolic for item in self.items)

    @property
    def certain(self) -> bool:
        """Whether it holds a symbol whatever the callers do."""
        if self.kind in (TUPLE, SEQUENCE):
            return any(item.certain for item in self.items)
        return self.kind in SYMBOLIC and not self.dependencies

    @property
    def surely_tensor(self) -> bool:
        """Whether it is a Tensor on every path."""
        return self.kind == TENSOR and self.sure

    @property
    def surely_bool(self) -> bool:
        """Whether it is a bool or a SymBool on every path."""
        return self.kind == BOOL and self.sure

    @property
    def maybe_tensor(self) -> bool:
        """Whether it is a number on one path and may be a Tensor on another, or a number of numpy's."""
        return self.kind in (INT, FLOAT, STATIC) and not self.sure

    @property
    def integral(self) -> bool:
        """Whether it is an int or a SymInt on every path."""
        if self.kind == PARAMETER:
            return self.sure and not self.optional
        number = self.scalar in ("bool", "number") or (self.kind == INT and self.whole and self.sure)
        return number and not self.optional

    @property
    def numbers(self) -> bool:
        """Whether it is a number on every path, or holds nothing but numbers."""
        if self.kind in (TUPLE, SEQUENCE):
            return all(item.numbers for item in self.items)
        return (bool(self.scalar) or self.kind in SYMBOLIC) and not self.optional

    @property
    def integers(self) -> bool:
        """Whether it is an int or a SymInt on every path, or holds nothing else."""
        if self.kind in (TUPLE, SEQUENCE):
            return all(item.integers for item in self.items)
        return self.whole and not self.optional if self.kind == SHAPE else self.integral

    @property
    def numeric(self) -> bool:
        """Whether it is a number of Python's or of torch's, or holds nothing else, wherever it is not None."""
        if self.kind in (TUPLE, SEQUENCE):
            return all(item.numeric for item in self.items)
        if self.kind == PARAMETER:
            return self.sure
        return bool(self.scalar) or (self.kind in SYMBOLIC and self.sure and self.whole)

    @property
    def real(self) -> bool:
        """Whether it may be a float where another is an int."""
        return self.kind == FLOAT or self.scalar == "float"

    @property
    def held(self) -> str:
        """The container it is known to be, or ""."""
        return "tuple" if self.kind == TUPLE else self.container

    @property
    def shapelike(self) -> bool:
        """Whether it is a sequence of sizes, so that `==` compares element by element."""
        return self.kind == SHAPE or (self.kind in (TUPLE, SEQUENCE) and self.symbolic)


NOTHING, A_NUMBER, A_BOOL = Value(PLAIN), Value(PLAIN, scalar="number"), Value(PLAIN, scalar="bool")
A_REAL = Value(PLAIN, scalar="float")
# A parameter of which nothing is known, and what it holds: `batch_sizes[0]` is a Tensor where batch_sizes is one.
UNTYPED, HELD = Value(PLAIN, container="several"), Value(PLAIN, sure=False)
A_TENSOR, A_SIZE, A_TRUTH, A_FLOAT = Value(TENSOR), Value(INT), Value(BOOL), Value(FLOAT)
SOME_SHAPE = Value(SHAPE)
A_SHAPE = Value(SHAPE, container="tuple")
# A Tensor or a tuple of Tensors: `x.max(dim)`, `torch.where(x)`.
ONE_OR_MORE = Value(TENSOR, container="several", sure=False)
# What numpy gives: an array or a number of its own, whose truths are none of bool's.
OF_NUMPY = Value(STATIC, sure=False)
A_STATIC, NO_VALUE, MAYBE_TENSOR, SOME_TENSORS = Value(STATIC), Value(EMPTY), Value(TENSOR, sure=False), Value(TENSORS)

COUNT = re.compile(r"(?:^|_)(?:n?dims?|axis|axes|idx|index)\d?$|^(?:ndim|rank|dtype|device|layout)")
SIZE_NAMES = re.compile(r"(?:^|_)(?:sizes?|shape)$")
FIXED_SIZES = re.compile(r"kernel|group|block|chunk|step|window|batch_first|tile")


_LARGEST = 1000


def tuple_of(values: Sequence[Value]) -> Value:
    """A tuple of `values`; where they hold more than is worth following, only whether a symbol is among them."""
    return bounded(Value(TUPLE, items=tuple(values)))


def bounded(value: Value) -> Value:
    """A value, or where it holds more than is worth following, only whether a symbol is in it."""
    held = [value]
    for index in range(_LARGEST):
        if index == len(held):
            return value
        held += held[index].items
    # What is shared is looked at once: a tuple of one tuple twice, 40 levels deep, holds 2 ** 40.
    leaves, pending, seen = set[Value](), [value], set[int]()
    while pending:
        at = pending.pop()
        if id(at) not in seen:
            seen.add(id(at))
            pending += at.items
            if not at.items and at.symbolic:
                leaves.add(at)
    if not leaves:
        return NOTHING
    certain = any(leaf.certain for leaf in leaves)
    dependencies = frozenset[str]() if certain else frozenset[str]().union(*(leaf.dependencies for leaf in leaves))
    return Value(SHAPE, dependencies, container=value.held)


def join(values: Iterable[Value]) -> Value:
    """The least value that covers all of them; a Tensor wins, since its operators are never ours."""
    best: Value | None = None
    for value in values:
        best = value if best is None else _joined(best, value)
    return NOTHING if best is None else bounded(best)


def any_of(operands: Sequence[tuple[Value, bool]]) -> Value:
    """What `a or b`, or `a if … else b`, gives, of operands with whether they are a bool by their form.

    `count(x) or n == 2` may give a number: it is no sure truth.
    """
    joined = join(value for value, _ in operands)
    truths = all(value.surely_bool or value == A_BOOL or truth for value, truth in operands)
    return joined._replace(sure=truths) if joined.kind == BOOL else joined


def _joined(best: Value, value: Value) -> Value:
    if value == best:
        return best
    if EMPTY in (value.kind, best.kind):
        return maybe_none(best if value.kind == EMPTY else value)
    if value.optional or best.optional:
        joined = _joined(best._replace(optional=False), value._replace(optional=False))
        mixed = any(side.optional and side.kind == SHAPE for side in (value, best))
        return joined._replace(optional=mixed) if joined.kind == SHAPE else maybe_none(joined)
    if best.kind == value.kind == PLAIN:
        real = best.real or value.real
        return NOTHING if not (best.scalar and value.scalar) else A_REAL if real else A_NUMBER
    if best.kind in (PLAIN, STATIC) or value.kind in (PLAIN, STATIC):
        decisive = value if best.kind == STATIC or (best.kind == PLAIN and value.kind != STATIC) else best
        other = best if decisive is value else value
        if decisive.kind == BOOL:
            truth = other.scalar == "bool"
            return decisive._replace(sure=decisive.sure and truth, whole=decisive.whole and truth)
        if decisive.kind == INT and other.real:
            return decisive._replace(kind=FLOAT, whole=False)
        if decisive.kind in (INT, FLOAT) and not other.scalar:
            return decisive._replace(sure=decisive.sure and other.sure, optional=True, whole=False)
        return decisive if decisive.kind in (INT, FLOAT) else _unsure(decisive)
    if TENSOR in (value.kind, best.kind):
        return Value(TENSOR, sure=value.kind == best.kind and value.sure and best.sure)
    if PARAMETER in (value.kind, best.kind):
        decisive, other = (best, value) if value.kind == PARAMETER else (value, best)
        if decisive.kind in (INT, FLOAT) and not other.sure:
            part = any("[" in name for name in other.dependencies)
            return decisive._replace(sure=decisive.sure and not part, optional=True, whole=False)
        if decisive.kind == BOOL:
            return decisive._replace(sure=False)
        if decisive.kind != PARAMETER:
            return decisive if decisive.kind in (INT, FLOAT) else _unsure(decisive)
        return Value(PARAMETER, best.dependencies | value.dependencies, sure=best.sure and value.sure)
    if value.kind == best.kind:
        same = len(value.items) == len(best.items)
        items = tuple(map(join, zip(value.items, best.items, strict=False))) if same else ()
        certain = not (value.dependencies and best.dependencies)
        kind = value.kind if items or value.kind not in (TUPLE, SEQUENCE) else SHAPE
        held = value.held if value.held == best.held else ""
        dependencies = frozenset[str]() if certain else value.dependencies | best.dependencies
        return Value(kind, dependencies, items, held, value.sure and best.sure, whole=value.whole and best.whole)
    if SHAPE in (value.kind, best.kind):
        return SOME_SHAPE._replace(container=value.held if value.held == best.held else "")
    if {value.kind, best.kind} <= {INT, FLOAT, BOOL}:
        number = value if best.kind == BOOL or value.kind == FLOAT else best
        return number._replace(sure=value.sure and best.sure)
    return maybe_other(_unsure(best))


def maybe_none(value: Value) -> Value:
    """A value that is None on another path."""
    if value.kind == BOOL or value.scalar == "bool":
        return value._replace(sure=False) if value.kind == BOOL else NOTHING
    return value._replace(optional=True) if value.kind in (INT, FLOAT, PARAMETER) else value


def maybe_other(value: Value) -> Value:
    """A value that is None, or no number at all, on another path; of a shape, what it holds."""
    return value._replace(optional=True, whole=False) if value.kind == SHAPE else maybe_none(value)


def holding(value: Value, part: Value) -> Value:
    """A sequence that gets `part` for one of its elements."""
    if value.kind == SHAPE:
        return value if part.numbers else maybe_other(value)
    if value.kind == TENSORS:
        return value if part.surely_tensor else value._replace(sure=False)
    if value.kind == SEQUENCE:
        return bounded(value._replace(items=tuple(join((held, part)) for held in value.items)))
    return value


def _unsure(value: Value) -> Value:
    """A value that another path of the function does not have."""
    if value.items:
        return value._replace(items=tuple(map(_unsure, value.items)))
    if value.scalar or value.kind in (INT, FLOAT):
        return NOTHING if value.scalar else value._replace(whole=False)
    return value._replace(sure=False) if value.kind in (TENSOR, TENSORS) else value


def element(value: Value) -> Value:
    """What iterating over a value yields."""
    if value.kind == SHAPE:
        return Value(INT, value.dependencies, optional=value.optional, whole=value.whole)
    if value.kind == TENSORS:
        return Value(TENSOR, sure=value.sure)
    if value.kind in (TUPLE, SEQUENCE):
        return join(value.items)
    if value.kind == PARAMETER:
        return Value(PARAMETER, frozenset(f"{name}[]" for name in value.dependencies), sure=value.sure)
    if value.kind == TENSOR:
        return Value(TENSOR, sure=value.sure or value == ONE_OR_MORE)
    if value == UNTYPED:
        return HELD
    return value if value.kind == STATIC else NOTHING


def item(value: Value, index: int) -> Value:
    """What `value[index]` is."""
    if value.kind == TUPLE:
        return value.items[index] if -len(value.items) <= index < len(value.items) else NOTHING
    if value.kind == PARAMETER:
        return Value(PARAMETER, frozenset(f"{name}[{index}]" for name in value.dependencies), sure=value.sure)
    return element(value)


def sliced(value: Value, bounds: ast.Slice) -> Value:
    """What `value[low:high]` is; of bounds that are not written as numbers it may hold all that the value holds."""
    if value.kind != TUPLE:
        return value
    ends: list[Any] = [bounds.lower, bounds.upper, bounds.step]
    try:
        low, high, step = (end and ast.literal_eval(end) for end in ends)
        return value._replace(items=value.items[low:high:step])
    except (ValueError, TypeError):
        return value


def sequence_of(value: Value) -> Value:
    """A sequence whose elements have this value."""
    if value.kind == TENSOR:
        return Value(TENSORS, sure=value.sure)
    if value.kind in (TENSORS, TUPLE, SEQUENCE, SHAPE, BOOL):
        return bounded(Value(SEQUENCE, items=(value,)))
    return Value(SHAPE, value.dependencies, whole=value.kind != INT or value.integral)


def converted(function: str, value: Value) -> Value:
    """What `list`, `tuple`, `reversed` and their kin make of a value."""
    held = {"list": "list", "sorted": "list", "tuple": "tuple", "Size": "tuple"}.get(function, "")
    if value.shapelike and value.kind != TUPLE:
        return value._replace(container=held)
    if value.kind == TUPLE and held == "tuple":
        return value
    if value.kind == TUPLE:
        return Value(SHAPE, all_dependencies(value), container=held) if value.symbolic else NOTHING
    return value._replace(container=held) if value.kind in (TENSORS, SEQUENCE, PARAMETER) else NOTHING


def all_dependencies(value: Value) -> frozenset[str]:
    """The dependencies of a value and of what it holds."""
    return value.dependencies.union(*(all_dependencies(item) for item in value.items))
