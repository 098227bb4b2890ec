"""Where a function has already asked whether an expression holds a symbol, what class it is of, or checked it.

`not has_free_symbols(n) and n == 0`: behind such a test, questions about `n` are settled. What is settled by a test
holds in the later operands of its `and`, in the branch that it opens, and behind a branch that leaves, up to where
the expression is assigned again. Behind `torch._check(n == 2)` a ShapeEnv knows that `n == 2` without a guard.

Source: torch/fx/experimental/symbolic_shapes.py (guard_or_defer_runtime_assert, get_axioms).
"""

from __future__ import annotations

import ast
import copy
import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from transforms.python.flow.imported import torch_name
from transforms.python.flow.nodes import EXITS, SCOPES, AsShape, all_nodes, called, dotted
from transforms.python.flow.torch_names import CHECKS, check_of
from transforms.python.flow.values import A_STATIC, A_TENSOR, BOOL, FLOAT, INT, NOTHING, PARAMETER, TENSOR, Value

SYMBOLS = frozenset({"has_free_symbols", "free_symbols"})
PROOFS = frozenset(
    {"guard_or_false", "statically_known_true", "definitely_true", "guard_size_oblivious", "is_concrete_int"}
)  # fmt: skip
NUMBERS = frozenset({"int", "bool", "float", "complex", "IntWithoutSymInt"})
CONTAINERS = frozenset({"list", "tuple", "dict", "set", "str", "bytes", "Sequence", "Mapping", "Iterable"})
SYMBOLIC = frozenset({"SymInt", "SymFloat", "SymBool", "SymTypes", "py_sym_types"})
_ASKED = SYMBOLS | PROOFS | CHECKS | {"isinstance"}
_BUILTINS = {"sym_min": "min", "sym_max": "max", "sym_int": "int", "sym_float": "float"}
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_Step = tuple[str, Any]
""""visit", "forget" or "learn" with what is visited, forgotten or learnt; "open" or "close" of a region."""


class Fact(NamedTuple):
    """What a test says of `expression`.

    "static": it holds no symbol, whatever it is. "number": it is no symbolic number. "other": it is no Tensor.
    "tensor": it is one. "true": it has been checked.
    """

    expression: ast.expr
    says: str


class Settled:
    """The expressions of a function about which something is settled, by the place where they stand."""

    def __init__(self, function: ast.AST, nodes: Sequence[ast.AST]) -> None:
        self._says: dict[int, str] = {}
        self._facts: dict[str, str] = {}  # what holds at the place at hand, by the key of the expression
        self._kinds: set[type[ast.expr]] = set()  # what facts are about
        self._holders: dict[str, set[str]] = {}  # the facts about what an expression is part of
        self._frames: list[list[str]] = []  # the facts that each open region has added
        if any(type(node) is ast.Call and called(node) in _ASKED for node in nodes) or _asserted(function, nodes):
            self._walk(_block(getattr(function, "body", [])))

    def narrowed(self, node: ast.expr, value: Value) -> Value:
        """What an expression with this value is where it stands."""
        if not self._says:
            return value
        says = self._says.get(id(node))
        if says == "static":
            return A_STATIC
        if says == "true":
            return NOTHING
        if says == "tensor" and not value.certain:  # where sizes are traced into Tensors they are no less sizes
            return A_TENSOR
        if says == "number" and value.kind in (INT, FLOAT, BOOL, PARAMETER):
            return NOTHING
        return NOTHING if says == "other" and value.kind == TENSOR else value

    def _walk(self, steps: Iterable[_Step]) -> None:
        todo = list(steps)[::-1]
        while todo:
            act, subject = todo.pop()
            if act == "open":
                self._frames.append([])
            elif act == "close":
                for key in self._frames.pop():
                    self._facts.pop(key, None)
            elif act == "forget":
                self._forget(subject)
            elif act == "learn":
                self._learn(subject)
            elif not isinstance(subject, SCOPES):
                self._look(subject)
                if not isinstance(subject, (ast.Name, ast.Constant)):
                    todo += list(_steps(subject))[::-1]

    def _look(self, node: ast.AST) -> None:
        if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            self._forget(node)
        elif self._facts and type(node) in self._kinds:
            says = self._facts.get(_key(node))
            if says is not None:
                self._says[id(node)] = says

    def _learn(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            key = _key(fact.expression)
            if key not in self._facts:
                self._facts[key] = fact.says
                self._kinds.add(type(fact.expression))
                self._frames[-1].append(key)
                for part in ast.walk(fact.expression):
                    if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)):
                        self._holders.setdefault(ast.dump(part), set()).add(key)

    def _forget(self, region: ast.AST) -> None:
        for node in ast.walk(region) if self._facts else ():
            if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
                read = ast.dump(node).replace("Store()", "Load()").replace("Del()", "Load()")
                for key in self._holders.pop(read, ()):
                    self._facts.pop(key, None)


class _Same(AsShape):
    """Expressions as others are written that say the same: `torch.sym_min(m, n)` as `min(m, n)`."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if called(node) in _BUILTINS and torch_name(node.func).startswith("torch."):
            node.func = ast.Name(_BUILTINS[called(node)], ast.Load())
        return super().visit_Call(node)


def _key(node: ast.AST) -> str:
    """What expressions have in common that ask for the same."""
    text = ast.dump(node)
    return ast.dump(_Same().visit(copy.deepcopy(node))) if "attr='size'" in text or "attr='sym_" in text else text


def _steps(node: ast.AST) -> Iterator[_Step]:
    """What is done in a node, in the order in which it is evaluated."""
    if isinstance(node, ast.BoolOp):
        yield "open", None
        for operand in node.values:
            yield "visit", operand
            yield "learn", facts(operand, isinstance(node.op, ast.And))
        yield "close", None
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        if isinstance(node, ast.While):
            yield "forget", node
        yield "visit", node.test
        yield from _branch(facts(node.test, True), node.body)
        yield from _branch([] if isinstance(node, ast.While) else facts(node.test, False), node.orelse)
    elif isinstance(node, _COMPREHENSIONS):
        yield "open", None
        for generator in node.generators:
            yield "visit", generator.iter
            yield "visit", generator.target
            for test in generator.ifs:
                yield "visit", test
                yield "learn", facts(test, True)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            yield "visit", part
        yield "close", None
    else:
        if isinstance(node, (ast.For, ast.AsyncFor)):
            yield "forget", node
        first = "iter" if isinstance(node, (ast.For, ast.AsyncFor)) else "value"
        for name in _in_order(node._fields, first):
            field = getattr(node, name, None)
            if isinstance(field, list):
                if field:
                    yield from _block(field)
            elif isinstance(field, ast.AST) and not isinstance(field, ast.expr_context):
                yield "visit", field


@functools.cache
def _in_order(fields: tuple[str, ...], first: str) -> list[str]:
    """The fields of a node, that first which is evaluated first."""
    return sorted(fields, key=lambda name: name != first)


def _branch(holding: Iterable[Fact], body: ast.expr | list[ast.stmt]) -> Iterator[_Step]:
    yield "open", None
    yield "learn", holding
    yield from _block(body if isinstance(body, list) else [body])
    yield "close", None


def _block(nodes: Sequence[ast.AST]) -> Iterator[_Step]:
    """What is done in nodes that follow one another."""
    yield "open", None
    for node in nodes:
        if isinstance(node, ast.AST):
            yield "visit", node
        if isinstance(node, ast.Assert):
            yield "learn", facts(node.test, True)
            yield "learn", holding(node.test)
        elif isinstance(node, ast.Expr) and check_of(node.value):
            yield "learn", checked(node.value)
        elif isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], EXITS):
            yield "learn", facts(node.test, False)
    yield "close", None


def facts(test: ast.expr, truth: bool) -> Iterator[Fact]:
    """What is settled where `test` is true, or where it is false."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from facts(test.operand, not truth)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) == truth:
            for operand in test.values:
                yield from facts(operand, truth)
    elif isinstance(test, ast.Call) and test.args:
        yield from _answered(test, truth)


def checked(check: ast.expr) -> Iterator[Fact]:
    """What holds behind a call of `torch._check` or its kin."""
    assert isinstance(check, ast.Call)
    for condition in check.args[called(check) == "_check_with" :][:1]:
        yield from holding(condition)


def holding(condition: ast.expr) -> Iterator[Fact]:
    """The comparisons that are true where a condition is."""
    conditions = [condition]
    while conditions:
        part = conditions.pop()
        if isinstance(part, ast.BoolOp) and isinstance(part.op, ast.And):
            conditions += part.values
        elif called(part) in ("sym_and", "expect_true") and isinstance(part, ast.Call):
            conditions += part.args
        elif isinstance(part, ast.Compare):
            yield Fact(part, "true")
        elif called(part) == "sym_eq" and isinstance(part, ast.Call) and len(part.args) == 2:
            yield Fact(ast.Compare(part.args[0], [ast.Eq()], [part.args[1]]), "true")


def _asserted(function: ast.AST, nodes: Sequence[ast.AST]) -> bool:
    """Whether something asks for what an `assert` holds to be true."""
    asserts = [node.test for node in nodes if type(node) is ast.Assert]
    held = {_key(fact.expression) for test in asserts for fact in holding(test)}
    if not held:
        return False
    found = Counter(_key(node) for node in all_nodes([function]) if type(node) is ast.Compare)
    return any(found[key] > 1 for key in held)


def _answered(test: ast.Call, truth: bool) -> Iterator[Fact]:
    name, subject = called(test), test.args[0]
    if name in (PROOFS if truth else SYMBOLS):
        yield Fact(subject, "static")
    elif name == "isinstance" and len(test.args) == 2:
        classes = set(_classes(test.args[1]))
        if classes <= NUMBERS if truth else "SymInt" in classes:
            yield Fact(subject, "number")
        elif truth and classes == {"Tensor"}:
            yield Fact(subject, "tensor")
        elif truth and classes <= NUMBERS | CONTAINERS | SYMBOLIC:
            yield Fact(subject, "other")
    elif name == ("all" if truth else "any") and isinstance(subject, ast.GeneratorExp) and len(subject.generators) == 1:
        generator = subject.generators[0]
        for fact in facts(subject.elt, truth) if not generator.ifs else ():
            if fact.says in ("static", "number") and dotted(fact.expression) == dotted(generator.target) != "":
                yield Fact(generator.iter, "static")


def _classes(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Tuple):
        for part in node.elts:
            yield from _classes(part)
    elif isinstance(node, ast.BinOp):
        yield from _classes(node.left)
        yield from _classes(node.right)
    else:
        yield dotted(node).rpartition(".")[2]
