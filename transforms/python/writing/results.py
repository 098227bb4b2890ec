"""Whether what two paths give has the same shape where a size is 0, as far as the sizes are written."""

from __future__ import annotations

import ast
import copy
import operator
import re
from collections.abc import Callable, Mapping, Sequence

from transforms.python.flow.nodes import AsShape, called

_FACTORIES = re.compile(r"^(?:new_)?(?:zeros|ones|empty|full)$")
_LIKE = re.compile(r"^(?:zeros|ones|empty|full)_like$")
_COPIES = re.compile(r"^(?:clone|contiguous|to|neg|abs|exp|float|half|double)$")
_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
}  # fmt: skip
_DEPTH = 8
_PAIRS = 32
_NODES = 200


def disagree(
    special: ast.expr, general: ast.expr, empty: Sequence[ast.expr], variables: Mapping[str, ast.expr]
) -> bool:
    """Whether the values of two paths, for what is empty and in general, are seen to differ in shape or as numbers.

    `empty` are the sizes that are 0; `variables` what those that are assigned once are made of.
    """
    sizes = _Sizes(empty, variables)
    pairs = [(special, general)]
    for _ in range(_PAIRS):
        if not pairs:
            break
        first, second = map(sizes.resolved, pairs.pop())
        if isinstance(first, ast.Tuple) and isinstance(second, ast.Tuple):
            if len(first.elts) != len(second.elts):
                return True
            pairs += zip(first.elts, second.elts, strict=True)
        elif sizes.number(first) is not None and sizes.number(second) is not None:
            if sizes.number(first) != sizes.number(second):
                return True
        elif sizes.differ(_shape(first), _shape(second)):
            return True
    return False


def alike(special: ast.expr, general: ast.expr, empty: Sequence[ast.expr], variables: Mapping[str, ast.expr]) -> bool:
    """Whether the value in general is a tensor without values that is seen to have the shape of the other.

    The arguments are those of `disagree`.
    """
    sizes = _Sizes(empty, variables)
    first, second = map(sizes.resolved, (special, general))
    shapes = _shape(first), _shape(second)
    unset = re.search(r"^(?:new_)?empty(?:_like)?$", called(second)) is not None
    return unset and None not in shapes and (shapes[0] == shapes[1] or not sizes.differ(*shapes, unseen=True))


def _shape(value: ast.expr) -> list[ast.expr] | str | None:
    """The sizes of a tensor as written, or the tensor that has them; None where that is not to be seen."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and _COPIES.match(called(value)):
        value = value.func.value
    if not isinstance(value, ast.Call):
        return ast.unparse(value) if isinstance(value, ast.Name) else None
    name = called(value)
    if _LIKE.match(name) and value.args:
        return ast.unparse(value.args[0])
    if not _FACTORIES.match(name) or not value.args:
        return None
    sizes: Sequence[ast.expr] = value.args[:1] if name.endswith("full") else value.args
    if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)):
        sizes = sizes[0].elts
    elif len(sizes) == 1 and isinstance(shape := AsShape().visit(copy.deepcopy(sizes[0])), ast.Attribute):
        return ast.unparse(shape.value) if shape.attr == "shape" else None
    return None if any(isinstance(size, ast.Starred) for size in sizes) else list(sizes)


class _Sizes:
    def __init__(self, empty: Sequence[ast.expr], variables: Mapping[str, ast.expr]) -> None:
        self._variables = variables
        self._empty = {ast.unparse(self._written(size)) for size in empty}

    def resolved(self, value: ast.expr) -> ast.expr:
        """What a variable is made of, where that is one thing."""
        for _ in range(_DEPTH):
            if not isinstance(value, ast.Name) or value.id not in self._variables:
                break
            value = self._variables[value.id]
        return value

    def differ(
        self, first: list[ast.expr] | str | None, second: list[ast.expr] | str | None, unseen: bool = False
    ) -> bool:
        """Whether two shapes are seen to differ; `unseen` where that is not to be seen."""
        if isinstance(first, str) and isinstance(second, list):
            first, second = second, first
        if not isinstance(first, list) or second is None:
            return unseen
        if isinstance(second, str):
            second = [ast.parse(f"{second}.shape[{i}]", mode="eval").body for i in range(len(first))]
        return len(first) != len(second) or any(self._other(*pair, unseen) for pair in zip(first, second, strict=True))

    def _other(self, first: ast.expr, second: ast.expr, unseen: bool) -> bool:
        numbers = self.number(first), self.number(second)
        if numbers == (None, None):
            return ast.unparse(self._written(first)) != ast.unparse(self._written(second))
        return unseen if None in numbers else numbers[0] != numbers[1]

    def number(self, value: ast.expr) -> int | None:
        """What an integer comes to; None where it rests on sizes that are not known."""
        value = self._written(value)
        if ast.unparse(value) in self._empty:
            return 0
        if isinstance(value, ast.Constant):
            return value.value if type(value.value) is int else None
        if not isinstance(value, ast.BinOp) or (function := _ARITHMETIC.get(type(value.op))) is None:
            return None
        left, right = self.number(value.left), self.number(value.right)
        if left is None or right is None or (right == 0 and isinstance(value.op, ast.FloorDiv)):
            return 0 if isinstance(value.op, ast.Mult) and 0 in (left, right) else None
        return function(left, right)

    def _written(self, value: ast.expr) -> ast.expr:
        """A size with its variables written out, and `x.size(i)` as `x.shape[i]`; not where that is long."""
        for _ in range(_DEPTH):
            if sum(1 for _ in ast.walk(value)) > _NODES:
                break
            before = ast.dump(value)
            value = _WrittenOut(self._variables).visit(copy.deepcopy(value))
            if ast.dump(value) == before:
                break
        return value


class _WrittenOut(AsShape):
    def __init__(self, variables: Mapping[str, ast.expr]) -> None:
        self._variables = variables

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._variables.get(node.id, node)
