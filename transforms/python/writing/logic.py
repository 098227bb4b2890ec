"""Truths about sizes rewritten with libcst: the same condition without a coercion, negated, or decided when unknown.

Guards on a size that is known stay what they were; only for unknown (unbacked) sizes is a path picked.
Sources: torch/fx/experimental/symbolic_shapes.py (guard_or_false, guard_or_true, sym_and, sym_or, sym_eq).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.nodes import TESTS
from transforms.python.flow.values import BOOL, FLOAT, INT, NOTHING, OF_NUMPY, Value, element
from transforms.python.writing.nodes import (
    OPPOSITE,
    Moved,
    all_of,
    bare,
    beside_comparison,
    briefly,
    call,
    code,
    flattened,
    in_general,
    may_repeat,
    parenthesized,
)

NOWHERE = 10**9  # what is read again from its text stands on no line of the function


class Undecided(Exception):
    """The condition cannot be rewritten; the message says why and what a person has to decide."""


class Conditions:
    """Rewrites the conditions of one function.

    `name` turns a function of symbolic_shapes or torch into what the file calls it, and notes that it is used.
    `movable` says whether operands may be evaluated where Python's short circuit might have passed them by; `of_shapes`
    what guards the equality of two shapes in one call, "" where that takes two.
    """

    def __init__(
        self,
        values: Interpreter,
        name: Callable[[str], str],
        movable: Callable[[Moved], bool] = lambda moved: True,
        of_shapes: Callable[[str], str] = lambda guard: "",
    ) -> None:
        self.values = values
        self.name = name
        self._of_shapes = of_shapes
        self._movable = movable
        self._value_by_text: dict[str, Value] = {}

    def value(self, node: cst.BaseExpression) -> Value:
        """What an expression is."""
        text = code(node)
        if text not in self._value_by_text:
            try:
                tree = ast.parse(f"({text})", mode="eval").body
                ast.increment_lineno(tree, NOWHERE)
                self._value_by_text[text] = self.values.value(tree)
            except SyntaxError:  # an unparenthesised generator
                self._value_by_text[text] = NOTHING
        return self._value_by_text[text]

    def asks(self, node: cst.BaseExpression) -> bool:
        """Whether the truth of an expression depends on a size. Raises Undecided where it may be no size's."""
        value = self.value(node)
        if isinstance(node, cst.Comparison) and value.kind == BOOL and not value.sure:
            raise Undecided(f"{code(node)} may be a Tensor or of numpy, which no guard and no check takes")
        if value.kind in (INT, FLOAT) and value.optional and not isinstance(node, cst.BooleanOperation):
            raise Undecided(f"{code(node)} may be None or no number, whose truth is no comparison with 0")
        return value.kind in (BOOL, INT, FLOAT)

    def surely_bool(self, node: cst.BaseExpression) -> bool:
        """Whether an expression gives a bool or a SymBool, and nothing that only counts as one, such as None."""
        if isinstance(node, cst.BooleanOperation):
            return self.surely_bool(node.left) and self.surely_bool(node.right)
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in TESTS:
            return True
        truth = isinstance(getattr(node, "operator", None), cst.Not) or isinstance(node, cst.Comparison)
        value = self.value(node)
        return (truth and value != OF_NUMPY) or value.surely_bool or value.scalar == "bool"

    def symbolic(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """The same truth, never turned into a bool on the way. Raises Undecided where that cannot be written."""
        if not self.asks(node):
            return node
        if isinstance(node, cst.BooleanOperation):
            return self._joined(node)
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
            pushed = self.pushed_not(node.expression)
            if isinstance(pushed, cst.UnaryOperation):
                return call(self.name("torch.sym_not"), self.symbolic(pushed.expression))
            return self.symbolic(pushed)
        if isinstance(node, cst.Comparison):
            return self._compared(node)
        if isinstance(node, cst.Call) and self._coerced(node):
            return self.symbolic(bare(node.args[0].value))
        gathered = self._gathered(node)
        if gathered is not None:
            function, elements = gathered
            start = cst.Name("True" if function == "sym_and" else "False")
            return call(self.name(function), start, cst.Arg(elements, star="*"))
        if self.value(node).kind in (INT, FLOAT):
            return cst.Comparison(parenthesized(node), [cst.ComparisonTarget(cst.NotEqual(), cst.Integer("0"))])
        return self._truth(node)

    def truth(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """The same truth, a bool or a SymBool. Raises Undecided where that cannot be written, or it may be neither."""
        if not self.surely_bool(node) or not self.value(node).numeric:
            raise Undecided(f"{code(node)} may be no bool")
        return self.symbolic(node)

    def negated(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """The opposite truth, never turned into a bool on the way. Raises Undecided where that cannot be written."""
        return self.symbolic(self.pushed_not(node))

    def guarded(self, node: cst.BaseExpression, default: bool | None = None) -> cst.BaseExpression:
        """A bool: the condition where it is known, else `default`, else what is true of sizes in general.

        In general a size is neither 0 nor 1, and two sizes or shapes differ. Raises Undecided where a comparison says
        nothing of that kind, such as `m < n`.
        """
        if not self.asks(node):
            return node
        if isinstance(node, cst.BooleanOperation):
            return node.with_changes(left=self.guarded(node.left, default), right=self.guarded(node.right, default))
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
            inner = self.guarded(node.expression, None if default is None else not default)
            if isinstance(inner, cst.UnaryOperation) and isinstance(inner.operator, cst.Not):
                return inner.expression
            return node.with_changes(expression=inner)
        if isinstance(node, cst.Comparison):
            if len(node.comparisons) > 1:
                return all_of([self.guarded(part, default) for part in self._chain(node)])
            return self._decided(node, default)
        if isinstance(node, cst.Call) and self._gathered(node) is not None:
            generator = node.args[0].value
            if isinstance(generator, cst.GeneratorExp):
                changed = generator.with_changes(elt=self.guarded(generator.elt, default))
                return node.with_changes(args=[node.args[0].with_changes(value=changed)])
        if self.value(node).kind in (INT, FLOAT):
            nonzero = self.symbolic(node)
            return call(self.name("guard_or_false" if default is False else "guard_or_true"), nonzero)
        if default is None:
            raise Undecided(f"whether {code(node)} holds in general is not to be seen here")
        return call(self.name("guard_or_true" if default else "guard_or_false"), self._truth(node))

    def _coerced(self, node: cst.Call) -> bool:
        """Whether a call is `bool(…)` of a size or of a truth about sizes."""
        named = isinstance(node.func, cst.Name) and node.func.value == "bool" and len(node.args) == 1
        return named and not node.args[0].star and self.value(node.args[0].value).kind in (INT, FLOAT, BOOL)

    def _truth(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """`node`, which guards and checks take. Raises Undecided where it may be no bool: they refuse numbers."""
        if self.value(node).kind == BOOL and not self.surely_bool(node):
            raise Undecided(f"{code(node)} may be no bool")
        return node

    def expected(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """A bool: the condition where it is known; else True, and it is checked when the code runs.

        Every operand is evaluated when it was before. Raises Undecided where that cannot be written.
        """
        if not self.asks(node):
            return node
        if isinstance(node, cst.BooleanOperation):
            if isinstance(node.operator, cst.And):
                return node.with_changes(left=self.expected(node.left), right=self.expected(node.right))
            if not self.asks(node.left):
                return node.with_changes(right=self.expected(node.right))
            return call(self.name("expect_true"), self.symbolic(node))
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
            pushed = self.pushed_not(node.expression)
            if not isinstance(pushed, cst.UnaryOperation):
                return self.expected(pushed)
        if isinstance(node, cst.Comparison) and len(node.comparisons) > 1:
            return all_of([self.expected(part) for part in self._chain(node)])
        pair = self._shapes(node) if isinstance(node, cst.Comparison) else None
        if pair is not None and isinstance(cst.ensure_type(node, cst.Comparison).comparisons[0].operator, cst.Equal):
            return self._guarded_shapes("expect_true", pair)
        return call(self.name("expect_true"), self.symbolic(node))

    def _guarded_shapes(self, guard: str, pair: tuple[cst.BaseExpression, cst.BaseExpression]) -> cst.BaseExpression:
        """A guard of whether two shapes are equal."""
        both = self._of_shapes(guard)
        return call(both, *pair) if both else call(self.name(guard), call(self.name("sym_eq"), *pair))

    def refused(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """A bool: the condition where it is known; else False, and its contrary is checked when the code runs."""
        if not self.asks(node):
            return node
        if isinstance(node, cst.BooleanOperation):
            if isinstance(node.operator, cst.Or):
                return node.with_changes(left=self.refused(node.left), right=self.refused(node.right))
            node = self._plain_first(node)
            if not self.asks(node.left):
                return node.with_changes(right=self.refused(node.right))
        negation = isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not)
        expected = self.expected(bare(node.expression) if negation else self.pushed_not(node))  # type: ignore[attr-defined]
        return cst.UnaryOperation(cst.Not(), parenthesized(expected))

    def _plain_first(self, node: cst.BooleanOperation) -> cst.BooleanOperation:
        """`a and flag` as `flag and a` where that cannot be noticed: `a` is then not always evaluated."""
        if not self.asks(node.left) or self.asks(node.right):
            return node
        right = node.right.expression if isinstance(node.right, cst.UnaryOperation) else node.right
        if not isinstance(right, cst.Name):
            return node
        inner = self._plain_first(node.left) if isinstance(node.left, cst.BooleanOperation) else node.left
        if isinstance(inner, cst.BooleanOperation) and isinstance(inner.operator, cst.And) and not inner.lpar:
            if self.asks(inner.left) or not self._movable(Moved(((inner.left, True),), inner.left, (inner.right,))):
                return node
            return node.with_changes(left=inner.with_changes(right=node.right), right=inner.right)
        swapped = node.with_changes(left=node.right, right=inner)
        return swapped if self._movable(Moved((), node.right, (inner,))) else node

    def _decided(self, node: cst.Comparison, default: bool | None) -> cst.BaseExpression:
        general = self.general(node) if default is None else default
        if general is None:
            raise Undecided(f"neither outcome of {code(node)} is the general case")
        target = node.comparisons[0]
        pair = self._shapes(node)
        if pair is not None:
            if isinstance(target.operator, cst.Equal):
                return self._guarded_shapes("guard_or_true" if general else "guard_or_false", pair)
            guard = self._guarded_shapes("guard_or_false" if general else "guard_or_true", pair)
            return cst.UnaryOperation(cst.Not(), guard)
        return call(self.name("guard_or_true" if general else "guard_or_false"), self.symbolic(node))

    general = staticmethod(in_general)

    def special(self, node: cst.BaseExpression) -> Iterator[cst.Comparison]:
        """The single comparisons on sizes that a condition is made of."""
        if isinstance(node, cst.BooleanOperation):
            yield from self.special(node.left)
            yield from self.special(node.right)
        elif isinstance(node, cst.UnaryOperation):
            yield from self.special(node.expression)
        elif isinstance(node, cst.Comparison) and self.asks(node):
            yield from self._chain(node)
        elif isinstance(node, cst.Call) and self._gathered(node) is not None:
            generator = node.args[0].value
            if isinstance(generator, cst.GeneratorExp):
                yield from self.special(generator.elt)

    def pushed_not(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """`not node` with the negation pushed to the leaves; plain Python."""
        if isinstance(node, cst.BooleanOperation):
            dual = cst.Or if isinstance(node.operator, cst.And) else cst.And
            operator = dual(node.operator.whitespace_before, node.operator.whitespace_after)
            sides = []
            for side in (node.left, node.right):
                pushed = self.pushed_not(side)
                sides.append(parenthesized(pushed) if isinstance(pushed, cst.BooleanOperation) and not pushed.lpar
                             and isinstance(pushed.operator, cst.Or) and dual is cst.And else pushed)  # fmt: skip
            return node.with_changes(left=sides[0], operator=operator, right=sides[1])
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
            return bare(node.expression)
        if isinstance(node, cst.Comparison) and len(node.comparisons) == 1 and not self._real(node):
            target = node.comparisons[0]
            old = target.operator
            before = getattr(old, "whitespace_before", cst.SimpleWhitespace(" "))
            after = getattr(old, "whitespace_after", cst.SimpleWhitespace(" "))
            opposite = OPPOSITE[type(old)]().with_changes(whitespace_before=before, whitespace_after=after)
            return node.with_changes(comparisons=[target.with_changes(operator=opposite)])
        if isinstance(node, cst.Comparison) and len(node.comparisons) > 1 and self.asks(node):
            parts: Sequence[cst.BaseExpression] = [self.pushed_not(part) for part in self._chain(node)]
            joined = parts[0]
            for part in parts[1:]:
                joined = cst.BooleanOperation(joined, cst.Or(), part)
            return parenthesized(joined)
        if self.asks(node) and self.value(node).kind == INT and not isinstance(node, cst.Comparison):
            return cst.Comparison(parenthesized(node), [cst.ComparisonTarget(cst.Equal(), cst.Integer("0"))])
        return cst.UnaryOperation(cst.Not(), parenthesized(node))

    def _real(self, node: cst.Comparison) -> bool:
        """Whether a NaN could make a comparison and its opposite both false."""
        sides = (node.left, node.comparisons[0].comparator)
        equality = isinstance(
            node.comparisons[0].operator, (cst.Equal, cst.NotEqual, cst.Is, cst.IsNot, cst.In, cst.NotIn)
        )
        return not equality and any(self.value(side).kind == FLOAT for side in sides)

    def _chain(self, node: cst.Comparison) -> list[cst.Comparison]:
        """`a < b < c` as `a < b` and `b < c`. Raises Undecided where `b` would be called twice."""
        left, parts = node.left, []
        for target in node.comparisons:
            parts.append(cst.Comparison(left, [target]))
            left = target.comparator
            if target is not node.comparisons[-1] and not may_repeat(left):
                raise Undecided(f"{code(left)} would be evaluated twice")
        return parts

    def _shapes(self, node: cst.Comparison) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
        """The two sides of `==` or `!=` where they are shapes, else None."""
        target = node.comparisons[0]
        if not isinstance(target.operator, (cst.Equal, cst.NotEqual)):
            return None
        sides = (node.left, target.comparator)
        are_shapes = [self.value(side).shapelike or isinstance(side, (cst.Tuple, cst.List)) for side in sides]
        if not any(self.value(side).shapelike for side in sides):
            return None
        if not all(are_shapes):
            raise Undecided(f"{code(sides[are_shapes.index(False)])} may be no shape, which sym_eq does not take")
        written = [[e.value for e in s.elements] if isinstance(s, (cst.Tuple, cst.List)) else [s] for s in sides]
        for part in (part for parts in written for part in parts if not self.value(part).integers):
            raise Undecided(f"{code(part)} may be no integer, which sym_eq does not take")
        literals = ("list" if isinstance(s, cst.List) else "tuple" if isinstance(s, cst.Tuple) else "" for s in sides)
        held = [literal or self.value(side).held for literal, side in zip(literals, sides, strict=True)]
        if not all(held) or held[0] != held[1]:
            raise Undecided(f"one of {' and '.join(map(code, sides))} may be a list, which never equals a tuple")
        return sides

    def _compared(self, node: cst.Comparison) -> cst.BaseExpression:
        if len(node.comparisons) > 1:
            parts = self._chain(node)
            self._move((), parts[0], parts[1:])
            return call(self.name("sym_and"), *(self.symbolic(part) for part in parts))
        pair = self._shapes(node)
        target = node.comparisons[0]
        if pair is not None:
            equal = call(self.name("sym_eq"), *pair)
            return equal if isinstance(target.operator, cst.Equal) else call(self.name("torch.sym_not"), equal)
        if isinstance(target.operator, (cst.In, cst.NotIn)):
            container = target.comparator
            elements = container.elements if isinstance(container, (cst.Tuple, cst.List, cst.Set)) else ()
            if not elements or any(isinstance(element, cst.StarredElement) for element in elements):
                raise Undecided(f"membership in {code(container)} compares with every element")
            if len(elements) > 1 and not may_repeat(node.left):
                raise Undecided(f"{code(node.left)} would be evaluated twice")
            same = [
                cst.Comparison(node.left, [cst.ComparisonTarget(cst.Equal(), beside_comparison(each.value))])
                for each in elements
            ]
            membership = same[0] if len(same) == 1 else call(self.name("sym_or"), *same)
            return membership if isinstance(target.operator, cst.In) else call(self.name("torch.sym_not"), membership)
        return node

    def _gathered(self, node: cst.BaseExpression) -> tuple[str, cst.BaseExpression] | None:
        """`all(…)` and `any(…)` over truths: the function that joins them, and what they iterate over."""
        if not isinstance(node, cst.Call) or len(node.args) != 1 or not self.value(node).symbolic:
            return None
        if (name := code(node.func).removeprefix("builtins.")) not in ("all", "any"):
            return None
        elements = node.args[0].value
        if isinstance(elements, (cst.GeneratorExp, cst.ListComp)):
            self._move((), cst.Name("None"), [elements.elt])
            elements = elements.with_changes(elt=self.symbolic(elements.elt))
        elif not element(self.value(elements)).surely_bool:
            raise Undecided(f"{code(elements)} may hold what is no bool, which sym_and and sym_or do not take")
        return ("sym_and" if name == "all" else "sym_or"), parenthesized(elements)

    def _move(
        self,
        held: Sequence[tuple[cst.BaseExpression, bool]],
        evaluated: cst.BaseExpression,
        operands: Sequence[cst.BaseExpression],
    ) -> None:
        """Raises Undecided where one of `operands` may only be evaluated if those before it ask for it."""
        if not self._movable(Moved(tuple(held), evaluated, tuple(operands))):
            raise Undecided(f"{briefly(operands)} may raise or act where what is before it decides: ask each by itself")

    def _joined(self, node: cst.BooleanOperation) -> cst.BaseExpression:
        operands, spaces = flattened(node, type(node.operator))
        first = next(index for index, operand in enumerate(operands) if self.asks(operand))
        symbolic = [self.symbolic(operand) for operand in operands[first:]]
        if len(symbolic) > 1:
            conjunction = isinstance(node.operator, cst.And)
            self._move([(held, conjunction) for held in operands[:first]], operands[first], operands[first + 1 :])
            for old in operands[first:]:
                if not self.asks(old) and not isinstance(old, cst.UnaryOperation) and not self.surely_bool(old):
                    raise Undecided(f"{code(old)} may be no bool, which sym_and and sym_or do not take")
            arguments = []
            for index, operand in enumerate(symbolic):
                comma: cst.Comma | cst.MaybeSentinel = cst.MaybeSentinel.DEFAULT
                if index + 1 < len(symbolic):
                    space = spaces[first + index]
                    comma = cst.Comma(whitespace_after=space if "#" in code(space) else cst.SimpleWhitespace(" "))
                arguments.append(cst.Arg(bare(operand), comma=comma))
            joined: cst.BaseExpression = call(
                self.name("sym_and" if isinstance(node.operator, cst.And) else "sym_or"), *arguments
            )
        else:
            joined = symbolic[0]
        if first == 0:
            return joined
        # What stands before the first truth about sizes keeps its short circuit; the last operand is never coerced.
        tail: cst.BaseExpression = node
        depth = len(operands) - first
        while depth and isinstance(tail, cst.BooleanOperation):
            holder, tail, depth = tail, tail.left, depth - 1
        return holder.with_changes(right=joined, lpar=node.lpar, rpar=node.rpar)
