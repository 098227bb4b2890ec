"""Which expressions may be evaluated where Python's short circuit would have passed them by.

`sym_and(a, b)` evaluates `b` whatever `a` says. That is the same program only where `b` can neither raise, call nor
assign: `x.shape[1]` behind `x.ndim == 2`, or `bias.shape` behind `bias is not None`, may not be moved.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from transforms.python.flow.catching import TRY
from transforms.python.flow.nodes import (
    EXITS,
    all_nodes,
    always_evaluated,
    blocks,
    bound_otherwise,
    own_nodes,
    variables_in,
)
from transforms.python.writing.altered import assigned, assigned_by_others, changed, deleted
from transforms.python.writing.bound import bound_by, bound_within, local_variables
from transforms.python.writing.present import none_for, none_within
from transforms.python.writing.ranks import dimension_of, literal_rank, ranked, shape_owner, turn_of, turning_over

_SIMPLE_METHODS = frozenset({"size", "stride", "dim", "numel", "nelement", "ndimension", "storage_offset"})
_MAY_BE_ZERO = (ast.Div, ast.FloorDiv, ast.Mod)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, *_MAY_BE_ZERO)
_OPPOSITE: dict[type[ast.cmpop], ast.cmpop] = {
    ast.NotEq: ast.Eq(), ast.Lt: ast.GtE(), ast.LtE: ast.Gt(), ast.NotIn: ast.In(), ast.Is: ast.IsNot(),
}  # fmt: skip
_OF_ALL = frozenset({"self", "cls", "torch", "math"})
"""What may be asked for an attribute anywhere; what that holds may be None, as `self.grad` and `self.bias` are."""


@dataclass(slots=True)
class Evaluated:
    """What has been evaluated without an error when a place is reached.

    `texts` are expressions as `ast.unparse` writes them; `ranks` the least number of dimensions of tensors, by the text
    of the tensor; `shapes` the tensors whose shapes variables hold.
    """

    texts: set[str] = field(default_factory=set)
    ranks: dict[str, int] = field(default_factory=dict)
    shapes: dict[str, str] = field(default_factory=dict)

    exact: dict[str, int] = field(default_factory=dict)
    """The number of dimensions of tensors that is known, by the text of the tensor."""
    turns: dict[str, str] = field(default_factory=dict)
    """The loop variables that number dimensions, each with the text of the tensor that has them."""
    counts: dict[str, str] = field(default_factory=dict)
    """The variables that hold how many dimensions a tensor has, each with the text of the tensor."""
    unbound: set[str] = field(default_factory=set)
    """The variables of the function that may have no value yet."""
    absent: set[str] = field(default_factory=set)
    """The variables that may be None, by what was assigned to them."""

    pure: frozenset[str] = frozenset({"len", "all", "any"})
    """Functions that neither raise nor do anything, given what may be moved."""
    function: ast.AST = field(default_factory=lambda: ast.Module([], []))

    def changed(self, nodes: Iterable[ast.AST]) -> Set[str]:
        """The names of what `nodes` change in place, by all that the function calls it."""
        return changed(self.function, nodes)

    def forget(self, names: Set[str]) -> None:
        """Drop what rests on names that are assigned anew."""
        self.texts = {text for text in self.texts if not names & set(re.findall(r"\w+", text))}
        self.ranks = {text: rank for text, rank in self.ranks.items() if not names & set(re.findall(r"\w+", text))}
        self.exact = {text: rank for text, rank in self.exact.items() if not names & set(re.findall(r"\w+", text))}
        for held in (self.turns, self.counts):
            for name in [name for name, tensor in held.items() if {name, *re.findall(r"\w+", tensor)} & names]:
                del held[name]
        for name, tensor in list(self.shapes.items()):
            if {name, *re.findall(r"\w+", tensor)} & names:
                del self.shapes[name]
                if name not in names:
                    self._rank(name, self.ranks.get(tensor, 0))

    def add(self, expression: ast.expr) -> None:
        """Note an expression that is evaluated, with what it always evaluates on the way."""
        for node in always_evaluated(expression):
            if isinstance(node, ast.Name):
                self.unbound.discard(node.id)
            if isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.BinOp)) and self._only_reads(node):
                self.texts.add(ast.unparse(node))
            dimension = dimension_of(node)
            if dimension is not None:
                tensor, index = dimension
                self._rank(tensor, index + 1 if index >= 0 else -index)

    def _only_reads(self, node: ast.expr) -> bool:
        """Whether an expression calls nothing but what tells sizes, so that it may be evaluated again."""
        return all(
            (isinstance(child.func, ast.Attribute) and child.func.attr in _SIMPLE_METHODS)
            or (isinstance(child.func, ast.Name) and child.func.id in self.pure)
            for child in ast.walk(node)
            if isinstance(child, ast.Call)
        )

    def add_outcome(self, condition: ast.expr, holds: bool) -> None:
        """Note whether a condition holds: `x.dim() == 4` and the like give a rank."""
        if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And if holds else ast.Or):
            for operand in condition.values:
                self.add_outcome(operand, holds)
        elif isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
            self.add_outcome(condition.operand, not holds)
        elif isinstance(condition, ast.Compare) and len(condition.ops) == 1:
            operator = condition.ops[0] if holds else _OPPOSITE.get(type(condition.ops[0]))
            if operator is not None:
                self._compared(condition.left, operator, condition.comparators[0])

    def _compared(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> None:
        tensor = ranked(left)
        if isinstance(operator, ast.IsNot) and isinstance(right, ast.Constant) and right.value is None:
            self.texts.add(f"{ast.unparse(left)}.")
        if not tensor:
            return
        if isinstance(operator, (ast.Eq, ast.GtE, ast.Gt)) and isinstance(right, ast.Constant):
            if isinstance(right.value, int):
                self._rank(tensor, right.value + isinstance(operator, ast.Gt))
                if isinstance(operator, ast.Eq):
                    self.exact[tensor] = right.value
        elif isinstance(operator, ast.In) and isinstance(right, (ast.Tuple, ast.List)):
            numbers = (rank.value for rank in right.elts if isinstance(rank, ast.Constant))
            ranks = [number for number in numbers if isinstance(number, int)]
            if ranks and len(ranks) == len(right.elts):
                self._rank(tensor, min(ranks))

    def _rank(self, tensor: str, rank: int) -> None:
        self.ranks[tensor] = max(rank, self.ranks.get(tensor, 0))

    def bind(self, target: ast.expr, value: ast.expr | None) -> None:
        """Note an assignment: what rested on the target goes, and unpacking a shape gives its tensor a rank."""
        self.forget(variables_in(target))
        if value is not None:
            self.absent = self.absent - variables_in(target) | none_for(target, value, self.absent)
        if isinstance(target, ast.Name) and value is not None:
            self._rank(target.id, literal_rank(value))
            if counted := self._counted(value):
                self.counts[target.id] = counted
            tensor = shape_owner(value)
            if tensor and tensor != target.id and not isinstance(value, ast.Name):
                self.shapes[target.id] = tensor
        elif isinstance(target, (ast.Tuple, ast.List)) and value is not None:
            tensor = shape_owner(value)
            starred = any(isinstance(element, ast.Starred) for element in target.elts)
            if tensor and tensor not in variables_in(target):
                self._rank(tensor, len(target.elts) - starred)
                if not starred:
                    self.exact[tensor] = len(target.elts)

    def enter_turn(self, loop: ast.For) -> None:
        """Note what the variable of a loop numbers in its body: the dimensions of x, in `for d in range(x.dim())`."""
        bound = turning_over(loop)
        inside = own_nodes(ast.Module(loop.body, []))
        if bound is None or not isinstance(loop.target, ast.Name) or loop.target.id in assigned(inside):
            return
        whole = own_nodes(ast.Module([loop], []))
        tensor = self.counts.get(bound.id, "") if isinstance(bound, ast.Name) else self._counted(bound)
        if tensor and not {*re.findall(r"\w+", tensor)} & (assigned(whole) | self.changed(all_nodes([loop]))):
            self.turns[loop.target.id] = tensor

    def _counted(self, node: ast.expr) -> str:
        """The tensor whose number of dimensions an expression surely is; "" for anything else."""
        tensor = ranked(node)
        of_length = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        return "" if of_length and tensor.isidentifier() and tensor not in self.shapes else tensor

    def may_move(self, node: ast.expr, present: Mapping[str, bool]) -> bool:
        """Whether evaluating an expression here can neither raise, call, assign nor take more than a moment.

        `present` says of the function's parameters whether they are tensors that are never None.
        """
        if isinstance(node, (ast.Constant, ast.Name)):
            return getattr(node, "id", "") not in self.unbound
        if ast.unparse(node) in self.texts and not isinstance(node, ast.NamedExpr):
            return True
        if isinstance(node, ast.Attribute):
            return self.may_read(node.value, present)
        if isinstance(node, ast.Subscript):
            dimension = dimension_of(node)
            if isinstance(node.slice, ast.Slice):
                bounds = (node.slice.lower, node.slice.upper, node.slice.step)
                return all(self.may_move(part, present) for part in (node.value, *bounds) if part is not None)
            in_range = self._turns(node) if dimension is None else self._in_range(dimension)
            return in_range and self.may_move(node.value, present)
        if isinstance(node, ast.Call):
            return self._may_call(node, present)
        if isinstance(node, (ast.BinOp, ast.Compare)) and self._computes_with_none(node):
            return False
        if isinstance(node, ast.Compare) and not all(self._may_search(held, present) for held in _searched(node)):
            return False
        if isinstance(node, ast.BinOp):
            if not isinstance(node.op, _ARITHMETIC):
                return False
            if isinstance(node.op, _MAY_BE_ZERO) and not (isinstance(node.right, ast.Constant) and node.right.value):
                return False
            return self.may_move(node.left, present) and self.may_move(node.right, present)
        if isinstance(node, ast.Starred):
            return self.may_move(node.value, present)
        if isinstance(node, ast.BoolOp):
            return self._may_decide(node, present)
        if isinstance(node, (ast.UnaryOp, ast.Compare, ast.Tuple, ast.List)):
            children = (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
            return all(self.may_move(child, present) for child in children)
        if isinstance(node, ast.GeneratorExp):
            iterated = (generator.iter for generator in node.generators if not generator.ifs)
            return all(self.may_move(part, present) for part in (node.elt, *iterated)) and all(
                not generator.ifs for generator in node.generators
            )
        return False

    def _computes_with_none(self, node: ast.BinOp | ast.Compare) -> bool:
        """Whether an operand is a variable that may be None, which may only be asked whether it is."""
        if isinstance(node, ast.Compare) and all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            return False
        return any(self._may_be_none(child) for child in ast.iter_child_nodes(node))

    def _may_search(self, node: ast.expr, present: Mapping[str, bool]) -> bool:
        """Whether `in` may be asked of an expression: of a display or a shape, and of what surely is no None."""
        if isinstance(node, ast.Name) and node.id not in present:
            return not self._may_be_none(node)
        shape = isinstance(node, (ast.Attribute, ast.Call)) and shape_owner(node) != ""
        return shape or isinstance(node, (ast.Tuple, ast.List, ast.Constant)) or self.may_read(node, present)

    def _may_be_none(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id in self.absent and f"{node.id}." not in self.texts

    def _may_decide(self, node: ast.BoolOp, present: Mapping[str, bool]) -> bool:
        """Whether each operand may be evaluated where those before it let Python come to it."""
        reached = replace(self, texts=set(self.texts), ranks=dict(self.ranks), shapes=dict(self.shapes))
        reached.exact = dict(self.exact)
        for operand in node.values:
            if not reached.may_move(operand, present):
                return False
            reached.add_outcome(operand, isinstance(node.op, ast.And))
        return True

    def may_read(self, owner: ast.expr, present: Mapping[str, bool]) -> bool:
        """Whether an attribute of what `owner` evaluates to can be read: it is not None."""
        text = ast.unparse(owner)
        if f"{text}." in self.texts or any(read.startswith((f"{text}.", f"{text}[")) for read in self.texts):
            return True
        return isinstance(owner, ast.Name) and (present.get(owner.id, False) or owner.id in _OF_ALL)

    def _may_call(self, node: ast.Call, present: Mapping[str, bool]) -> bool:
        if isinstance(node.func, ast.Name) and node.func.id in self.pure and not node.keywords:
            given = (argument for argument in node.args if isinstance(argument, ast.Name))
            return all(self.may_move(argument, present) for argument in node.args) and all(
                present.get(argument.id, True) and not self._may_be_none(argument) for argument in given
            )
        if node.keywords or not all(isinstance(argument, (ast.Constant, ast.Name)) for argument in node.args):
            return False
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in _SIMPLE_METHODS:
            return False
        dimension = dimension_of(node)
        if not self.may_read(node.func.value, present):
            return False
        return not node.args or (self._turns(node) if dimension is None else self._in_range(dimension))

    def _turns(self, node: ast.expr) -> bool:
        """Whether an expression is the size, or stride, of the dimension that a loop is at."""
        tensor, variable = turn_of(node) or ("", "")
        return bool(tensor) and self.turns.get(variable, "") in (tensor, self.shapes.get(tensor))

    def _in_range(self, dimension: tuple[str, int]) -> bool:
        tensor, index = dimension
        rank = max(self.ranks.get(tensor, 0), self.ranks.get(self.shapes.get(tensor, ""), 0))
        return rank >= (index + 1 if index >= 0 else -index)


def evaluated_before(
    function: ast.FunctionDef | ast.AsyncFunctionDef, place: ast.AST, arithmetic: frozenset[str] = frozenset()
) -> Evaluated:
    """What every run of a function that reaches `place` has evaluated before it, save in the place's own statement.

    `arithmetic` names functions that only add and multiply what they are given.
    """
    evaluated = Evaluated(unbound=local_variables(function), function=function)
    evaluated.pure |= arithmetic
    _walk(function.body, place, evaluated)
    evaluated.forget(assigned_by_others(function))
    return evaluated


def _walk(statements: Sequence[ast.stmt], place: ast.AST, evaluated: Evaluated) -> bool:
    """Note the statements before `place`; whether it is in them."""
    for statement in statements:
        if statement is place or any(node is place for node in _header(statement)):
            return True
        inner = [block for block in blocks(statement) if any(_holds(s, place) for s in block)]
        if inner:
            _enter(statement, inner[0], evaluated)
            return _walk(inner[0], place, evaluated)
        _pass(statement, evaluated)
    return False


def _holds(statement: ast.stmt, place: ast.AST) -> bool:
    """Whether `place` is a statement, or stands in it."""
    line = getattr(place, "lineno", None)
    if line is not None and (statement.end_lineno or line) < line:
        return False
    return any(node is place for node in all_nodes([statement]))


def _enter(statement: ast.stmt, block: Sequence[ast.stmt], evaluated: Evaluated) -> None:
    """Note what has run of a statement when a block in it begins."""
    if isinstance(statement, (ast.For, ast.AsyncFor, ast.While)):
        _assign([statement], evaluated)
    elif isinstance(statement, ast.If):
        evaluated.add(statement.test)
    elif isinstance(statement, TRY) and block is statement.orelse:
        for before in statement.body:
            _pass(before, evaluated)
    elif isinstance(statement, TRY) and block is not statement.body:
        _assign([before for each in blocks(statement) if each is not block for before in each], evaluated)
    _change(statement, evaluated)
    evaluated.unbound -= bound_within(statement)
    if isinstance(statement, ast.For) and block is statement.body:
        evaluated.enter_turn(statement)
    elif isinstance(statement, ast.If):
        evaluated.add_outcome(statement.test, block is statement.body)


def _pass(statement: ast.stmt, evaluated: Evaluated) -> None:
    """Note a statement that ran to its end."""
    evaluated.unbound -= bound_by(statement)
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        if statement.value is not None:
            evaluated.add(statement.value)
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            evaluated.bind(target, None if isinstance(statement, ast.AugAssign) else statement.value)
    elif isinstance(statement, ast.Expr):
        evaluated.add(statement.value)
        call = statement.value
        if isinstance(call, ast.Call) and "_check" in ast.unparse(call.func):
            for condition in call.args[:2]:
                evaluated.add_outcome(condition, True)
    elif isinstance(statement, ast.Assert):
        evaluated.add(statement.test)
        evaluated.add_outcome(statement.test, True)
    elif isinstance(statement, ast.If):
        evaluated.add(statement.test)
        _assign([statement], evaluated)
        if isinstance(statement.body[-1], EXITS) and not statement.orelse:
            evaluated.add_outcome(statement.test, False)
    else:
        _assign([statement], evaluated)
    _change(statement, evaluated)


def _change(statement: ast.stmt, evaluated: Evaluated) -> None:
    """Note what a statement binds and changes outside the blocks in it, but for the targets of an assignment."""
    header = list(_header(statement))
    evaluated.forget(evaluated.changed(header))
    named = {node.target.id for node in header if isinstance(node, ast.NamedExpr)}
    evaluated.forget({*named, *bound_otherwise(header)})


def _assign(statements: Sequence[ast.stmt], evaluated: Evaluated) -> None:
    """Note what statements may assign, and on some ways do not."""
    nodes = own_nodes(ast.Module(list(statements), []))
    evaluated.forget(assigned(nodes) | evaluated.changed(nodes))
    evaluated.absent = evaluated.absent.union(*(none_within(each, evaluated.absent) for each in statements))
    evaluated.unbound |= deleted(nodes)


def _header(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement outside the blocks in it."""
    inner = {id(child) for block in blocks(statement) for child in block}
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        yield node
        pending += [child for child in ast.iter_child_nodes(node) if id(child) not in inner]


def _searched(node: ast.Compare) -> Iterator[ast.expr]:
    for operator, held in zip(node.ops, node.comparators, strict=True):
        if isinstance(operator, (ast.In, ast.NotIn)):
            yield held
