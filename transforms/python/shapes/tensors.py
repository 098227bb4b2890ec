"""Tensors by their shapes: their ranks and sizes, and how new ones come of sizes and of several tensors."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

from transforms.python.shapes.sizes import ONE, ZERO, Size, Sizes, atom_of, constant, number, plus, product, text
from transforms.python.shapes.values import NONE, Number, Other, Raised, Several, Shape, Tensor, Value, text_of

FACTORY = re.compile(r"^(?:new_)?(?:zeros|ones|empty|full|rand|randn)$")
"""The functions that make tensors of sizes, which stand first."""


def stretched(tensor: Tensor, given: Sequence[Value]) -> Tensor | None:
    """A tensor that is expanded to `given` sizes which are not seen; None where nothing tells these from others."""
    texts = [text_of(value) for value in (tensor, *given)]
    named = not any("?" in each for each in texts)
    return Tensor(f"expanded({'; '.join(texts)})", expanded=tensor._replace(unset=False)) if named else None


class Tensors:
    """Tells the sizes of tensors; `ranks` are those of tensors whose sizes are not written."""

    def __init__(self, sizes: Sizes, ranks: dict[str, int]) -> None:
        self.algebra = sizes
        self._ranks = ranks
        self.stretched: dict[str, None] = {}
        """The sizes of what was expanded: each is that of the result, or 1."""

    def learn_rank(self, tensor: Tensor, rank: int) -> None:
        """Notes the rank of a tensor whose shape is unpacked."""
        self._ranks.setdefault(tensor.shape, rank)

    def of(self, tensor: Tensor) -> tuple[Size, ...] | None:
        """The sizes of a tensor, where its rank is seen."""
        if tensor.sizes is None and tensor.shape in self._ranks:
            return tuple(self.dimension(tensor, index) for index in range(self._ranks[tensor.shape]))
        return tensor.sizes

    def shape(self, tensor: Tensor) -> Several | Shape:
        """What `tensor.shape` is."""
        sizes = self.of(tensor)
        return Shape(tensor) if sizes is None else Several(tuple(map(Number, sizes)))

    def rank(self, tensor: Tensor) -> Size:
        """The number of dimensions."""
        sizes = self.of(tensor)
        if sizes is not None:
            return number(len(sizes))
        return tensor.rank if tensor.rank is not None else self.algebra.atom(f"rank({tensor.shape})", seen=False)

    def dimension(self, tensor: Tensor, index: int) -> Size:
        """The size of one dimension. Raises Raised where there is none."""
        if tensor.sizes is None:
            rank = self._ranks.get(tensor.shape)
            if rank is not None:
                if not -rank <= index < rank:
                    raise Raised
                index %= rank
            reduced = self._of_reduced(tensor, index)
            seen = tensor.shape.isidentifier() and (index >= 0 or rank is not None)
            return self.algebra.atom(f"{tensor.shape}.shape[{index}]", seen) if reduced is None else reduced
        if not -len(tensor.sizes) <= index < len(tensor.sizes):
            raise Raised
        return tensor.sizes[index]

    def _of_reduced(self, tensor: Tensor, index: int) -> Size | None:
        """The size of one dimension of what is reduced, by those of the tensor before."""
        if tensor.reduced is None or index < 0:
            return None
        before, dimensions, kept = tensor.reduced
        if kept and index in dimensions:
            return ONE
        left = (i for i in itertools.count() if kept or i not in dimensions)
        return self.dimension(before, next(itertools.islice(left, index, None))) if min(dimensions) >= 0 else None

    def numel(self, tensor: Tensor) -> Size:
        """The number of elements."""
        sizes = self.of(tensor)
        if sizes is None and tensor.elements is not None:
            return tensor.elements
        return self.algebra.atom(f"numel({tensor.shape})") if sizes is None else product(sizes)

    def factory(self, name: str, arguments: Sequence[Value], keywords: Mapping[str, Value]) -> Tensor | None:
        """What a function that makes tensors gives."""
        if name == "arange" and len(arguments) == 1 and isinstance(arguments[0], Number):
            return made([arguments[0].size])
        if not FACTORY.match(name):
            return None
        given = arguments[:1] if name.endswith("full") else arguments
        if not given and "size" in keywords:
            given = [keywords["size"]]
        unset = name.endswith("empty")
        if len(given) == 1 and isinstance(given[0], Shape):
            return given[0].of._replace(unset=unset)
        sizes = self.listed(given)
        return None if sizes is None else made(sizes)._replace(unset=unset)

    def listed(self, values: Sequence[Value]) -> list[Size] | None:
        """Sizes that are given one by one, or as one tuple."""
        alone = len(values) == 1 and not isinstance(values[0], Several)
        if len(values) == 1 and isinstance(values[0], Several):
            values = values[0].items
        if len(values) == 1 and isinstance(values[0], Shape):
            own = self.of(values[0].of)
            return None if own is None else list(own)
        sizes = [self._listed(value) for value in values]
        seen = [size for size in sizes if size is not None]
        return seen if len(seen) == len(values) and not (alone and isinstance(values[0], Other)) else None

    def _listed(self, value: Value) -> Size | None:
        if isinstance(value, Other):
            return self.algebra.atom(f"<{value.text}>", seen=False)
        return value.size if isinstance(value, Number) else None

    def broadcast(self, first: Tensor, second: Tensor) -> Tensor | None:
        """What arithmetic on two tensors gives."""
        if first.shape == second.shape and first.sizes == second.sizes:
            return first
        left, right = self.of(first), self.of(second)
        if left is None or right is None:
            return None
        rank = max(len(left), len(right))
        left, right = ((ONE,) * (rank - len(sizes)) + sizes for sizes in (left, right))
        for pair in zip(left, right, strict=True):
            constants = {constant(size) for size in pair} - {1}
            if len(constants) == 2 and None not in constants:
                raise Raised
        return made([self.algebra.made("broadcast", *pair) for pair in zip(left, right, strict=True)])

    def stretch(self, tensor: Tensor, result: Sequence[Size]) -> None:
        """Notes that a tensor was expanded to these sizes. Raises Raised where it has more dimensions."""
        own = self.of(tensor) or ()
        if len(own) > len(result):
            raise Raised
        for size, wanted in zip(reversed(own), reversed(result), strict=False):
            if size != wanted and (atom := atom_of(size)):
                self.stretched[atom] = None

    def joined(self, name: str, parts: Sequence[Value], at: int) -> Tensor | None:
        """What `cat` or `stack` makes of tensors."""
        tensors = [part for part in parts if isinstance(part, Tensor)]
        sizes = self.of(tensors[0]) if tensors else None
        if sizes is None or len(tensors) != len(parts):
            return None
        if name != "stack" and (ZERO,) in [self.of(tensor) for tensor in tensors] and len(sizes) != 1:
            tensors = [tensor for tensor in tensors if self.of(tensor) != (ZERO,)]  # they were always passed over
        elif name != "stack" and sizes == (ZERO,):
            return None
        others = [self.of(tensor) for tensor in tensors]
        if any(other is not None and len(other) != len(sizes) and len(other) != 1 for other in others):
            raise Raised
        if name == "stack":
            at = index_of([*sizes, ONE], at)
            return made([*sizes[:at], number(len(parts)), *sizes[at:]])
        index, total = index_of(sizes, at), ZERO
        for tensor in tensors:
            total = plus(total, self.dimension(tensor, at if tensor.sizes is None else index))
        return made([*sizes[:index], total, *sizes[index + 1 :]])

    def indexed(self, tensor: Tensor, items: Sequence[Value | slice | None]) -> Tensor | None:
        """What `tensor[…]` gives for numbers, slices of numbers and None; NONE stands for a new dimension."""
        sizes = self.of(tensor)
        if sizes is None:
            return None
        result: list[Size] = []
        left = list(sizes)
        for item in items:
            if item == NONE:
                result.append(ONE)
                continue
            if not left:
                raise Raised
            size = left.pop(0)
            if isinstance(item, slice):
                result.append(self._cut(size, item))
            elif isinstance(item, Number):
                at = constant(item.size)
                if at is not None and (length := constant(size)) is not None and not -length <= at < length:
                    raise Raised
            else:
                return None
        return made([*result, *left])

    def _cut(self, size: Size, part: slice) -> Size:
        first = Number(ZERO) if part.start is None else part.start
        last = Number(size) if part.stop is None else part.stop
        if part.step is None and isinstance(first, Number) and isinstance(last, Number):
            return self.algebra.made("slice", size, first.size, last.size)
        return self.algebra.atom(f"{text(size)} cut {part}", seen=False)


def index_of(sizes: Sequence[Size], dimension: int) -> int:
    """A dimension counted from the first. Raises Raised where there is none."""
    if not -len(sizes) <= dimension < max(len(sizes), 1):
        raise Raised
    return dimension % max(len(sizes), 1)


def made(sizes: Sequence[Size]) -> Tensor:
    """A tensor of sizes that are seen."""
    return Tensor("", tuple(sizes))
