"""An assertion that Dynamo asks for, as several of which it makes checks.

What holds where all parts do, each asked where the ones before it hold, as `assert` and `and` ask.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from transforms.python.flow.asking import asks
from transforms.python.flow.imported import torch_name
from transforms.python.flow.nodes import all_nodes, is_read
from transforms.python.flow.values import INT
from transforms.python.writing.clamps import same
from transforms.python.writing.nodes import beside_comparison, code
from transforms.python.writing.place import Place
from transforms.python.writing.traced import asked_of

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.Lt: ast.GtE,
    ast.Gt: ast.LtE,
    ast.In: ast.NotIn,
    ast.NotEq: ast.Eq,
    ast.GtE: ast.Lt,
    ast.LtE: ast.Gt,
    ast.NotIn: ast.In,
}
_WRITTEN: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}
_NAMES = (ast.Constant, ast.Name, ast.Attribute)


class Part(NamedTuple):
    """A condition that a part of an assertion asserts, with the loop that does so for each of some elements."""

    test: ast.expr
    loop: ast.comprehension | None = None


def parts(place: Place, node: ast.Assert) -> list[Part]:
    """What `node` asserts, in parts that Dynamo asks for no more; none where it cannot be parted."""
    split = _Split(place).parts(node.test)
    values = place.values
    if split is None or any(asked_of(ast.Assert(part.test, node.msg), values) for part in split):
        return []
    inside = [inner for part in split for inner in all_nodes([part.test])]
    choices = any(asks(values.value(inner)) for inner in inside if isinstance(inner, (ast.IfExp, ast.BoolOp)))
    arrays = any(torch_name(inner).partition(".")[0] in ("np", "numpy") for inner in inside)  # which are no checks
    return [] if choices or arrays else split


def written(place: Place, test: ast.expr) -> str:
    """The source of a condition, which may be made of pieces of the function."""
    if hasattr(test, "lineno"):
        return place.text(test)
    match test:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return f"{_operand(place, left)} {_WRITTEN[type(operator)]} {_operand(place, right)}"
        case ast.Tuple(elts=elements):
            texts = [code(place.tree(element)) for element in elements]
            return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
    return ast.unparse(test)


def _operand(place: Place, node: ast.expr) -> str:
    return code(beside_comparison(place.tree(node))) if hasattr(node, "lineno") else written(place, node)


class _Split:
    def __init__(self, place: Place) -> None:
        self._place, self._values = place, place.values

    def parts(self, test: ast.expr) -> list[Part] | None:
        """What holds together where `test` does; None where that is not to be seen."""
        if not asks(self._values.value(test)):
            return [Part(test)]
        match test:
            case ast.BoolOp(op=ast.And(), values=operands):
                return _joined(map(self.parts, operands))
            case ast.BoolOp(op=ast.Or(), values=operands):
                return self._one_of(operands)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._opposite(operand)
            case ast.Compare(left=left, ops=[_, _, *_] as operators, comparators=comparators):
                if not all(map(is_read, comparators[:-1])):
                    return None
                pairs = itertools.pairwise([left, *comparators])
                return _joined(self.parts(_compare(*pair, o)) for pair, o in zip(pairs, operators, strict=True))
            case ast.Compare(left=left, ops=[ast.NotIn()], comparators=[held]):
                return self._none_of(left, held)
            case ast.Compare(left=left, ops=[ast.In() as operator], comparators=[ast.Set(elts=elements)]):
                return [Part(_compare(left, ast.Tuple(elements, ast.Load()), operator))] if _plain(elements) else None
            case ast.Call(func=ast.Name(id="all"), args=[ast.GeneratorExp() as each], keywords=[]):
                return self._each(each)
        return [Part(test)]

    def _opposite(self, operand: ast.expr) -> list[Part] | None:
        match operand:
            case ast.BoolOp(op=ast.Or(), values=operands):
                return _joined(self.parts(ast.UnaryOp(ast.Not(), each)) for each in operands)
            case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _OPPOSITE:
                values = [self._values.value(side) for side in (left, right)]
                equal = isinstance(operator, (ast.Eq, ast.NotEq))
                numbers = all(value.numeric and (equal or not value.real) for value in values)  # a NaN has no order
                if numbers or isinstance(operator, (ast.In, ast.NotIn)):
                    return self.parts(_compare(left, right, _OPPOSITE[type(operator)]()))
        if self._values.value(operand).kind == INT:
            return [Part(_compare(operand, ast.Constant(0), ast.Eq()))]
        return None

    def _one_of(self, operands: Sequence[ast.expr]) -> list[Part] | None:
        """`n in (1, m)` of `n == 1 or n == m`."""
        first = operands[0].left if isinstance(operands[0], ast.Compare) else None
        if first is None or not is_read(first) or self._values.value(first).kind != INT:
            return None
        found: list[ast.expr] = []
        for operand in operands:
            match operand:
                case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]) if same(left, first):
                    found.append(right)
        # What is asked for only where the first is another may not be there.
        named = all(isinstance(part, _NAMES) for value in found for part in all_nodes([value]))
        if len(found) < len(operands) or not named:
            return None
        return [Part(_compare(first, ast.Tuple(found, ast.Load()), ast.In()))]

    def _none_of(self, left: ast.expr, held: ast.expr) -> list[Part] | None:
        elements = held.elts if isinstance(held, (ast.Tuple, ast.List, ast.Set)) else []
        numbers = all(self._values.value(each).numeric for each in [left, *elements])
        if not elements or not numbers or not _plain([left, *elements]):
            return None
        return _joined(self.parts(_compare(left, element, ast.NotEq())) for element in elements)

    def _each(self, each: ast.GeneratorExp) -> list[Part] | None:
        """What a loop asserts in place of `all(… for d in x.shape)`, whose variables the function does not have."""
        inside = set(map(id, all_nodes([each])))
        targets = {n.id for n in all_nodes([g.target for g in each.generators]) if isinstance(n, ast.Name)}
        taken = any(isinstance(n, ast.Name) and n.id in targets and id(n) not in inside for n in self._place.nodes)
        plain = len(each.generators) == 1 and not (each.generators[0].ifs or each.generators[0].is_async)
        return [Part(each.elt, each.generators[0])] if plain and not taken else None


def _compare(left: ast.expr, right: ast.expr, operator: ast.cmpop) -> ast.Compare:
    return ast.Compare(left, [operator], [right])


def _joined(found: Iterable[list[Part] | None]) -> list[Part] | None:
    every: list[Part] = []
    for several in found:
        if several is None:
            return None
        every += several
    return every


def _plain(nodes: Sequence[ast.expr]) -> bool:
    """Whether expressions may be evaluated again, or not at all."""
    return all(is_read(node) and not isinstance(node, ast.Starred) for node in nodes)
