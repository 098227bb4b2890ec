"""Whether a function gives the same shapes whichever way a branch goes, in the cases where it would go the other way.

A branch that a guess decides for unknown sizes goes one way for all of them. That is right where the path it takes
gives, for the sizes that would have gone the other way, what the other path gives.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from transforms.python.flow.nodes import called, variables_in
from transforms.python.shapes.expressions import Guesses, State, Texts
from transforms.python.shapes.paths import Lost, Outcome, Paths
from transforms.python.shapes.sizes import ONE, Facts, Sizes, constant, joined, number
from transforms.python.shapes.tensors import Tensors
from transforms.python.shapes.values import NONE, Number, Other, Raised, Several, Shape, Tensor, Value

Function = ast.FunctionDef | ast.AsyncFunctionDef
_CASES = 8
_SPECIAL = range(4)
_UNSEEN = 2
_RANKS = range(1, 5)


class Agreement(NamedTuple):
    """Whether the paths agree in shape, None where that is not to be seen; and whether no values are to be compared."""

    same: bool | None
    empty: bool = False
    in_lowest_rank: bool = False
    """Whether they are the same for tensors of the rank up to which the function takes sizes, where no rank is seen."""


class Branch(NamedTuple):
    """A branch, and what its condition comes to for sizes in general.

    `guess` tells of a condition whether it asks for sizes, and what it comes to for sizes in general.
    """

    node: ast.If | ast.IfExp
    general: bool
    guess: Callable[[ast.expr], tuple[bool, bool | None]]

    def guesses(self, truth: bool) -> Guesses:
        """The branch gone one way. Where it goes as for sizes in general, so do all others that ask for sizes."""
        return Guesses(id(self.node), truth, self.guess) if truth is self.general else Guesses(id(self.node), truth)


def agreement(function: Function, parameters: Mapping[str, Value], branch: Branch) -> Agreement:
    """How the outcomes of the path for sizes in general compare with those of the other path, in that path's cases.

    Where the ranks of tensors are not seen, they differ if they do so for the lowest rank that the function takes, for
    which it is written more likely than for others; where it tells ranks apart, any rank is enough. What is lower than
    the places that it takes sizes from is not asked about.
    """
    ranks = dict[str, int]()
    try:
        texts = Texts()
        found = _agreement(function, parameters, branch, ranks, texts)
        tensors = {name for name, value in parameters.items() if isinstance(value, Tensor)} - ranks.keys()
        unseen = sorted(tensors & variables_in(function))
        if found is None or found.same is not None or not 0 < len(unseen) <= _UNSEEN:
            return found or Agreement(None)
        lowest = _lowest_rank(function, unseen)
        taken = (
            _agreement(function, parameters, branch, ranks | dict.fromkeys(unseen, rank), texts)
            for rank in _RANKS
            if rank >= lowest
        )
        same = [each.same for each in taken if each is not None]
    except (Lost, RecursionError):
        return Agreement(None)
    if False in same and (same[0] is False or _tells_ranks_apart(function)):
        return Agreement(False)
    return found._replace(in_lowest_rank=lowest > 1 and same[:1] == [True])


def _tells_ranks_apart(function: Function) -> bool:
    """Whether a condition in it asks for the rank of a tensor."""
    nodes = list(ast.walk(function))
    assigned = [node.targets[0] for node in nodes if isinstance(node, ast.Assign) and _is_rank(node.value)]
    names = {target.id for target in assigned if isinstance(target, ast.Name)}
    conditions = (part for node in nodes if isinstance(node, ast.If) for part in ast.walk(node.test))
    return any(_is_rank(part) or (isinstance(part, ast.Name) and part.id in names) for part in conditions)


def _lowest_rank(function: Function, names: Sequence[str]) -> int:
    """The rank from which on the sizes that it takes of one of these tensors, by their places, are different ones.

    What takes `x.shape[0]` and `x.shape[-1]` is written for tensors that have both.
    """
    first, last = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for node in ast.walk(function):
        match node:
            case (
                ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=place)
                | ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="size"), args=[place])
            ) if name in first:
                match place:
                    case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(index))):
                        last[name] = max(last[name], index)
                    case ast.Constant(value=int(index)):  # less than 0 where C++ was read
                        first[name], last[name] = max(first[name], index + 1), max(last[name], -index)
    return max(first[name] + last[name] for name in names)


def _is_rank(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "ndim"
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and called(node) in ("dim", "ndimension")


def _agreement(
    function: Function, parameters: Mapping[str, Value], branch: Branch, ranks: dict[str, int], texts: Texts
) -> Agreement | None:
    """The agreement for tensors of these `ranks`, to which those that are unpacked are added.

    None where one of the paths takes no such tensors. Raises Lost where there are too many paths.
    """
    sizes = Sizes()
    for truth in (branch.general, not branch.general, branch.general):  # the first runs learn ranks of what is unpacked
        paths = Paths(parameters, sizes, Tensors(sizes, ranks), branch.guesses(truth), texts)
        if all(outcome.value is None for outcome in paths.outcomes(function)):
            return None
    seen = _Cases(paths, sizes, branch)
    cases = seen.of(branch.node.test, not branch.general)
    all_seen = seen.all and 0 < len(cases) <= _CASES
    found = []
    pending = list(cases[:_CASES])
    for facts in pending:
        given = sizes.given(facts)
        ends = []
        for truth in (not branch.general, branch.general):
            tensors = Tensors(given, ranks)
            paths = Paths(parameters, given, tensors, branch.guesses(truth), texts)
            ends.append(paths.outcomes(function))
            if paths.before(branch.node) is None:
                found.append(Agreement(None))
                break
        else:
            found.append(_Comparison(given, Tensors(given, ranks)).outcomes(*ends))
            if found[-1].same is None and len(found) <= len(cases):  # what is expanded in general may have a size of 1
                pending += ({**facts, atom: ONE} for atom in tensors.stretched)
    same = [each.same for each in found]
    whole = False if False in same else None if None in same or not all_seen else True
    return Agreement(whole, seen.all and bool(found) and all(each.empty for each in found))


class _Cases:
    """What is known of sizes where a condition comes out one way, for each way in which it can."""

    def __init__(self, paths: Paths, sizes: Sizes, branch: Branch) -> None:
        self._paths = paths
        self._sizes = sizes
        self._guess = branch.guess
        self._state = paths.before(branch.node)
        self.all = True
        """Whether `of` left out none that an alternative of the condition has."""

    def of(self, test: ast.expr, truth: bool) -> list[Facts]:
        """The cases; [] where they are not to be seen."""
        if self._state is None:
            return []
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.of(test.operand, not truth)
        if isinstance(test, ast.BoolOp):
            return self._joined(test.values, truth, isinstance(test.op, ast.And) is truth)
        if isinstance(test, ast.Compare) and len(test.ops) > 1:
            sides = [test.left, *test.comparators]
            pairs = zip(sides, test.ops, sides[1:], strict=False)
            parts = [ast.copy_location(ast.Compare(a, [op], [b]), test) for a, op, b in pairs]
            return self._joined(parts, truth, truth)
        if not self._guess(test)[0]:
            return [{}]
        try:
            return list(itertools.islice(self._leaf(test, truth, self._state), 2 * _CASES))
        except Raised:
            return []

    def _joined(self, parts: Sequence[ast.expr], truth: bool, together: bool) -> list[Facts]:
        asking = [part for part in parts if self._guess(part)[0]] if not together else list(parts)
        each = [self.of(part, truth) for part in asking]
        if not together:
            self.all = self.all and all(each)
            return [facts for cases in each for facts in cases]
        return [joined(chosen) for chosen in itertools.islice(itertools.product(*each), 2 * _CASES)]

    def _leaf(self, test: ast.expr, truth: bool, state: State) -> Iterator[Facts]:
        if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id in ("any", "all"):
            yield from self._each(test, truth, state)
            return
        if not isinstance(test, ast.Compare):
            value = self._paths.value(test, state)
            if isinstance(value, Number):
                yield from [{}] if truth else self._sizes.where_equal(value.size, number(0))
            return
        left, operator, right = test.left, test.ops[0], test.comparators[0]
        if isinstance(operator, (ast.In, ast.NotIn)):
            if isinstance(operator, ast.In) is truth and isinstance(right, (ast.Tuple, ast.List)):
                for element in right.elts:
                    yield from self._equal(left, element, state)
            return
        if isinstance(operator, (ast.Eq, ast.NotEq)):
            yield from self._equal(left, right, state) if isinstance(operator, ast.Eq) is truth else [{}]
            return
        values = self._paths.value(left, state), self._paths.value(right, state)
        if isinstance(values[0], Number) and isinstance(values[1], Number):
            yield from self._ordered(values[0], operator, values[1], truth)

    def _equal(self, left: ast.expr, right: ast.expr, state: State) -> Iterator[Facts]:
        each = [self._sizes.where_equal(*pair) for pair in self._paths.pairs(left, right, state)]
        if each:
            yield from map(joined, itertools.product(*each))

    def _ordered(self, left: Number, operator: ast.cmpop, right: Number, truth: bool) -> Iterator[Facts]:
        """The numbers that a size may be where it is below a bound."""
        bound, size = constant(right.size), left.size
        below = isinstance(operator, (ast.Lt, ast.LtE))
        if bound is None:
            bound, size, below = constant(left.size), right.size, not below
        if bound is None:
            return
        if below is not truth:
            yield {}
            return
        strict = isinstance(operator, (ast.Lt, ast.Gt)) is truth
        for value in _SPECIAL:
            if value < bound or (value == bound and not strict):
                yield from self._sizes.where_equal(size, number(value))

    def _each(self, test: ast.Call, truth: bool, state: State) -> Iterator[Facts]:
        """`any(s == 0 for s in x.shape)`, for each of the sizes."""
        generator = test.args[0] if len(test.args) == 1 else None
        if not isinstance(generator, (ast.GeneratorExp, ast.ListComp)) or len(generator.generators) != 1:
            return
        loop = generator.generators[0]
        members = self._paths.value(loop.iter, state)
        together = (getattr(test.func, "id", "") == "all") is truth
        if not isinstance(members, Several) or not isinstance(loop.target, ast.Name) or loop.ifs or together:
            return
        for member in members.items:
            yield from self._leaf(generator.elt, truth, state.assigned(loop.target.id, member))


class _Comparison:
    def __init__(self, sizes: Sizes, tensors: Tensors) -> None:
        self._sizes = sizes
        self._tensors = tensors

    def outcomes(self, special: Sequence[Outcome], general: Sequence[Outcome]) -> Agreement:
        """How the ends of two paths compare; where only one of them can be come to, by no other truth."""
        results: list[bool | None] = []
        empty = True
        for end in special:
            if end.value is None:
                continue
            others = [other for other in general if _compatible(end.state, other.state)]
            returned = [other for other in others if other.value is not None] or others
            joint = [joined([end.state.facts, other.state.facts]) for other in returned]
            each = [self._values(end.value, other.value, facts) for other, facts in zip(returned, joint, strict=True)]
            raises = len(returned) < len(others)
            differs = bool(each) and all(same is False for same in each)
            refuses = raises and any(other.checked for other in others)
            results.append(False if differs or refuses else bool(each and all(each) and not raises) or None)
            unset = all(isinstance(other.value, Tensor) and other.value.unset for other in others)
            empty = empty and (unset or self._is_empty(end.value, end.state.facts))
        same = False if False in results else None if None in results else True
        return Agreement(same, empty)

    def _values(self, first: Value, second: Value | None, facts: Facts) -> bool | None:
        if second is None:
            return False
        if isinstance(first, Number) and isinstance(second, Number):
            return self._sizes.same(first.size, second.size, facts)
        first, second = (value.of if isinstance(value, Shape) else value for value in (first, second))
        if isinstance(first, Tensor) and isinstance(second, Tensor):
            return self._shapes(first, second, facts)
        if NONE in (first, second) and any(isinstance(value, (Tensor, Several, Number)) for value in (first, second)):
            return False
        if isinstance(first, Several) and isinstance(second, Several):
            if len(first.items) != len(second.items):
                return False
            pairs = zip(first.items, second.items, strict=True)
            return _all([self._values(a, b, facts) for a, b in pairs])
        return True if isinstance(first, Other) and first == second and first.text != "?" else None

    def _shapes(self, first: Tensor, second: Tensor, facts: Facts) -> bool | None:
        if first._replace(unset=second.unset) == second:
            return True
        if second.expanded == first._replace(unset=False):
            return False
        left, right = self._tensors.of(first), self._tensors.of(second)
        if left is None and right is None:
            same = self._sizes.same(self._tensors.rank(first), self._tensors.rank(second), facts)
            return False if same is False else None
        # Where the rank of one is not seen it has the other's, or the shapes differ anyway.
        rank = len(left or right or ())
        pair = [
            tuple(self._tensors.dimension(tensor, i) for i in range(rank)) if sizes is None else sizes
            for tensor, sizes in ((first, left), (second, right))
        ]
        if len(pair[0]) != len(pair[1]):
            return False
        same = _all([self._sizes.same(a, b, facts) for a, b in zip(*pair, strict=True)])
        return None if same and None in (left, right) else same

    def _is_empty(self, value: Value, facts: Facts) -> bool:
        """Whether a value is tensors without elements."""
        if isinstance(value, Several):
            return bool(value.items) and all(self._is_empty(item, facts) for item in value.items)
        return isinstance(value, Tensor) and self._sizes.constant(self._tensors.numel(value), facts) == 0


def _all(truths: Sequence[bool | None]) -> bool | None:
    return False if False in truths else None if None in truths else True


def _compatible(first: State, second: State) -> bool:
    """Whether one call can come to both states, but for the branch that is asked about."""
    return all(second.decided.get(key, truth) == truth for key, truth in first.decided.items())
