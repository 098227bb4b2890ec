"""Variables that hold truths which only checks ask: `ok = ok and x.size(d) != 0`, then `torch._check(ok, …)`."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from transforms.python.flow.nodes import called, is_truth, named_parameters
from transforms.python.flow.torch_names import CHECKS

_JOINING = frozenset({"sym_and", "sym_or", "sym_not"})


class Truths:
    """The truths about sizes that a function stores and only checks ask; `kept` are the variables that hold them."""

    def __init__(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._function = function
        self.kept: set[str] = set()

    def keep(self, targets: Sequence[ast.expr]) -> bool:
        """Whether a truth that is assigned to `targets` needs no bool, so that a rule may keep it as it is."""
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if len(names) != 1 or len(targets) != 1 or names[0] not in self._only_checked:
            return False
        self.kept.update(names)
        return True

    def forget(self) -> set[str]:
        """Keep none from now on; returns those that were kept."""
        kept, self.kept, self._only_checked = self.kept, set(), frozenset()
        return kept

    @cached_property
    def _only_checked(self) -> frozenset[str]:
        return only_checked(self._function)


def only_checked(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """The variables of a function that assignments of truths alone bind, and that are read by checks alone.

    A check is one of torch's, or a branch that does nothing but raise. What is assigned to another of these variables
    is read by the checks of that one. A message that names the variable reads it too.
    """
    bound = Counter(node.id for node in ast.walk(function) if isinstance(node, ast.Name) and _binds(node))
    bound.update(argument.arg for argument in ast.walk(function) if isinstance(argument, ast.arg))
    bound.update(name for node in ast.walk(function) for name in _declared(node))
    read = Counter(node.id for node in ast.walk(function) if isinstance(node, ast.Name) and not _binds(node))
    assigned: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            assigned.setdefault(node.targets[0].id, []).append(node.value)
    checked = Counter(name for node in ast.walk(function) for name in _checked(node))
    truths = {name for name, values in assigned.items() if len(values) == bound[name]}
    given = {p.arg for p in named_parameters(function.args) if bound[p.arg] == 1 and _of_bool(p.annotation)}
    while left := {name for name in truths if not all(_a_truth(value, truths | given) for value in assigned[name])}:
        truths -= left
    while True:
        passed = Counter(name for target in truths for value in assigned[target] for name in _operands(value))
        left = {name for name in truths if checked[name] + passed[name] != read[name]}
        if not left:
            return frozenset(truths)
        truths -= left


def _of_bool(annotation: ast.expr | None) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id == "bool"


def _binds(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _declared(node: ast.AST) -> list[str]:
    """What a statement binds, or lets others bind, without a node for the name."""
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return node.names
    if isinstance(node, ast.ExceptHandler):
        return [node.name] if node.name else []
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    return [node.name] if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else []


def _a_truth(value: ast.expr, truths: set[str]) -> bool:
    """Whether an expression is a bool or a SymBool by its form, where `truths` are names of such."""
    if isinstance(value, ast.BoolOp):
        return all(_a_truth(operand, truths) for operand in value.values)
    return (isinstance(value, ast.Name) and value.id in truths) or called(value) in _JOINING or is_truth(value)


def _checked(node: ast.AST) -> Iterator[str]:
    """The names that a check asks for a truth, with what is joined to them."""
    if isinstance(node, ast.Call) and called(node) in CHECKS:
        condition = node.args[called(node) == "_check_with" :][:1]
        yield from (name for asked in condition for name in _operands(asked))
    elif isinstance(node, ast.If) and not node.orelse and [type(part) for part in node.body] == [ast.Raise]:
        yield from _operands(node.test)


def _operands(node: ast.expr) -> Iterator[str]:
    """The names among what `and`, `or` and `not` join, or torch's functions in their place."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.BoolOp):
        for operand in node.values:
            yield from _operands(operand)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _operands(node.operand)
    elif isinstance(node, ast.Call) and called(node) in _JOINING:
        for argument in node.args:
            yield from _operands(argument)
