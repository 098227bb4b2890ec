"""What the expressions of a function come to, as far as shapes go."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from transforms.python.flow.imported import torch_name
from transforms.python.flow.nodes import all_nodes, called, dotted, spoken
from transforms.python.flow.torch_names import TORCH_MODULES
from transforms.python.shapes import sizes as polynomials
from transforms.python.shapes.operators import Call, applied
from transforms.python.shapes.sizes import Facts, Sizes, number, plus, product, times
from transforms.python.shapes.tensors import Tensors, made
from transforms.python.shapes.values import Number, Other, Raised, Several, Shape, Tensor, Value, text_of

_NODES = 400
_OF_TENSORS = re.compile(
    r"^(?:size|numel|dim|clone|contiguous|reshape|view|expand|transpose|permute|unsqueeze|new_\w+)$"
)
"""Methods that nothing but a tensor has."""
_OPERATORS: Mapping[type[ast.operator], str] = {ast.FloorDiv: "//", ast.Mod: "%"}
_EXTREMES = {"max": "max", "min": "min", "sym_max": "max", "sym_min": "min"}
_AS_IT_IS = frozenset({"list", "tuple", "Size", "int", "sym_int", "size_hint", "guard_int", "expect_true"})


class State(NamedTuple):
    """What holds at a place on a path: variables, what is known of sizes, and which way branches went, by their text.

    Never changed: statements make new ones.
    """

    variables: Mapping[str, Value]
    facts: Facts
    decided: Mapping[str, bool]

    def assigned(self, name: str, value: Value) -> State:
        """The state with another value of a variable."""
        return self._replace(variables={**self.variables, name: value})

    def going(self, condition: str, truth: bool) -> State:
        """The state where a condition, by its text, has come to a truth."""
        return self._replace(decided={**self.decided, condition: truth})


class Guesses(NamedTuple):
    """How conditions come out whatever the sizes are: of one `branch`, by its identity, and of all that ask for sizes.

    `others` tells of a condition whether it asks for sizes, and what it is guessed to be where these are unknown.
    """

    branch: int = 0
    truth: bool = True
    others: Callable[[ast.expr], tuple[bool, bool | None]] = lambda test: (False, None)


def raising(branch: ast.If | ast.IfExp) -> bool | None:
    """The outcome for which a branch ends by raising; None where no arm of it does."""
    arms = ((True, branch.body), (False, branch.orelse)) if isinstance(branch, ast.If) else ()
    return next((truth for truth, arm in arms if arm and isinstance(arm[-1], ast.Raise)), None)


def plain(condition: ast.expr) -> ast.expr:
    """What a condition says, without the calls that only ask for its truth."""
    while isinstance(condition, ast.Call) and called(condition) in ("bool", "expect_true") and condition.args:
        condition = condition.args[0]
    return spoken(condition)


class Texts:
    """Names and texts of nodes, each taken once: many paths come to the same statements."""

    def __init__(self) -> None:
        self._names: dict[int, tuple[ast.AST, list[str]]] = {}
        self._texts: dict[int, tuple[ast.AST, str]] = {}

    def names(self, node: ast.AST) -> list[str]:
        """The names in a node, as often as they stand there."""
        if id(node) not in self._names:  # what is kept with its node has an identity that no other gets
            self._names[id(node)] = node, [part.id for part in all_nodes([node]) if isinstance(part, ast.Name)]
        return self._names[id(node)][1]

    def text(self, node: ast.AST) -> str:
        """What `ast.unparse` gives for it."""
        if id(node) not in self._texts:
            self._texts[id(node)] = node, ast.unparse(node)
        return self._texts[id(node)][1]


class Expressions:
    """Evaluates expressions; `met` gathers what holds where branches are come to first."""

    def __init__(self, sizes: Sizes, tensors: Tensors, guesses: Guesses, texts: Texts) -> None:
        self._read = texts
        self.sizes = sizes
        self.tensors = tensors
        self._guesses = guesses
        self.met: dict[int, State] = {}
        self._texts: dict[str, str] = {}

    def value(self, node: ast.expr, state: State) -> Value:
        """What an expression is. Raises Raised where it raises."""
        rule = _RULES.get(type(node))
        value = rule(self, node, state) if rule is not None else None
        return self.other(node, state) if value is None else value

    def other(self, node: ast.AST, state: State) -> Other:
        """Something of which only that is seen what it is made of."""
        names = self._read.names(node)
        if len(names) > _NODES:
            return Other(f"#{node.lineno}" if isinstance(node, (ast.expr, ast.stmt)) else "#")
        values = (f"{name}={text_of(state.variables[name])}" for name in names if name in state.variables)
        whole = f"{self._read.text(node)} where {', '.join(sorted(set(values)))}"
        return Other(whole if len(whole) < 80 else self._texts.setdefault(whole, f"#{len(self._texts)}"))

    def decision(self, branch: ast.If | ast.IfExp, state: State) -> bool | None:
        """Which way a branch goes, or None where that is not to be seen."""
        self.met.setdefault(id(branch), state)
        if id(branch) == self._guesses.branch:
            return self._guesses.truth
        asks, guess = self._guesses.others(branch.test)
        # What raises is checked, and not guessed.
        return guess if asks and raising(branch) is None else self.truth(branch.test, state)

    def asks(self, test: ast.expr) -> bool:
        """Whether a condition asks for sizes, and so is answered without them where they are not known."""
        test = plain(test)
        if isinstance(test, ast.BoolOp):
            return any(map(self.asks, test.values))
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.asks(test.operand)
        return self._guesses.others(test)[0]

    def truth(self, node: ast.expr, state: State) -> bool | None:
        """What a condition comes to, or None where that depends on more than what is known."""
        node = plain(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.truth(node.operand, state)
            return None if inner is None else not inner
        if isinstance(node, ast.BoolOp):
            truths, ends = [self.truth(side, state) for side in node.values], isinstance(node.op, ast.Or)
            return ends if ends in truths else None if None in truths else not ends
        if isinstance(node, ast.Constant):
            return bool(node.value)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._comparison(node, state)
        value = self.value(node, state)
        if isinstance(value, Number):
            constant = self.sizes.constant(value.size, state.facts)
            return None if constant is None else constant != 0
        return None

    def _comparison(self, node: ast.Compare, state: State) -> bool | None:
        left, right = self.value(node.left, state), self.value(node.comparators[0], state)
        if not isinstance(left, Number) or not isinstance(right, Number):
            return None
        apart = self.sizes.constant(plus(left.size, right.size, -1), state.facts)
        if apart is None:
            return None
        tests: dict[type[ast.cmpop], bool] = {
            ast.Eq: apart == 0, ast.NotEq: apart != 0, ast.Lt: apart < 0, ast.LtE: apart <= 0,
            ast.Gt: apart > 0, ast.GtE: apart >= 0,
        }  # fmt: skip
        return tests.get(type(node.ops[0]))

    def _name(self, node: ast.Name, state: State) -> Value | None:
        return state.variables.get(node.id)

    def _constant(self, node: ast.Constant, state: State) -> Value:
        return Number(number(node.value)) if type(node.value) is int else Other(repr(node.value))

    def _several(self, node: ast.Tuple | ast.List, state: State) -> Value | None:
        items: list[Value] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                inner = self._unpacked(self.value(element.value, state))
                if inner is None:
                    return None
                items += inner
            else:
                items.append(self.value(element, state))
        return Several(tuple(items))

    def _unpacked(self, value: Value) -> Sequence[Value] | None:
        """The members of a sequence."""
        sequence = self.tensors.shape(value.of) if isinstance(value, Shape) else value
        return sequence.items if isinstance(sequence, Several) else None

    def _operation(self, node: ast.BinOp, state: State) -> Value | None:
        left, right = self.value(node.left, state), self.value(node.right, state)
        if isinstance(left, Number) and isinstance(right, Number):
            if isinstance(node.op, (ast.Add, ast.Sub)):
                return Number(plus(left.size, right.size, -1 if isinstance(node.op, ast.Sub) else 1))
            if isinstance(node.op, ast.Mult):
                return Number(times(left.size, right.size))
            name = _OPERATORS.get(type(node.op))
            return None if name is None else Number(self.sizes.made(name, left.size, right.size))
        if isinstance(node.op, ast.MatMult) and isinstance(left, Tensor):
            return applied(self.tensors, Call("matmul", left, [right], {}))
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            tensor, other = (left, right) if isinstance(left, Tensor) else (right, left)
            assert isinstance(tensor, Tensor)
            if isinstance(other, Tensor):
                return self.tensors.broadcast(tensor, other)
            return tensor if isinstance(other, Number) or not self._may_be_tensor(node) else None
        first, second = self._unpacked(left), self._unpacked(right)
        if isinstance(node.op, ast.Add) and first is not None and second is not None:
            return Several((*first, *second))
        if isinstance(node.op, ast.Mult) and isinstance(left, Several) and isinstance(right, Number):
            count = polynomials.constant(right.size)
            return Several(left.items * count) if count is not None and 0 <= count * len(left.items) < _NODES else None
        return None

    def _may_be_tensor(self, node: ast.BinOp) -> bool:
        return not any(isinstance(side, ast.Constant) for side in (node.left, node.right))

    def _negation(self, node: ast.UnaryOp, state: State) -> Value | None:
        value = self.value(node.operand, state)
        if isinstance(value, Number) and isinstance(node.op, ast.USub):
            return Number(times(value.size, number(-1)))
        return value if isinstance(value, Tensor) and not isinstance(node.op, ast.Not) else None

    def _conditional(self, node: ast.IfExp, state: State) -> Value | None:
        truth = self.decision(node, state)
        if truth is not None:
            return self.value(node.body if truth else node.orelse, state)
        first, second = self.value(node.body, state), self.value(node.orelse, state)
        return first if first == second else None

    def _attribute(self, node: ast.Attribute, state: State) -> Value | None:
        value = self.value(node.value, state)
        if node.attr in ("shape", "T", "mT", "ndim") and isinstance(value, (Tensor, Other)):
            tensor = self._as_tensor(value)
            if node.attr == "shape":
                return self.tensors.shape(tensor)
            if node.attr == "ndim":
                return Number(self.tensors.rank(tensor))
            if node.attr == "T":
                sizes = self.tensors.of(tensor)
                return None if sizes is None else made(sizes[::-1])
            ends = [Number(number(-2)), Number(number(-1))]
            return applied(self.tensors, Call("transpose", tensor, ends, {}))
        return None

    def _as_tensor(self, value: Tensor | Other) -> Tensor:
        return value if isinstance(value, Tensor) else Tensor(value.text)

    def _subscript(self, node: ast.Subscript, state: State) -> Value | None:
        value = self.value(node.value, state)
        if isinstance(value, Tensor):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            items: list[Value | slice | None] = []
            for part in parts:
                if isinstance(part, ast.Slice):
                    ends = (None if e is None else self.value(e, state) for e in (part.lower, part.upper, part.step))
                    items.append(slice(*ends))
                else:
                    items.append(self.value(part, state))
            return self.tensors.indexed(value, items)
        if isinstance(node.slice, ast.Slice):
            return self._part(value, node.slice, state)
        index = self.value(node.slice, state)
        at = polynomials.constant(index.size) if isinstance(index, Number) else None
        if at is None:
            return None
        if isinstance(value, Several):
            if not -len(value.items) <= at < len(value.items):
                raise Raised
            return value.items[at]
        return Number(self.tensors.dimension(value.of, at)) if isinstance(value, Shape) else None

    def _part(self, value: Value, part: ast.Slice, state: State) -> Value | None:
        ends: list[int | None] = []
        for end in (part.lower, part.upper, part.step):
            bound = None if end is None else self.value(end, state)
            at = polynomials.constant(bound.size) if isinstance(bound, Number) else None
            if end is not None and at is None:
                return None
            ends.append(at)
        return Several(value.items[slice(*ends)]) if isinstance(value, Several) else None

    def _call(self, node: ast.Call, state: State) -> Value | None:
        if any(keyword.arg is None for keyword in node.keywords):
            return None
        if called(node) == "reduce" and _is_product(node):
            return self._function("prod", [self.value(node.args[1], state)], {})
        arguments = self._several(ast.Tuple(node.args, ast.Load()), state)
        if not isinstance(arguments, Several):
            return None
        keywords = {str(keyword.arg): self.value(keyword.value, state) for keyword in node.keywords}
        if isinstance(node.func, ast.Attribute) and torch_name(node.func).partition(".")[0] not in TORCH_MODULES:
            owner = self.value(node.func.value, state)
            if isinstance(owner, Other) and _OF_TENSORS.match(node.func.attr):
                owner = self._as_tensor(owner)
            if isinstance(owner, Tensor):
                return self._method(node.func.attr, owner, arguments.items, keywords)
            if dotted(node.func) != "math.prod" and node.func.attr != "infer_size":
                return None
        return self._function(called(node), arguments.items, keywords)

    def _method(
        self, name: str, tensor: Tensor, arguments: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Value | None:
        if name == "size":
            if not arguments and not keywords:
                return self.tensors.shape(tensor)
            at = Call(name, tensor, arguments, keywords).integer(0, "dim")
            return None if at is None else Number(self.tensors.dimension(tensor, at))
        if name in ("numel", "nelement"):
            return Number(self.tensors.numel(tensor))
        if name in ("dim", "ndimension"):
            return Number(self.tensors.rank(tensor))
        if name.startswith("new_"):
            return self.tensors.factory(name, arguments, keywords)
        return applied(self.tensors, Call(name, tensor, arguments, keywords))

    def _function(self, name: str, arguments: Sequence[Value], keywords: Mapping[str, Value]) -> Value | None:
        numbers = [argument.size for argument in arguments if isinstance(argument, Number)]
        if name in _EXTREMES and len(arguments) > 1 and len(numbers) == len(arguments):
            result = numbers[0]
            for size in numbers[1:]:
                result = self.sizes.made(_EXTREMES[name], result, size)
            return Number(result)
        if name in _AS_IT_IS and len(arguments) == 1 and not keywords:
            return arguments[0]
        if name == "infer_size" and len(numbers) == 1 and len(arguments) == 2:  # torch/_prims_common/__init__.py
            shape = f"infer_size({'; '.join(map(text_of, arguments))})"
            return Shape(Tensor(shape, elements=numbers[0]))
        if name == "prod" and len(arguments) == 1 and isinstance(arguments[0], Shape):
            return Number(self.tensors.numel(arguments[0].of))
        if name == "len" and len(arguments) == 1 and not isinstance(arguments[0], Several):
            if isinstance(arguments[0], Shape):
                return Number(self.tensors.rank(arguments[0].of))
            return Number(self.tensors.dimension(arguments[0], 0)) if isinstance(arguments[0], Tensor) else None
        if name in ("cat", "stack", "concat") and arguments and isinstance(arguments[0], Several):
            at = Call(name, Tensor(""), arguments[1:], keywords).integer(0, "dim")
            given = len(arguments) > 1 or "dim" in keywords
            return self.tensors.joined(name, arguments[0].items, at or 0) if at is not None or not given else None
        members = self._unpacked(arguments[0]) if len(arguments) == 1 else None
        if members is not None and not keywords:
            return self._of_members(name, members)
        if arguments and isinstance(arguments[0], Tensor):
            return self._method(name, arguments[0], arguments[1:], keywords)
        return self.tensors.factory(name, arguments, keywords)

    def _of_members(self, name: str, members: Sequence[Value]) -> Value | None:
        if name == "len":
            return Number(number(len(members)))
        sizes = [member.size for member in members if isinstance(member, Number)]
        if len(sizes) != len(members) or not sizes:
            return self.tensors.factory(name, [Several(tuple(members))], {})
        if name == "prod":
            return Number(product(sizes))
        if name in ("sum", "sym_sum"):
            total = polynomials.ZERO
            for size in sizes:
                total = plus(total, size)
            return Number(total)
        if name in _EXTREMES:
            return self._function(name, members, {}) if len(members) > 1 else members[0]
        return self.tensors.factory(name, [Several(tuple(members))], {})


def _is_product(reduction: ast.Call) -> bool:
    """Whether a call of `functools.reduce` multiplies all there is, and nothing else."""
    by, *given = reduction.args or [ast.Constant(None)]
    start = given[1] if len(given) == 2 else ast.Constant(1)
    ones = isinstance(start, ast.Constant) and start.value == 1
    return dotted(by) == "operator.mul" and len(given) in (1, 2) and ones and not reduction.keywords


_RULES: Mapping[type[ast.expr], Callable[..., Value | None]] = {
    ast.Name: Expressions._name,
    ast.Constant: Expressions._constant,
    ast.Tuple: Expressions._several,
    ast.List: Expressions._several,
    ast.BinOp: Expressions._operation,
    ast.UnaryOp: Expressions._negation,
    ast.IfExp: Expressions._conditional,
    ast.Attribute: Expressions._attribute,
    ast.Subscript: Expressions._subscript,
    ast.Call: Expressions._call,
}
