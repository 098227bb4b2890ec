"""Paths that do nothing where nothing was to be done: that expand to the same sizes, pad by none, copy."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from transforms.python.flow.imported import torch_name
from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.nodes import called, dotted
from transforms.python.flow.values import TENSOR, TENSORS
from transforms.python.writing.equal_sizes import OF_TORCH, EqualSizes
from transforms.python.writing.place import Place

# Operations that give the same result where the shapes or sizes happen to agree.
NEUTRAL = re.compile(
    r"^(?:expand|reshape|view|contiguous|clone|to|size|dim|(?!\w*sparse)\w*broadcast\w*|expand_as|list)$"
)
PADDING = re.compile(r"^(?:constant_pad_nd|pad|len)$")
# Those of them that are given the sizes of the result.
_SIZED = re.compile(r"^(?:expand|reshape|view)(?:_as)?$")
_VIEWS = re.compile(r"^(?:expand|view|broadcast_to|size|dim|numel|len|list|tuple)(?:_as)?$")
# Operations of each element, and copies: what has no elements keeps its shape.
_OF_ELEMENTS = re.compile(
    r"^(?:conj|neg|abs|exp|log|sqrt|rsqrt|sigmoid|tanh|relu|clone|contiguous|clamp|add|sub|mul|div)$"
)
_RANKS = re.compile(r"^[\w.]+\.(?:ndim|layout|dim\(\)) (?:[<>!=]=?|in|not in) [\w.]+(?:\(\))?$")
_DTYPE = re.compile(r"^torch\.(?:bool|u?int\d+|b?float\d+|complex\d+|double|float|half|int|long|short)$")
_LAYOUT = re.compile(r"^(\w+)\.layout == torch\.\w+$")


def neutral(statements: Sequence[ast.stmt], test: ast.expr, values: Interpreter | None = None) -> bool:
    """Whether a path only expands, reshapes or copies variables in place: all the same where nothing was to be done.

    What tells that is `test`: the sizes of a result are those that it compares. With the function's `values` the path
    may also compute amounts, which are no tensors, and pad by them.
    """
    return _neutral(statements, _Asked.by(test), values)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The expressions, as text, that a test asks about."""

    parts: set[str]
    related: set[str]
    """Those that are compared with one another, and not with a number alone."""
    equal: EqualSizes | None = None
    """What is known of a path that serves equal sizes too, instead of `related`."""
    only: list[str] | None = None
    """What has to hold for a path to do nothing, beside that sizes are equal; None where nothing else may have to."""

    @classmethod
    def by(cls, test: ast.expr, equal: EqualSizes | None = None, only: list[str] | None = None) -> _Asked:
        related: set[str] = set()
        for node in ast.walk(test):
            if isinstance(node, (ast.Compare, ast.Call)):
                operands = [node.left, *node.comparators] if isinstance(node, ast.Compare) else node.args
                others = [operand for operand in operands if not isinstance(operand, ast.Constant)]
                related.update(*map(_expressions, others if len(others) > 1 else ()))
        return cls(_expressions(test), related, equal, only)

    def add(self, name: str, value: ast.expr) -> None:
        """What is computed from something that is asked about is asked about too."""
        for texts in (self.parts, self.related):
            if not texts.isdisjoint(_expressions(value)):
                texts.add(name)


def _neutral(statements: Sequence[ast.stmt], asked: _Asked, values: Interpreter | None) -> bool:
    for statement in statements:
        if isinstance(statement, ast.If):
            if not _is_neutral(statement.body, statement.test, asked, values):
                return False
            if not _is_neutral(statement.orelse, statement.test, replace(asked, only=None), values):
                test = ast.unparse(statement.test)
                if asked.only is None or not _LAYOUT.match(test):
                    return False
                asked.only.append(test)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            amounts = values is not None and values.value(statement.value).kind not in (TENSOR, TENSORS)
            calls = any(isinstance(node, ast.Call) for node in ast.walk(statement.value))
            kept = ast.unparse(statement.targets[0])
            if not (amounts and not calls) and not _is_kept(statement.value, kept, asked, values is not None):
                return False
            if amounts:
                asked.add(kept, statement.value)
        elif not isinstance(statement, ast.Pass):
            return False
    return bool(statements)


def _is_neutral(path: list[ast.stmt], test: ast.expr, asked: _Asked, values: Interpreter | None) -> bool:
    """Whether a path of a branch within a path is neutral; a rank that is refused is refused whatever the sizes are."""
    refused = bool(path) and isinstance(path[0], ast.Raise) and _RANKS.search(ast.unparse(test)) is not None
    return not path or refused or _neutral(path, asked, values)


def serves_where(place: Place, branch: ast.If | ast.IfExp, general: bool) -> list[str] | None:
    """What has to hold for the path for sizes in general to do nothing more, for equal ones, than the other path does.

    Nothing where it always does; None where it is not seen to do. What has to hold are the dtype and the layout of
    tensors that the path converts: they are no sizes, and known to all who trace. They are read before the test is
    evaluated, so that what has them is seen to be a tensor, without an operand of the test that tells.
    """
    only: list[str] = []
    if not _serves(place, branch, general, _Asked.by(branch.test, EqualSizes(place, branch, general), only)):
        return None
    asked = {text.partition(" == ")[0] for text in only}
    tensors = [ast.copy_location(ast.Name(text.partition(".")[0], ast.Load()), branch.test) for text in asked]
    values = list(map(place.values.value, tensors))
    guarded = bool(only) and any(isinstance(node, (ast.BoolOp, ast.NamedExpr)) for node in ast.walk(branch.test))
    if guarded or len(asked) < len(set(only)) or not all(v.kind == TENSOR and not v.optional for v in values):
        return None
    return list(dict.fromkeys(only))


def serves_all(place: Place, branch: ast.If | ast.IfExp, general: bool) -> bool:
    """Whether the path for sizes in general does nothing more, for the special ones, than the other path does."""
    return _serves(place, branch, general, _Asked.by(branch.test, EqualSizes(place, branch, general)))


def _leaves_operator(place: Place, branch: ast.If, general: bool) -> bool:
    """Whether a decomposition returns NotImplemented for sizes in general: the operator stays, whose kernel serves all.

    Source: torch/fx/experimental/proxy_tensor.py (maybe_handle_decomp, and what calls it).
    """
    if not place.decomposes:
        return False
    path: list[ast.stmt] = branch.body if general else branch.orelse
    statement: ast.AST | None = branch
    while not path and isinstance(statement, ast.If):
        block = place.block_of(statement)
        path, statement = block[block.index(statement) + 1 :], place.around(statement)
    return bool(path) and isinstance(path[0], ast.Return) and ast.unparse(path[0]) == "return NotImplemented"


def _serves(place: Place, branch: ast.If | ast.IfExp, general: bool, asked: _Asked) -> bool:
    if isinstance(branch, ast.IfExp):
        path, special = (branch.body, branch.orelse) if general else (branch.orelse, branch.body)
        return _is_kept(path, ast.unparse(special), asked)
    if _leaves_operator(place, branch, general):
        return True
    taken, passed_by = (branch.body, branch.orelse) if general else (branch.orelse, branch.body)
    if not passed_by:
        return _neutral(taken, asked, None)
    if len(taken) != 1 or len(passed_by) != 1:
        return False
    values = [statement.value for statement in (*taken, *passed_by) if isinstance(statement, (ast.Assign, ast.Return))]
    targets = [[ast.unparse(t) for t in s.targets] for s in (*taken, *passed_by) if isinstance(s, ast.Assign)]
    if len(values) != 2 or None in values or len(targets) == 1 or (targets and targets[0] != targets[1]):
        return False
    if values[0] is None or values[1] is None:
        return False
    return _is_kept(values[0], ast.unparse(values[1]), asked)


def makes_views(branch: ast.If | ast.IfExp) -> bool:
    """Whether a branch copies nothing, so that what is written in place below is the same tensor on both ways."""
    names = {called(node) for node in ast.walk(branch) if isinstance(node, ast.Call)}
    return all(_VIEWS.match(name) for name in names)


def keeps_shape(value: ast.expr, kept: str, values: Interpreter) -> bool:
    """Whether a value is `kept`, or computed element by element of it and of what is no tensor."""
    while ast.unparse(value) != kept:
        if isinstance(value, ast.BinOp):
            if values.value(value.right).kind in (TENSOR, TENSORS):
                return False
            value = value.left
        elif (
            isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and _OF_ELEMENTS.match(called(value))
        ):
            if any(values.value(argument).kind in (TENSOR, TENSORS) for argument in value.args):
                return False
            value = value.func.value
        else:
            return False
    return True


def _expressions(node: ast.expr) -> set[str]:
    parts = (part for part in ast.walk(node) if isinstance(part, ast.expr) and not isinstance(part, ast.Constant))
    return {ast.unparse(part) for part in parts}


def _is_kept(value: ast.expr, kept: str, asked: _Asked, padding: bool = False) -> bool:
    """Whether a value is `kept` expanded, reshaped or copied, which is `kept` where nothing was to be done."""
    within = {id(n) for part in ast.walk(value) if _written(part) == kept for n in ast.walk(part)}
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call) and id(node) not in within]
    return (
        bool(calls)
        and _is_made_of(value, kept)
        and all(
            (NEUTRAL.search(called(call)) and _keeps_elements(call, asked, kept) and _agrees(call, asked, kept))
            or (padding and PADDING.search(called(call)) and _by_nothing(call, asked.parts))
            for call in calls
        )
    )


def _is_made_of(value: ast.expr, kept: str) -> bool:
    """Whether a value is `kept`, or calls that are made of it alone: `kept.view(…)`, `torch.reshape(kept, …)`."""
    while ast.unparse(value) != kept:
        if isinstance(value, ast.Subscript):
            if not isinstance(value.slice, ast.Constant):
                return False  # not one of several results
            value = value.value
        elif not isinstance(value, ast.Call):
            return False
        elif isinstance(value.func, ast.Attribute) and not OF_TORCH.match(torch_name(value.func.value)):
            value = value.func.value
        elif any(ast.unparse(argument) == kept for argument in value.args):
            return True
        elif value.args:
            value = value.args[0]
        else:
            return False
    return True


def _written(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.expr) else ""


def _agrees(call: ast.Call, asked: _Asked, kept: str) -> bool:
    """Whether each size that a call is given is one of the tensor's own, or one that is compared with others."""
    related = asked.related
    if asked.equal is not None:
        return asked.equal.agree(call, kept)
    if not _SIZED.match(called(call)):
        return True
    sizes = list(call.args)
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if owner is None or OF_TORCH.match(torch_name(owner)):
        owner, *sizes = sizes or [ast.Constant(None)]
    if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)):
        sizes = sizes[0].elts
    tensor = ast.unparse(owner)
    for index, size in enumerate(sizes):
        text = ast.unparse(size.value if isinstance(size, ast.Starred) else size)
        own = (f"{tensor}.size({index})", f"{tensor}.shape[{index}]", *(["-1"] if called(call) == "expand" else []))
        shape = (f"{text}.shape", f"{text}.size()") if called(call).endswith("_as") else (text,)
        if text not in own and related.isdisjoint(shape):
            return False
    return True


def _by_nothing(call: ast.Call, compared: Set[str]) -> bool:
    """Whether `pad` is given an amount that is asked about, and so none where the answer is that there is nothing."""
    if called(call) == "len":
        return True
    given = [
        e for argument in call.args[1:] for e in (argument.elts if isinstance(argument, ast.Tuple) else [argument])
    ]
    amounts = [amount for amount in given if not isinstance(amount, ast.Constant)]
    return bool(amounts) and all(_is_asked(amount, compared) for amount in amounts)


def _is_asked(amount: ast.expr, compared: Set[str]) -> bool:
    """Whether an amount is one of `compared`, the difference of two of them, or a list that is made of some."""
    if isinstance(amount, ast.BinOp) and isinstance(amount.op, ast.Sub):
        return {ast.unparse(amount.left), ast.unparse(amount.right)} <= compared or ast.unparse(amount) in compared
    listed = isinstance(amount, (ast.List, ast.BinOp))
    return not compared.isdisjoint(_expressions(amount)) if listed else ast.unparse(amount) in compared


def _keeps_elements(call: ast.Call, asked: _Asked, kept: str) -> bool:
    """Whether `x.to(…)` changes no more than where the elements lie, which may depend on the dtype that they have."""
    arguments = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg != "memory_format")]
    if called(call) != "to" or not arguments:
        return True
    dtype = dotted(arguments[0])
    plain = len(arguments) == 1 and kept.isidentifier() and _DTYPE.match(torch_name(arguments[0])) is not None
    if asked.only is None or not plain or any(keyword.arg != "dtype" for keyword in call.keywords):
        return False
    asked.only.append(f"{kept}.dtype == {dtype}")
    return True
