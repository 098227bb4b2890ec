"""Who takes a number: whether they would notice that it is one of Python's and none of numpy's, of the same value.

They tell one from the other by its methods and its type, and by a division by 0, which numpy only warns of.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from transforms.python.flow.nodes import called, dotted
from transforms.python.writing.callees import of_torch
from transforms.python.writing.place import Place

_CONVERTING = frozenset({"int", "float", "slice", "bool"})
_CHOOSING = frozenset({"min", "max", "abs"})
"""Builtins that give one of the numbers, which others take then."""
_SHAPING = frozenset(
    {"reshape", "view", "expand", "repeat", "unflatten", "narrow", "split", "chunk", "new_zeros", "new_ones",
     "new_empty", "new_full", "unsqueeze", "roll", "repeat_interleave", "as_strided"}
)  # fmt: skip
"""Methods that take sizes, and are a Tensor's, or an array's, which takes both numbers."""
_PASSED_ON = (ast.UnaryOp, ast.Tuple, ast.List, ast.keyword, ast.Starred, ast.IfExp)
_MADE = (ast.Add, ast.Sub, ast.Mult)
_DIVIDED = (ast.Div, ast.FloorDiv, ast.Mod)


class Takers:
    """The places of a function where its numbers go."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def converted(self, node: ast.AST) -> bool:
        """Whether a number only becomes an `int`, itself or behind products, sums and differences."""
        inner = node
        while isinstance(holder := self._place.around(inner), ast.BinOp) and isinstance(holder.op, _MADE):
            if self._place.is_with_tensor(holder, inner):
                return False  # of an int it makes another dtype than of a float
            inner = holder
        return isinstance(holder, ast.Call) and called(holder) == "int" and isinstance(holder.func, ast.Name)

    def are_content(self, node: ast.expr, above: Set[str] = frozenset()) -> bool:
        """Whether all who get a number take one of Python's for it, save the variables `above`, asked for already."""
        inner: ast.AST = node
        while isinstance(holder := self._place.around(inner), (ast.BinOp, *_PASSED_ON)):
            if isinstance(holder, ast.BinOp):
                if self._place.is_with_tensor(holder, inner):
                    return True
                if not self._computes(holder, inner):
                    return False
            inner = holder
        match holder:
            case ast.Compare():
                return self._is_asked(holder)
            case ast.Slice() | ast.Subscript(slice=_):
                return not isinstance(holder, ast.Subscript) or holder.value is not inner
            case ast.Call():
                return self._takes(holder, above)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is inner:
                if name in self._place.augmented:
                    return False
                return name in above or all(self.are_content(use, above | {name}) for use in self._uses(name))
        return False

    def _is_asked(self, truth: ast.AST) -> bool:
        """Whether a truth, which numpy has a type of its own for, only decides."""
        inner, holder = truth, self._place.around(truth)
        while isinstance(holder, ast.BoolOp) or (isinstance(holder, ast.UnaryOp) and isinstance(holder.op, ast.Not)):
            inner, holder = holder, self._place.around(holder)
        return isinstance(holder, (ast.If, ast.IfExp, ast.While, ast.Assert)) and holder.test is inner

    def _computes(self, operation: ast.BinOp, operand: ast.AST) -> bool:
        """Whether arithmetic with numbers, and not with an array, makes the same of both."""
        divisor = operation.right
        if isinstance(operation.op, _MADE):
            other = divisor if operation.left is operand else operation.left
            return isinstance(other, ast.Constant) or self._place.values.value(other).numbers
        known = isinstance(divisor, ast.Constant) and isinstance(divisor.value, (int, float)) and bool(divisor.value)
        return isinstance(operation.op, _DIVIDED) and operation.left is operand and known

    def _takes(self, call: ast.Call, above: Set[str]) -> bool:
        name = called(call)
        if isinstance(call.func, ast.Name):
            return name in _CONVERTING or (name in _CHOOSING and self.are_content(call, above))
        if not isinstance(call.func, ast.Attribute):
            return False
        receiver = call.func.value
        shapes = name in _SHAPING and dotted(receiver) not in ("self", "cls")
        return of_torch(call) or shapes or self._place.values.surely_tensor(receiver)

    def _uses(self, name: str) -> Iterator[ast.Name]:
        """Where a variable is read, in functions inside too, of which nothing is known here."""
        for node in ast.walk(self._place.function):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                yield node
