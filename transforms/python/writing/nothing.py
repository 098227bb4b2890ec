"""What tensors come to where others are empty: no elements, or zeros, such as the sum of nothing."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence, Set

from transforms.python.flow.nodes import called
from transforms.python.flow.sources import given_to, sources_of
from transforms.python.flow.torch_names import operands
from transforms.python.flow.values import TENSOR, TENSORS
from transforms.python.writing.place import Place

EMPTY, ZEROS, UNKNOWN = "no elements", "zeros", ""

# Operations of each element, and of the places of elements: what they make of no elements has none.
_OF_ELEMENTS = re.compile(
    r"^(?:conj\w*|neg|negative|abs|exp|expm1|log|log1p|sqrt|rsqrt|square|reciprocal|sigmoid|tanh|relu|gelu|silu|sin|cos|erf"
    r"|floor|ceil|round|sign|clamp\w*|clone|contiguous|detach|to|type|type_as|float|half|bfloat16|double|int|long|bool"
    r"|add|sub|mul|div|true_divide|floor_divide|pow|maximum|minimum|eq|ne|lt|le|gt|ge|logical_\w+|bitwise_\w+|atan2"
    r"|fmod|remainder|where|masked_fill|softmax|log_softmax|cumsum|isnan|isinf|nan_to_num|view|view_as|reshape"
    r"|reshape_as|flatten|transpose|permute|t|squeeze|unsqueeze|expand|expand_as|flip|roll|narrow|tril|triu"
    r"|as_strided|requires_grad|zero|fill|copy|(?:zeros|ones|full|rand|randn)_like)_?$"
)
# Those of them that make zeros of zeros.
_OF_ZEROS = re.compile(
    r"^(?:conj\w*|neg|negative|abs|sqrt|square|relu|sign|clone|contiguous|detach|to|float|half|bfloat16|double|view"
    r"|reshape|flatten|transpose|permute|t|squeeze|unsqueeze|expand|zero|zeros_like|sum|nansum|cumsum)_?$"
)
_SUMS = re.compile(r"^(?:sum|nansum|count_nonzero|any|trace)$")
_PRODUCTS = re.compile(r"^(?:matmul|mm|bmm|mv|dot|inner)$")
_ZEROS = re.compile(r"^(?:new_)?zeros$")
_UNSET = re.compile(r"^(?:new_)?empty(?:_like|_strided|_permuted)?$")


class Nothing:
    """What expressions come to behind a branch where `tensors`, as they are written, have no elements.

    `numbers` are those that are 0 then.
    """

    def __init__(self, place: Place, branch: ast.If, tensors: Set[str], numbers: Set[str]) -> None:
        self._place = place
        self._branch = branch
        self._tensors = tensors
        self._numbers = numbers
        self._open: set[str] = set()

    def same(self, given: Sequence[ast.expr], others: Sequence[ast.expr]) -> bool:
        """Whether each of `given` is known to be each of `others`."""
        results = {self.of(value) for value in given}
        if results == {EMPTY} or len({ast.unparse(value) for value in (*given, *others)}) == 1:
            return True  # of the same shape they are the same
        return UNKNOWN not in results | {self.of(value) for value in others}

    def of(self, node: ast.expr) -> str:
        """What a value comes to."""
        if not isinstance(node, ast.Name) and ast.unparse(node) in self._tensors:
            return EMPTY
        match node:
            case ast.Name():
                return self._of_variable(node)
            case ast.Attribute(value=value, attr="T" | "mT" | "H" | "mH" | "real" | "imag" | "data"):
                return self.of(value)
            case ast.Subscript(value=value):
                return self.of(value)
            case ast.IfExp(body=body, orelse=orelse):
                return _least([self.of(body), self.of(orelse)])
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self.of(operand)
            case ast.Compare(left=left, comparators=[right]) if not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
                return EMPTY if EMPTY in (self.of(left), self.of(right)) else UNKNOWN
            case ast.BinOp(left=left, op=op, right=right):
                return self._combined(left, op, right)
            case ast.Call():
                return self._of_call(node)
        return UNKNOWN

    def _of_variable(self, read: ast.Name) -> str:
        """What a variable comes to; while that is asked, what it is given of itself says nothing more."""
        name = read.id
        if name in self._open:
            return EMPTY
        empty = name in self._tensors
        parameter = any(isinstance(node, ast.arg) and node.arg == name for node in ast.walk(self._place.function.args))
        if parameter and not empty:
            return UNKNOWN
        self._open.add(name)
        given = given_to(self._place.function, name)
        held = [value for line, value in given if self._may_hold(read, line, value, self._branch.lineno * empty)]
        results = [self.of(value) if value is not None else UNKNOWN for value in held]
        self._open.discard(name)
        return _least([*results, *([EMPTY] if empty else [])])

    def _may_hold(self, read: ast.Name, line: int, value: ast.expr | None, first: int) -> bool:
        """Whether a variable that is read may hold what it is given on a line from `first` on."""
        at = getattr(read, "lineno", sys.maxsize)
        paths = [path for path in (self._branch.body, self._branch.orelse) if path]
        sides = [{i for i, path in enumerate(paths) if path[0].lineno <= each <= _end(path[-1])} for each in (at, line)]
        if line < first or (all(sides) and sides[0] != sides[1]):
            return False
        loops = (node for node in self._place.nodes if isinstance(node, (ast.For, ast.AsyncFor, ast.While)))
        if any(loop.lineno <= min(at, line) and max(at, line) <= _end(loop) for loop in loops):
            return True
        return line <= at and not any(part is read for part in ast.walk(value or read.ctx))

    def _combined(self, left: ast.expr, operator: ast.operator, right: ast.expr) -> str:
        sides = (self.of(left), self.of(right))
        if isinstance(operator, ast.MatMult):
            return ZEROS if EMPTY in sides else UNKNOWN
        if EMPTY in sides:
            return EMPTY
        if isinstance(operator, (ast.Add, ast.Sub)):
            return _least(sides)
        if isinstance(operator, ast.Mult) and ZEROS in sides:
            numbers = (_is_number(side) or is_positive(self._place, side) for side in (left, right))
            return ZEROS if UNKNOWN not in sides or any(numbers) else UNKNOWN
        divides = isinstance(operator, ast.Div) and sides[0] == ZEROS
        divisor = is_positive(self._place, right) or (_is_number(right) and ast.literal_eval(right) != 0)
        return ZEROS if divides and divisor else UNKNOWN

    def _of_call(self, call: ast.Call) -> str:
        if not isinstance(call.func, ast.Attribute) and not self._is_of_module(call.func):
            return UNKNOWN  # whatever that is
        name, passed = called(call), operands(call)
        if _UNSET.match(name):
            return EMPTY  # no value is asked of it
        if _ZEROS.match(name):
            sizes = [part for operand in passed[name.startswith("new_") :] for part in _sizes(operand)]
            return EMPTY if any(map(self._is_zero, sizes)) else ZEROS
        given = list(map(self.of, passed))
        if not given:
            return UNKNOWN
        if _OF_ELEMENTS.match(name) and EMPTY in (given if not name.endswith("_") else given[:1]):
            return EMPTY
        if (_SUMS.match(name) and given[0] == EMPTY) or (_PRODUCTS.match(name) and EMPTY in given):
            return ZEROS
        if name in ("mul", "div") and len(passed) == 2 and not call.keywords:
            return self._combined(passed[0], ast.Mult() if name == "mul" else ast.Div(), passed[1])
        return ZEROS if _OF_ZEROS.match(name) and given[0] == ZEROS else UNKNOWN

    def _is_of_module(self, function: ast.expr) -> bool:
        """Whether a function is the file's own or imported, as torch._refs names them: no variable and no argument."""
        return isinstance(function, ast.Name) and function.id not in self._place.values.variables

    def _is_zero(self, size: ast.expr) -> bool:
        """Whether a size, or one of several, is known to be 0: it is written so, or they are all of an empty tensor."""
        match size:
            case ast.Constant(value=0):
                return True
            case ast.Name() | ast.Subscript() | ast.Call(args=[_]) if ast.unparse(size) in self._numbers:
                return True
            case (
                ast.Attribute(value=value, attr="shape")
                | ast.Call(func=ast.Attribute(value=value, attr="size"), args=[])
            ):
                return self.of(value) == EMPTY
        return False


def is_of_numbers(place: Place, call: ast.Call) -> bool:
    """Whether a call is `max(n, 1)`, or the like: of numbers, which there are whatever a tensor holds."""
    if not isinstance(call.func, ast.Name) or call.func.id in place.values.variables or call.keywords:
        return False
    return len(call.args) > 1 and all(place.values.value(argument).numbers for argument in call.args)


def is_positive(place: Place, node: ast.expr) -> bool:
    """Whether a number is an int above 0 whatever the sizes are: `max(n, 1)`, or a variable that is that alone."""
    if isinstance(node, ast.Name):
        given = given_to(place.function, node.id)
        value = given[0][1] if len(given) == 1 and given[0][0] < node.lineno else None
        if not isinstance(value, ast.Call) or len(place.assigned(node.id)) != 1:
            return False  # a parameter too
        return is_positive(place, value)
    if not isinstance(node, ast.Call) or called(node) != "max" or not is_of_numbers(place, node):
        return False
    constants = (part.value for part in node.args if isinstance(part, ast.Constant))
    return place.values.value(node).integral and any(isinstance(value, int) and value > 0 for value in constants)


def cases(place: Place, branch: ast.If, leaves: Sequence[ast.expr], either: bool) -> Iterator[Nothing]:
    """The cases in which a branch on emptiness goes its own way: all `leaves` of its condition say so, or `either`."""
    asked = []
    for leaf in leaves:
        shapes = [part.generators[0].iter for part in ast.walk(leaf) if isinstance(part, ast.GeneratorExp)]
        asked.append((sized_by(place, leaf), {ast.unparse(part) for part in (*_numbers(leaf), *shapes)}))
    if not either:
        tensors = set[str]().union(*(found for found, _ in asked if len(found) == 1))
        numbers = set[str]().union(*(found for _, found in asked))
        if tensors:
            yield Nothing(place, branch, tensors, numbers)
            return
    for found, numbers in asked:
        # Of a number that is made of the sizes of several tensors one of these may be 0.
        for tensor in found or {""}:
            yield Nothing(place, branch, {tensor}, numbers)


def sized_by(place: Place, test: ast.expr) -> set[str]:
    """The tensors, as they are written, whose sizes a condition asks for."""
    found, followed = set[str](), set[str]()
    pending = [test]
    for tree in pending:
        for part in ast.walk(tree):
            match part:
                case (
                    ast.Attribute(value=owner, attr="shape")
                    | ast.Call(func=ast.Attribute(value=owner, attr="numel" | "nelement" | "size"))
                    | ast.Call(func=ast.Name(id="len"), args=[owner])
                ):
                    if not isinstance(owner, ast.Attribute) or owner.attr != "shape":
                        found.add(ast.unparse(owner))
                case ast.Name(id=name) if name not in followed:
                    followed.add(name)
                    if place.values.value(part).kind not in (TENSOR, TENSORS):
                        pending += sources_of(place.function, name)
    return found


def counts_from_end(branch: ast.If, nodes: Iterable[ast.AST]) -> bool:
    """Whether a path slices by `-n` for an `n` that the branch asks about: 0 from the end is the beginning."""
    expressions = {ast.unparse(node) for node in ast.walk(branch.test) if isinstance(node, ast.expr)}
    bounds = (bound for node in nodes if isinstance(node, ast.Slice) for bound in (node.lower, node.upper))
    return any(
        isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub) and ast.unparse(bound.operand) in expressions
        for bound in bounds
    )


def reads_element(node: ast.AST, tensors: Set[str]) -> bool:
    """Whether an expression is `x[0]`, the row of a number, of one of `tensors`, as they are written."""
    if not isinstance(node, ast.Subscript) or ast.unparse(node.value) not in tensors:
        return False
    index = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
    index = index.operand if isinstance(index, ast.UnaryOp) else index
    return isinstance(index, ast.Constant) and type(index.value) is int


def _numbers(leaf: ast.expr) -> list[ast.expr]:
    sides = [leaf.left, *leaf.comparators] if isinstance(leaf, ast.Compare) else [leaf]
    return [side for side in sides if not isinstance(side, ast.Constant)]


def _least(results: Collection[str]) -> str:
    """What is known of a value that is one of several."""
    return UNKNOWN if UNKNOWN in results or not results else ZEROS if ZEROS in results else EMPTY


def _end(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def _sizes(node: ast.expr) -> Iterator[ast.expr]:
    yield from node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
