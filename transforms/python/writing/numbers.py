"""Arithmetic on sizes, computed with numbers that are drawn in the place of sizes."""

from __future__ import annotations

import ast
import functools
import itertools
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from transforms.python.flow.nodes import called, is_read, run_before
from transforms.python.writing.evaluation import evaluated_before
from transforms.python.writing.place import Place
from transforms.python.writing.remainders import held_value, shared_names

_DRAWS, _NARROW = 400, 80
"""How often numbers are drawn, and how often once more of which most are 0, as several amounts seldom are at once."""
_SMALL, _LARGE = 16, 2**40
"""Between these are the numbers of expressions near which others are drawn."""
FEWEST = 3
"""Draws in which a branch has to have something to do, and those in which it has to have nothing."""
_MOST_PARTS = 2000
"""Parts of all expressions together; each variable that is added to itself doubles what follows."""
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
PLAIN = {"max": max, "min": min, "sym_max": max, "sym_min": min}
"""The functions that arithmetic calls."""

Numbers = tuple[int, ...]
"""One number for each name of `Arithmetic.names`."""


class Arithmetic:
    """Expressions of the same sizes, as functions of numbers.

    A variable stands for what it was given where that still is the same, and for what `held` says; else for what it was
    given once, of numbers that may be others by now. Other parts that may be read twice are numbers: of a divisor they
    are above 0, which no width of a block is.
    """

    def __init__(self, place: Place, held: Mapping[str, ast.expr] | None = None) -> None:
        self._place = place
        self._held: dict[str, ast.expr | None] = dict(held or {})
        """The values of variables, as far as they were asked for; None for those that have none."""
        self._numbers: dict[tuple[str, int], str] = {}
        """Their names, by what they stand for and the line at which it was read; 0 for what is read at the place."""
        self._divisors: set[tuple[str, int]] = set()
        self._line = 0
        self._constants: set[int] = set()
        self._open: set[str] = set()
        self._parts = 0

    def function(self, node: ast.expr) -> Callable[[Numbers], Any] | None:
        """What an expression comes to; None for one that is no arithmetic. Call no function before all are made."""
        expression = self._expression(node)
        if expression is None:
            return None
        tree = ast.fix_missing_locations(ast.Expression(expression))
        compiled = compile(tree, "<arithmetic>", "eval")
        return lambda drawn: eval(compiled, {"__builtins__": PLAIN}, dict(zip(self._names(), drawn, strict=True)))

    def draws(self) -> Iterator[Numbers]:
        """Numbers for all that the functions take, the same each time: small ones, which often agree, and others.

        Every other pair has some near the larger numbers that stand in the expressions, or near what two of these make;
        the last are next to 0.
        """
        draw = random.Random(0)
        divisors = [read in self._divisors for read in self._numbers]
        pairs = itertools.combinations_with_replacement(sorted(self._constants), 2)
        made = {number for a, b in pairs for number in (a, b, a + b, a * b)}
        limits = sorted(number for number in made if _SMALL < abs(number) < _LARGE)
        for index in range(_DRAWS + _NARROW):
            least, most = (-1, 1) if index >= _DRAWS else (-3, 6) if index % 2 else (-9, 40)
            numbers = [draw.randint(1 if divisor else least, most) for divisor in divisors]
            if limits and index % 4 > 1 and index < _DRAWS:
                width = draw.choice((1, most))
                near = [draw.choice(limits) + draw.randint(-width, width) for _ in numbers]
                chosen = (draw.choice(pair) for pair in zip(numbers, near, strict=True))
                numbers = [max(n, 1) if divisor else n for n, divisor in zip(chosen, divisors, strict=True)]
            yield tuple(numbers)

    @property
    def texts(self) -> list[str]:
        """The source of all that numbers stand for and that is read at the place, in the functions that were made."""
        return [text for text, line in self._numbers if not line]

    def _names(self) -> list[str]:
        return list(self._numbers.values())

    def _expression(self, node: ast.expr, divides: bool = False) -> ast.expr | None:
        self._parts += 1
        if self._parts > _MOST_PARTS:
            return None
        if isinstance(node, ast.NamedExpr):
            return self._expression(node.value, divides)
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            self._constants.add(abs(node.value))
            return node
        if isinstance(node, ast.BinOp) and isinstance(node.op, _OPERATORS):
            divided = divides or isinstance(node.op, (ast.FloorDiv, ast.Mod))
            left, right = self._expression(node.left, divides), self._expression(node.right, divided)
            return ast.BinOp(left, node.op, right) if left and right else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
            operand = self._expression(node.operand, divides)
            return ast.UnaryOp(node.op, operand) if operand else None
        if isinstance(node, ast.BoolOp):
            operands = self._all(node.values)
            return ast.BoolOp(node.op, operands) if operands else None
        if isinstance(node, ast.IfExp):
            operands = self._all([node.test, node.body, node.orelse])
            return ast.IfExp(*operands) if operands else None
        if isinstance(node, ast.Compare) and not any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
            operands = self._all([node.left, *node.comparators])
            return ast.Compare(operands[0], node.ops, operands[1:]) if operands else None
        if called(node) in PLAIN and isinstance(node, ast.Call) and not node.keywords:
            operands = self._all(node.args)
            return ast.Call(ast.Name(called(node), ast.Load()), operands, []) if operands and operands[1:] else None
        if isinstance(node, ast.Name) and not (self._line and self._may_change(node)):
            line, self._line = self._line, 0
            expression = self._of_variable(node, divides) or self._number(node, divides)
            self._line = line
            return expression
        return self._number(node, divides)

    def _of_variable(self, variable: ast.Name, divides: bool) -> ast.expr | None:
        """What is written for a variable in place of its name; None within its own value."""
        if variable.id in self._open:
            return None
        value, line = self.value(variable), 0
        if value is None and not self._may_change(variable):
            value = next((given for given in self._given_before if given in self._place.assigned(variable.id)), None)
            line = value.lineno if value is not None else 0
        if value is None:
            return None
        self._open.add(variable.id)
        self._line = line
        expression = self._expression(value, divides)
        self._line = 0
        self._open.discard(variable.id)
        return expression

    def _may_change(self, variable: ast.Name) -> bool:
        """Whether a variable may be given more than one value in a call."""
        place = self._place
        return place.in_loop or len(place.assigned(variable.id)) != 1 or variable.id in shared_names(place)

    def value(self, variable: ast.Name) -> ast.expr | None:
        """What a variable stands for; None where that is not to be seen."""
        if variable.id not in self._held:
            value = held_value(self._place, variable, self._evaluated) or _given(self._place, variable)
            self._held[variable.id] = value
        return self._held[variable.id]

    @functools.cached_property
    def _given_before(self) -> list[ast.expr]:
        """What variables are given on every way to the place, and in no loop."""
        line = getattr(self._place.site.node, "lineno", 0)
        return [s.value for s in run_before(self._place.function.body, line) if isinstance(s, ast.Assign)]

    @functools.cached_property
    def _evaluated(self) -> Collection[str]:
        return evaluated_before(self._place.function, self._place.site.node).texts

    def _all(self, nodes: Sequence[ast.expr]) -> list[ast.expr]:
        """The expressions of `nodes`; none where one has none."""
        expressions = [expression for node in nodes if (expression := self._expression(node)) is not None]
        return expressions if len(expressions) == len(nodes) else []

    def _number(self, node: ast.expr, divides: bool) -> ast.expr | None:
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) or not is_read(node):
            return None
        read = ast.unparse(node), self._line
        if divides:
            self._divisors.add(read)
        return ast.Name(self._numbers.setdefault(read, f"n{len(self._numbers)}"), ast.Load())


def _given(place: Place, variable: ast.Name) -> ast.expr | None:
    """The only value of a variable, where nothing that it is made of is assigned below it."""
    values = place.assigned(variable.id)
    value = values[0] if len(values) == 1 else None
    if value is None:
        return None
    parts = {part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "") for part in ast.walk(value)}
    for node in place.nodes:
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            if name in parts and node.lineno >= value.lineno and name != variable.id:
                return None
    return value


def value_of(function: Callable[[Numbers], Any], drawn: Numbers) -> Any:
    """What a function of `Arithmetic` gives for some numbers; None where it divides by 0."""
    try:
        return function(drawn)
    except ZeroDivisionError:
        return None
