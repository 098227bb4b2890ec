"""The shapes that operators of tensors give: those that fakes and decompositions are written with.

Source: the documentation of torch; what is not here gives a tensor of which nothing is seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from transforms.python.shapes.sizes import ONE, constant, number, plus, product, times
from transforms.python.shapes.tensors import Tensors, index_of, made, stretched
from transforms.python.shapes.values import NONE, Number, Raised, Several, Shape, Tensor, Value

_LIKE = re.compile(r"^(?:zeros|ones|empty|full|rand|randn)_like$")
_OF_ELEMENTS = re.compile(
    r"^(?:clone|contiguous|to|type_as|float|half|double|int|long|bool|detach|neg|negative|abs|exp|expm1|log|log1p|sqrt"
    r"|rsqrt|square|reciprocal|sigmoid|tanh|relu|gelu|silu|sin|cos|erf|floor|ceil|round|sign|clamp|conj|resolve_conj"
    r"|resolve_neg|softmax|log_softmax|cumsum|cumprod|flip|roll|tril|triu|zero|fill|masked_fill|dropout|logical_not"
    r"|bitwise_not|isnan|isinf|nan_to_num|requires_grad|layer_norm|copy|argsort)_?$"
)
_ARITHMETIC = re.compile(
    r"^(?:add|sub|mul|div|true_divide|pow|maximum|minimum|eq|ne|lt|le|gt|ge|logical_and|logical_or|atan2|fmod"
    r"|remainder|where)$"
)
_REDUCTION = re.compile(
    r"^(?:sum|mean|nansum|nanmean|prod|amax|amin|any|all|argmax|argmin|norm|logsumexp|std|var|count_nonzero)$"
)
_WITH_INDICES = re.compile(r"^(?:max|min|median|mode)$")


class Call(NamedTuple):
    """A call of an operator on a tensor: what is given besides, by position and by name."""

    name: str
    tensor: Tensor
    arguments: Sequence[Value]
    keywords: Mapping[str, Value]

    def given(self, index: int, name: str) -> Value | None:
        """An argument, or None where it is not given."""
        return self.arguments[index] if index < len(self.arguments) else self.keywords.get(name)

    def integer(self, index: int, name: str) -> int | None:
        """A known number that is given, or None."""
        value = self.given(index, name)
        return constant(value.size) if isinstance(value, Number) else None


def applied(tensors: Tensors, call: Call) -> Value | None:
    """What an operator gives."""
    name, tensor = call.name, call.tensor
    if _LIKE.match(name) or _OF_ELEMENTS.match(name):
        return tensor._replace(unset=name == "empty_like")
    if _ARITHMETIC.match(name.rstrip("_")):
        return _arithmetic(tensors, call)
    if _REDUCTION.match(name):
        return _reduced(tensors, call)
    if _WITH_INDICES.match(name) and call.given(0, "dim") is not None:
        reduced = _reduced(tensors, call)
        return None if reduced is None else Several((reduced, reduced))
    if name == "sort":
        return Several((tensor, tensor))
    if _WITH_INDICES.match(name):
        return made([])
    rule = _RULES.get(name)
    return None if rule is None else rule(tensors, call)


def _arithmetic(tensors: Tensors, call: Call) -> Tensor | None:
    result: Tensor | None = call.tensor
    for argument in call.arguments:
        if isinstance(argument, Tensor) and result is not None:
            result = tensors.broadcast(result, argument)
        elif not isinstance(argument, Number):
            return None
    return result


def _reduced(tensors: Tensors, call: Call) -> Tensor | None:
    tensor, given = call.tensor, call.given(0, "dim")
    keeps = call.given(1, "keepdim")
    if keeps is not None and (truth := _truth(keeps)) is None:
        return None
    kept = keeps is not None and truth is True
    if given is None or given == NONE:
        return None if kept else made([])
    dimensions = _dimensions(given)
    if dimensions is None:
        return None
    sizes = tensors.of(tensor)
    if sizes is None:
        rank = tensors.rank(tensor)
        shape = f"{tensor.shape} without {dimensions} {kept}"
        rank = rank if kept else plus(rank, number(len(dimensions)), -1)
        return Tensor(shape, None, rank, reduced=(tensor, tuple(dimensions), kept))
    gone = {index_of(sizes, dimension) for dimension in dimensions}
    return made([ONE if i in gone else size for i, size in enumerate(sizes) if kept or i not in gone])


def _dimensions(given: Value) -> list[int] | None:
    values = given.items if isinstance(given, Several) else [given]
    numbers = [constant(value.size) for value in values if isinstance(value, Number)]
    dimensions = [value for value in numbers if value is not None]
    return dimensions if dimensions and len(dimensions) == len(values) else None


def _reshaped(tensors: Tensors, call: Call) -> Tensor | None:
    if len(call.arguments) == 1 and isinstance(call.arguments[0], Shape):
        return call.arguments[0].of
    sizes = tensors.listed(call.arguments or list(call.keywords.values())[:1])
    if sizes is None:
        return None
    total, free = tensors.numel(call.tensor), [i for i, size in enumerate(sizes) if constant(size) == -1]
    rest = product(size for i, size in enumerate(sizes) if i not in free)
    if len(free) == 1:
        if not rest:
            raise Raised
        left_over = tensors.algebra.made("%", total, rest)
        if constant(left_over):
            raise Raised
        sizes[free[0]] = tensors.algebra.made("/", total, rest)
    elif constant(plus(total, rest, -1)) not in (None, 0):
        raise Raised
    return made(sizes)


def _expanded(tensors: Tensors, call: Call) -> Tensor | None:
    if len(call.arguments) == 1 and isinstance(call.arguments[0], Shape):
        return call.arguments[0].of
    sizes, own = tensors.listed(call.arguments), tensors.of(call.tensor)
    if sizes is None:
        return stretched(call.tensor, [*call.arguments, *call.keywords.values()])
    for back in range(1, len(sizes) + 1):
        if constant(sizes[-back]) == -1:
            seen = own is not None and back <= len(own)
            sizes[-back] = own[-back] if own is not None and seen else tensors.dimension(call.tensor, -back)
    tensors.stretch(call.tensor, sizes)
    return made(sizes)


def _like_other(tensors: Tensors, call: Call) -> Tensor | None:
    other = call.given(0, "other")
    if not isinstance(other, Tensor):
        return None
    sizes = tensors.of(other)
    if sizes is not None and call.name == "expand_as":
        tensors.stretch(call.tensor, sizes)
    return other


def _transposed(tensors: Tensors, call: Call) -> Tensor | None:
    sizes = tensors.of(call.tensor)
    first, second = (0, 1) if call.name == "t" else (call.integer(0, "dim0"), call.integer(1, "dim1"))
    if sizes is None or first is None or second is None:
        return None
    if call.name == "t" and len(sizes) != 2:
        if len(sizes) > 2:
            raise Raised
        return call.tensor
    order = list(sizes)
    first, second = index_of(sizes, first), index_of(sizes, second)
    order[first], order[second] = order[second], order[first]
    return made(order)


def _permuted(tensors: Tensors, call: Call) -> Tensor | None:
    sizes = tensors.of(call.tensor)
    order = _dimensions(call.arguments[0] if len(call.arguments) == 1 else Several(tuple(call.arguments)))
    if sizes is None or order is None or len(order) != len(sizes):
        return None
    return made([sizes[index_of(sizes, i)] for i in order])


def _unsqueezed(tensors: Tensors, call: Call) -> Tensor | None:
    sizes, at = tensors.of(call.tensor), call.integer(0, "dim")
    if at is None:
        return None
    if sizes is None:
        return Tensor(f"{call.tensor.shape} with {at}", None, plus(tensors.rank(call.tensor), ONE))
    at = index_of([*sizes, ONE], at)
    return made([*sizes[:at], ONE, *sizes[at:]])


def _squeezed(tensors: Tensors, call: Call) -> Tensor | None:
    sizes, at = tensors.of(call.tensor), call.integer(0, "dim")
    if sizes is None or at is None:
        return None
    at = index_of(sizes, at)
    length = constant(sizes[at])
    return None if length is None else made([*sizes[:at], *sizes[at + 1 :]]) if length == 1 else call.tensor


def _flattened(tensors: Tensors, call: Call) -> Tensor | None:
    if not call.arguments and not call.keywords:
        return made([tensors.numel(call.tensor)])
    sizes, first = tensors.of(call.tensor), call.integer(0, "start_dim")
    if sizes is None or first is None or call.given(1, "end_dim") is not None:
        return None
    return made([*sizes[:first], product(sizes[first:])])


def _narrowed(tensors: Tensors, call: Call) -> Tensor | None:
    sizes, at, length = tensors.of(call.tensor), call.integer(0, "dim"), call.given(2, "length")
    if sizes is None or at is None or not isinstance(length, Number):
        return None
    at = index_of(sizes, at)
    return made([*sizes[:at], length.size, *sizes[at + 1 :]])


def _sliced(tensors: Tensors, call: Call) -> Tensor | None:
    """`slice(dim, start, end)`, as C++ has it."""
    sizes, at, ends = tensors.of(call.tensor), call.integer(0, "dim"), (call.given(1, "start"), call.given(2, "end"))
    if sizes is None or at is None or call.given(3, "step") is not None:
        return None
    at = index_of(sizes, at)
    items: list[Value | slice | None] = [slice(None, None)] * at
    return tensors.indexed(call.tensor, [*items, slice(*ends)])


def _selected(tensors: Tensors, call: Call) -> Tensor | None:
    sizes, at = tensors.of(call.tensor), call.integer(0, "dim")
    if sizes is None or at is None:
        return None
    at = index_of(sizes, at)
    if call.name == "select":
        return made([*sizes[:at], *sizes[at + 1 :]])
    index = call.given(1, "index")
    if not isinstance(index, Tensor):
        return None
    count = tensors.numel(index)
    if not sizes[at] and count:
        raise Raised
    return made([*sizes[:at], count, *sizes[at + 1 :]])


def _repeated(tensors: Tensors, call: Call) -> Tensor | None:
    sizes, times_each = tensors.of(call.tensor), tensors.listed(call.arguments)
    if sizes is None or times_each is None:
        return None
    if len(times_each) < len(sizes):
        raise Raised
    sizes = (ONE,) * (len(times_each) - len(sizes)) + sizes
    return made([times(*pair) for pair in zip(sizes, times_each, strict=True)])


def _padded(tensors: Tensors, call: Call) -> Tensor | None:
    sizes, given = tensors.of(call.tensor), call.given(0, "pad")
    amounts = tensors.listed([given]) if isinstance(given, Several) else None
    if sizes is None or amounts is None or len(amounts) % 2 or len(amounts) > 2 * len(sizes):
        return None
    padded = list(sizes)
    for index in range(len(amounts) // 2):
        padded[-1 - index] = plus(padded[-1 - index], plus(amounts[2 * index], amounts[2 * index + 1]))
    return made(padded)


def _multiplied(tensors: Tensors, call: Call) -> Tensor | None:
    other = call.given(0, "other") or call.given(0, "vec" if call.name == "mv" else "mat2")
    if call.name == "mv" and isinstance(other, Tensor):
        tensors.learn_rank(call.tensor, 2)
        tensors.learn_rank(other, 1)
    left, right = tensors.of(call.tensor), tensors.of(other) if isinstance(other, Tensor) else None
    if left is None or right is None or not left or not right:
        return None
    batches = left[:-2], right[:-2]
    batch = tensors.broadcast(made(batches[0]), made(batches[1]))
    assert batch is not None
    assert batch.sizes is not None
    return made([*batch.sizes, *left[-2:-1], *(right[-1:] if len(right) > 1 else ())])


def _linear(tensors: Tensors, call: Call) -> Tensor | None:
    weight, sizes = call.given(0, "weight"), tensors.of(call.tensor)
    if not isinstance(weight, Tensor) or sizes is None:
        return None
    return made([*sizes[:-1], tensors.dimension(weight, 0)])


def _truth(value: Value) -> bool | None:
    """The constant that a value is, or None."""
    return {"True": True, "False": False}.get(getattr(value, "text", ""))


_RULES: Mapping[str, Callable[[Tensors, Call], Value | None]] = {
    "reshape": _reshaped, "view": _reshaped,
    "expand": _expanded, "broadcast_to": _expanded,
    "expand_as": _like_other, "view_as": _like_other, "reshape_as": _like_other,
    "t": _transposed, "transpose": _transposed, "swapaxes": _transposed,
    "permute": _permuted, "unsqueeze": _unsqueezed, "squeeze": _squeezed,
    "flatten": _flattened, "ravel": _flattened, "narrow": _narrowed, "slice": _sliced,
    "select": _selected, "index_select": _selected, "repeat": _repeated,
    "pad": _padded, "constant_pad_nd": _padded, "linear": _linear,
    "matmul": _multiplied, "mm": _multiplied, "bmm": _multiplied, "mv": _multiplied,
}  # fmt: skip
