"""Sizes that are rounded up by a remainder: what a choice by `n % m` comes to without choosing."""

from __future__ import annotations

import ast
import operator
import random
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from transforms.python.flow.nodes import SIZE_READERS, all_nodes, called, holder, is_read, variables_in
from transforms.python.writing.altered import all_names
from transforms.python.writing.evaluation import evaluated_before
from transforms.python.writing.place import Place

_DRAWS = 200
_OPERATIONS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


class Remainder(NamedTuple):
    """`dividend % divisor`, as a condition `asked` for it, and what the condition comes to where it is not 0."""

    dividend: ast.expr
    divisor: ast.expr
    asked: ast.expr
    truth: bool


def remainder(place: Place, test: ast.expr) -> Remainder | None:
    """The remainder that a condition asks for: `n % m != 0`, `not n % m`, `rest` behind `rest = n % m`; else None."""
    truth = True
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        truth, test = not truth, test.operand
    positive = False
    if isinstance(test, ast.Compare):
        limit = test.comparators[0]
        if len(test.ops) != 1 or not isinstance(limit, ast.Constant) or type(limit.value) is not int or limit.value:
            return None
        if not isinstance(test.ops[0], (ast.Eq, ast.NotEq, ast.Gt)):
            return None
        truth = truth is not isinstance(test.ops[0], ast.Eq)
        positive, test = isinstance(test.ops[0], ast.Gt), test.left
    value = held_value(place, test) if isinstance(test, ast.Name) else test
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Mod):
        return None
    if positive and not _is_positive(place, value.right):
        return None
    return Remainder(value.left, value.right, test, truth)


def _is_positive(place: Place, divisor: ast.expr) -> bool:
    """Whether a divisor is a number above 0, or a size: by less than 0 no remainder is above 0."""
    given = place.assigned(divisor.id) if isinstance(divisor, ast.Name) else [divisor]
    if len(given) == 1 and given[0] is not None and _constant(given[0]) > 0:
        return True
    shape = divisor.value if isinstance(divisor, ast.Subscript) else None
    return called(divisor) == "size" or (isinstance(shape, ast.Attribute) and shape.attr == "shape")


def held_value(place: Place, variable: ast.Name, evaluated: Collection[str] | None = None) -> ast.expr | None:
    """What a variable was given, where that still is the same.

    `evaluated` is the source of what is evaluated before the branch, for who asks of many variables.
    """
    values = place.assigned(variable.id)
    value = values[0] if len(values) == 1 else None
    if value is None:
        return None
    if evaluated is None:
        evaluated = evaluated_before(place.function, place.site.node).texts
    return value if ast.unparse(value) in evaluated and not is_changed(place, value) else None


def shared_names(place: Place) -> set[str]:
    """The variables that are global or of the function around, there or in a function inside."""
    declared = (part for part in all_nodes([place.function]) if isinstance(part, (ast.Global, ast.Nonlocal)))
    return {name for part in declared for name in part.names}


def is_changed(place: Place, value: ast.expr) -> bool:
    """Whether what a value is made of may be another at the branch: assigned anew, or changed by a call between."""
    names = variables_in(value)
    if names & shared_names(place):
        return True
    end = getattr(place.site.node, "lineno", 0)
    since = [part for part in place.nodes if value.lineno < getattr(part, "lineno", 0) < end]
    others = all_names(place.function, names)
    for part in since:
        stored = holder(part) if isinstance(getattr(part, "ctx", None), (ast.Store, ast.Del)) else None
        if isinstance(stored, ast.Name) and stored.id in (names if stored is part else others):
            return True
    owners = {ast.unparse(owner): owner for owner in map(holder, _owners(value))}
    calls = [part for part in since if isinstance(part, ast.Call)]
    return any(_may_change(place, call, name, owner) for call in calls for name, owner in owners.items())


def _owners(value: ast.expr) -> Iterator[ast.expr]:
    """What a value is read from: `x` of `x.size(0)` and `sizes` of `sizes[0]`."""
    for part in ast.walk(value):
        if isinstance(part, (ast.Attribute, ast.Subscript)):
            yield part.value
        elif isinstance(part, ast.Call):
            yield from part.args


def _may_change(place: Place, call: ast.Call, name: str, owner: ast.AST) -> bool:
    """Whether a call may change what is read from a variable, as its method, given it, or from a function inside.

    The sizes of a Tensor are changed by functions whose names end in `_`, and by those that write to it as `out`.
    """
    given = [*call.args, *(keyword.value for keyword in call.keywords), *_owners(call.func)]
    names = all_names(place.function, {name})
    is_given = any(getattr(holder(part), "id", "") in names for part in given)
    if isinstance(owner, ast.expr) and place.values.surely_tensor(owner):
        into = any(keyword.arg == "out" for keyword in call.keywords)
        return is_given and (into or called(call).rstrip("_") != called(call))
    inner = (part for part in place.nodes if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)))
    shared = (part for function in inner for part in ast.walk(function) if isinstance(part, ast.Name))
    if called(call) in SIZE_READERS:
        return False
    return is_given or any(part.id in names for part in shared)


def rounded(place: Place, found: Remainder, rest: ast.expr, exact: ast.expr) -> str:
    """What a choice comes to that is `rest` where there is a remainder and `exact` where there is none; "" for others.

    `exact + divisor - remainder`, and one more than `dividend // divisor`, are such choices, however they are written:
    numbers drawn at random, the same each time, tell whether two sums are one.
    """
    held = _first_value(place, exact) if isinstance(exact, ast.Name) else None
    numbers = _Numbers(found, {ast.unparse(exact): held} if held is not None else {})
    parts = (found.dividend, found.divisor, rest, exact)
    atoms = {ast.unparse(atom): atom for part in parts for atom in numbers.atoms(part)}
    if not all(is_read(atom) and _is_size(place, atom) for atom in atoms.values()):
        return ""
    forms = _forms(found, exact, held or exact)
    return next((ast.unparse(form) for form in forms if numbers.agree(sorted(atoms), rest, exact, form)), "")


def _forms(found: Remainder, exact: ast.expr, first: ast.expr) -> Iterator[ast.expr]:
    """What a size is that is rounded up, and how often a divisor is in one; `exact` is `first` in the beginning.

    The last serves divisors below 0 too.
    """
    dividend, divisor = found.dividend, found.divisor
    missing: ast.expr = ast.BinOp(ast.BinOp(divisor, ast.Sub(), found.asked), ast.Mod(), divisor)
    if _constant(divisor) == 2:
        missing = found.asked  # of 2 as much is missing as there is
    is_zero = isinstance(first, ast.Constant) and first.value == 0
    yield missing if is_zero else ast.BinOp(exact, ast.Add(), missing)
    limit = _constant(divisor)
    less = ast.BinOp(ast.BinOp(dividend, ast.Add(), divisor), ast.Sub(), ast.Constant(1))
    if limit > 0:
        less = ast.BinOp(dividend, ast.Add(), ast.Constant(limit - 1))
    yield ast.BinOp(less, ast.FloorDiv(), divisor)
    quotient = ast.BinOp(ast.UnaryOp(ast.USub(), dividend), ast.FloorDiv(), divisor)
    yield ast.UnaryOp(ast.USub(), quotient)


def _constant(node: ast.expr) -> int:
    """The whole number that an expression is, 0 for others."""
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else 0


def _first_value(place: Place, variable: ast.Name) -> ast.expr | None:
    """What a variable was given that nothing but the branch changes, where that still is the same."""
    branch = place.site.node
    values = place.assigned(variable.id)
    outside = [value for value in values if value is not None and not any(part is value for part in ast.walk(branch))]
    if len(values) != 2 or len(outside) != 1 or place.in_loop:
        return None
    (value,) = outside
    is_kept = isinstance(value, ast.Constant) or (
        ast.unparse(value) in evaluated_before(place.function, branch).texts and not is_changed(place, value)
    )
    return value if is_kept else None


def _is_size(place: Place, atom: ast.expr) -> bool:
    """Whether what is no sum is a whole number: a size, or an argument that is annotated as one and stays it."""
    arguments = (node for node in all_nodes([place.function.args]) if isinstance(node, ast.arg))
    whole = {node.arg for node in arguments if node.annotation is not None and ast.unparse(node.annotation) == "int"}
    given = isinstance(atom, ast.Name) and atom.id in whole and place.assigned(atom.id) == [None]
    return given or place.values.value(atom).integral


class _Numbers:
    """Numbers in the place of the sizes that expressions are made of."""

    def __init__(self, found: Remainder, held: Mapping[str, ast.expr]) -> None:
        self._found = found
        self._held = held
        self._divisor = ast.dump(found.divisor)
        self._drawn: dict[str, int] = {}

    def atoms(self, node: ast.expr) -> Iterator[ast.expr]:
        """The parts of an expression that are drawn: what is no number, no sum, and not the remainder itself."""
        held = self._held.get(node.id) if isinstance(node, ast.Name) else None
        if held is not None:
            yield from self.atoms(held)
        elif isinstance(node, ast.BinOp) and self._operation(node) is not None:
            yield from self.atoms(node.left)
            yield from self.atoms(node.right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield from self.atoms(node.operand)
        elif not (isinstance(node, ast.Constant) and type(node.value) is int) and not self._is_remainder(node):
            yield node

    def agree(self, atoms: list[str], rest: ast.expr, exact: ast.expr, form: ast.expr) -> bool:
        """Whether `form` always is `rest` where there is a remainder, and `exact` where there is none."""
        draw = random.Random(0)
        for _ in range(_DRAWS):
            self._drawn = {atom: draw.randint(-9, 40) for atom in atoms}
            if divisor := self._value(self._found.divisor):
                old = rest if self._value(self._found.dividend) % divisor else exact
                if self._value(old) != self._value(form):
                    return False
        return True

    def _value(self, node: ast.expr) -> int:
        if isinstance(node, ast.BinOp) and (operation := self._operation(node)) is not None:
            return operation(self._value(node.left), self._value(node.right))
        if isinstance(node, ast.Name) and node.id in self._held:
            return self._value(self._held[node.id])
        if self._is_remainder(node):
            return self._value(self._found.dividend) % self._value(self._found.divisor)
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._value(node.operand)
        return self._drawn[ast.unparse(node)]

    def _operation(self, node: ast.BinOp) -> Callable[[int, int], int] | None:
        """What an operator does, where it cannot fail: only by the divisor of the remainder was divided before."""
        if isinstance(node.op, (ast.FloorDiv, ast.Mod)) and ast.dump(node.right) != self._divisor:
            return None
        return _OPERATIONS.get(type(node.op))

    def _is_remainder(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and ast.dump(node) == ast.dump(self._found.asked)
