"""What a function gives along each of its paths, where one branch of it is taken for granted."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from transforms.python.flow.nodes import all_nodes, called, holder
from transforms.python.flow.torch_names import RESHAPES, check_of
from transforms.python.shapes.expressions import Expressions, Guesses, State, Texts, plain, raising
from transforms.python.shapes.sizes import Size, Sizes, constant, joined
from transforms.python.shapes.tensors import Tensors
from transforms.python.shapes.values import NONE, Number, Other, Raised, Several, Shape, Tensor, Value

_STATES = 24
_STATEMENTS = 3000
_UNSEEN = Other("?")


class Outcome(NamedTuple):
    """How a path ends: what is returned, None where it raises; and what held there."""

    value: Value | None
    state: State
    checked: bool = False
    """Whether it raises in a branch on sizes that are not known to come to that: the branch becomes a check."""


class Lost(Exception):
    """There are more paths than are followed."""


class Paths:
    """Follows one function. `parameters` are what its arguments are."""

    def __init__(
        self, parameters: Mapping[str, Value], sizes: Sizes, tensors: Tensors, guesses: Guesses, texts: Texts
    ) -> None:
        self._expressions = Expressions(sizes, tensors, guesses, texts)
        self._sizes = sizes
        self._parameters = parameters
        self._tensors = tensors
        self._left = _STATEMENTS
        self._outcomes: list[Outcome] = []

    def outcomes(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[Outcome]:
        """The ends of all paths. Raises Lost where there are too many."""
        for state in self._block(function.body, [State(self._parameters, {}, {})]):
            self._outcomes.append(Outcome(NONE, state))
        return self._outcomes

    def before(self, node: ast.AST) -> State | None:
        """What held when a branch was come to first; None where it was not."""
        return self._expressions.met.get(id(node))

    def value(self, node: ast.expr, state: State) -> Value:
        """What an expression is where a state holds. Raises Raised."""
        return self._expressions.value(node, state)

    def _block(self, statements: Sequence[ast.stmt], states: list[State]) -> list[State]:
        for statement in statements:
            states = [after for state in states for after in self._statement(statement, state)]
            if len(states) + len(self._outcomes) > _STATES:
                raise Lost
        return states

    def _statement(self, statement: ast.stmt, state: State) -> list[State]:
        self._left -= 1
        if self._left < 0:
            raise Lost
        try:
            if isinstance(statement, ast.If):
                return self._branch(statement, state)
            if isinstance(statement, ast.Return):
                value = NONE if statement.value is None else self._expressions.value(statement.value, state)
                self._outcomes.append(Outcome(value, state))
                return []
            if isinstance(statement, ast.Raise):
                raise Raised
            if isinstance(statement, ast.Assert):
                return self._holding(statement.test, state)
            if isinstance(statement, ast.Expr) and check_of(statement.value):
                arguments = statement.value.args[called(statement.value) == "_check_with" :]  # type: ignore[attr-defined]
                return self._holding(arguments[0], state) if arguments else [state]
            return [self._simple(statement, state)]
        except Raised:
            self._outcomes.append(Outcome(None, state))
            return []

    def _branch(self, branch: ast.If, state: State) -> list[State]:
        expressions = self._expressions
        truth = expressions.decision(branch, state)
        if truth is not None:
            return self._block(branch.body if truth else branch.orelse, [state])
        key = expressions.other(branch.test, state).text
        if key in state.decided:
            return self._block(branch.body if state.decided[key] else branch.orelse, [state])
        taken, passed = state.going(key, True), state.going(key, False)
        if (truth := raising(branch)) is not None:
            raised, other, left = (taken, branch.orelse, passed) if truth else (passed, branch.body, taken)
            self._outcomes.append(Outcome(None, raised, expressions.asks(branch.test)))
            return self._block(other, [self._learned(branch.test, left, not truth)])
        return [*self._block(branch.body, [taken]), *self._block(branch.orelse, [passed])]

    def _holding(self, test: ast.expr, state: State) -> list[State]:
        key = self._expressions.other(test, state).text
        truth = state.decided.get(key, self._expressions.truth(test, state))
        if truth is False:
            raise Raised
        if truth is None:
            self._outcomes.append(Outcome(None, state.going(key, False), self._expressions.asks(test)))
            state = state.going(key, True)
        return [self._learned(test, state, True)]

    def _learned(self, test: ast.expr, state: State, truth: bool) -> State:
        """The state with what a condition that holds, or that does not, says of sizes that are equal."""
        test = plain(test)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._learned(test.operand, state, not truth)
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is truth:
            for side in test.values:
                state = self._learned(side, state, truth)
        equality = ast.Eq if truth else ast.NotEq
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], equality):
            pairs = self.pairs(test.left, test.comparators[0], state)
            for facts in (self._sizes.where_equal(*pair) for pair in pairs):
                state = state._replace(facts=joined([state.facts, *facts])) if len(facts) == 1 else state
        return state

    def pairs(self, left: ast.expr, right: ast.expr, state: State) -> list[tuple[Size, Size]]:
        """The sizes that are equal where two expressions are; [] where that is not to be seen. Raises Raised."""
        first, second = self._expressions.value(left, state), self._expressions.value(right, state)
        if isinstance(first, Number) and isinstance(second, Number):
            return [(first.size, second.size)]
        if isinstance(first, Shape) and isinstance(second, Several):
            first, second = second, first
        if isinstance(first, Several) and isinstance(second, Shape):
            self._tensors.learn_rank(second.of, len(first.items))
            second = self._tensors.shape(second.of)
        if not isinstance(first, Several) or not isinstance(second, Several) or len(first.items) != len(second.items):
            return []
        both = zip(first.items, second.items, strict=True)
        return [(a.size, b.size) for a, b in both if isinstance(a, Number) and isinstance(b, Number)]

    def _simple(self, statement: ast.stmt, state: State) -> State:
        """A statement that no path ends at."""
        if isinstance(statement, ast.Assign):
            value = self._expressions.value(statement.value, state)
            for target in statement.targets:
                state = self._assigned(target, value, statement, state)
            return state
        if isinstance(statement, ast.AnnAssign) and statement.value is not None:
            value = self._expressions.value(statement.value, state)
            return self._assigned(statement.target, value, statement, state)
        if isinstance(statement, ast.AugAssign):
            target = statement.target
            value = self._expressions.value(ast.BinOp(target, statement.op, statement.value), state)
            return self._assigned(target, value, statement, state)
        if isinstance(statement, (ast.Pass, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)):
            return state
        if isinstance(statement, ast.Expr):
            if not isinstance(statement.value, ast.Call):
                return state
            if (appended := self._appended(statement.value, state)) is not None:
                return appended
        if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)) and any(
            isinstance(node, (ast.Return, ast.Break)) for node in all_nodes([statement])
        ):
            self._outcomes.append(Outcome(_UNSEEN, state))
        made = self._expressions.other(statement, state)
        for name in _changed(statement):
            held = state.variables.get(name)
            in_place = isinstance(statement, ast.Expr) and isinstance(held, (Tensor, Number))
            if in_place and not RESHAPES.match(called(statement.value)):  # type: ignore[attr-defined]
                continue
            state = state.assigned(name, Other(f"{name} in {made.text}"))
        return state

    def _assigned(self, target: ast.expr, value: Value, statement: ast.stmt, state: State) -> State:
        if isinstance(target, ast.Name):
            return state.assigned(target.id, value)
        if isinstance(target, (ast.Tuple, ast.List)):
            count = len(target.elts)
            starred = any(isinstance(part, ast.Starred) for part in target.elts)
            if isinstance(value, Shape) and not starred:
                self._tensors.learn_rank(value.of, count)
                value = self._tensors.shape(value.of)
            if isinstance(value, Several) and not starred and len(value.items) == count:
                for part, item in zip(target.elts, value.items, strict=True):
                    state = self._assigned(part, item, statement, state)
                return state
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            replaced = self._replaced(self._listed(target.value, state), target.slice, value, state)
            if replaced is not None:
                return state.assigned(target.value.id, replaced)
        made = self._expressions.other(statement, state)
        for name in _names_in(target):
            held = state.variables.get(name)
            if isinstance(target, (ast.Tuple, ast.List)) or not isinstance(held, Tensor):
                state = state.assigned(name, Other(f"{name} in {made.text}"))
        return state

    def _listed(self, variable: ast.Name, state: State) -> Several | None:
        """The list that a variable is; None where it is none whose members are seen."""
        held = state.variables.get(variable.id)
        held = self._tensors.shape(held.of) if isinstance(held, Shape) else held
        return held if isinstance(held, Several) else None

    def _replaced(self, held: Several | None, index: ast.expr, value: Value, state: State) -> Several | None:
        """A list with another member in one place; None where that is not to be seen."""
        at = self._expressions.value(index, state) if not isinstance(index, ast.Slice) else NONE
        position = constant(at.size) if isinstance(at, Number) else None
        if held is None or position is None:
            return None
        if not -len(held.items) <= position < len(held.items):
            raise Raised
        items = list(held.items)
        items[position] = value
        return Several(tuple(items))

    def _appended(self, call: ast.Call, state: State) -> State | None:
        """The state behind `sizes.append(size)`; None where it is no list whose members are seen."""
        if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
            return None
        held = self._listed(call.func.value, state)
        if held is None or call.func.attr not in ("append", "push_back", "emplace_back") or len(call.args) != 1:
            return None
        value = self._expressions.value(call.args[0], state)
        return state.assigned(call.func.value.id, Several((*held.items, value)))


def _names_in(target: ast.expr) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _changed(statement: ast.stmt) -> list[str]:
    """The variables that a statement may change: those that it assigns, and those whose methods it calls."""
    names = []
    for node in all_nodes([statement]):
        if isinstance(node, (ast.Name, ast.Subscript, ast.Attribute)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            base = holder(node)
            names += [base.id] if isinstance(base, ast.Name) else []
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if isinstance(node.func.value, ast.Name):
                names.append(node.func.value.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
    return list(dict.fromkeys(itertools.islice(names, 100)))
