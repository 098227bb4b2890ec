"""The places in a function that ask for a concrete size or truth: branches, checks, coercions, `min` and `max`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from transforms.python.flow.asking import asks, coerces
from transforms.python.flow.demands import TRACED, demands
from transforms.python.flow.guesses import not_empty
from transforms.python.flow.imported import torch_name
from transforms.python.flow.inferring import inferred
from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.nodes import called, called_as, dotted, outcome_traced
from transforms.python.flow.torch_names import CHECKS, COUNTED, OF_NUMBERS, TORCH_MODULES
from transforms.python.flow.untraced import untraced
from transforms.python.flow.values import A_SIZE, BOOL, FLOAT, INT, PARAMETER, SHAPE, TUPLE, Value

GUARD_CALLS = frozenset({"guard_or_false", "guard_or_true", "statically_known_true", "sym_and", "sym_or", "sym_not"})
# Operators whose out= variants compare the buffer's size with a number.
OUT_VARIANTS = re.compile(
    r"^torch\.(?:(?:topk|max|min|cholesky|norm|sort|kthvalue|median|mode|cummax|cummin)$|linalg\.)"
)
# Methods of Inductor's SizeVarAllocator that came and went.
SIZEVARS = frozenset(
    {"evaluate_static_shape", "evaluate_static_shapes", "guard_static_shape", "guard_equals", "guard_leq", "guard_lt",
     "size_hint"}
)  # fmt: skip
# Those that make a number of one expression.
_GUARDS = frozenset({"guard_int", "evaluate_static_shape"})
# Those that pick one of two expressions, and guard on which.
_CHOICES = frozenset({"evaluate_min", "evaluate_max"})
_HINTS = frozenset({"guarding_hint_or_throw"})
_OF_SIZEVARS = SIZEVARS | _GUARDS | _CHOICES | _HINTS
# torch's own lowerings, whose branches ask expressions of sympy in words of their own, and the sites there.
LOWERINGS = re.compile(r"^torch/_inductor/lowering\.py$")
OF_LOWERINGS = frozenset({"sizevars", "guarded", "chosen", "hinted"})
COERCIONS = frozenset({"int", "float", "bool", "range", "len", "round"})
_TRACED = frozenset({"min", "max", "int", "float", "round", "len", "sqrt", "log2", "numel"})
_OPERATIONS = frozenset({"sorted", "sort", "resize_", "to", "chunk", "reshape", "view"})
_PLACES = frozenset(
    {ast.If, ast.While, ast.Assert, ast.IfExp, ast.Call, ast.Lambda, ast.For, ast.comprehension}
    | {ast.Assign, ast.Return, ast.BoolOp, ast.BinOp, ast.Set, ast.SetComp, ast.Dict, ast.DictComp}
    | {ast.Subscript}
)
_FEW = re.compile(r"len\(.+\) < 2")


class Site(NamedTuple):
    """A place. `node` is the statement or expression it belongs to, `expression` what is asked."""

    kind: str
    node: ast.AST
    expression: ast.expr
    value: Value


def is_traced(site: Site) -> bool:
    """Whether Dynamo makes a place symbolic by itself.

    From torch/_dynamo/variables: builtin.py (_call_min_max, _call_int_float), lists.py (SizeVariable.numel).
    """
    if site.kind == "number" and isinstance(site.node, ast.Subscript):
        return not isinstance(site.node.slice, ast.Tuple)
    if site.kind == "number":
        return called(site.node) in TRACED
    return site.kind in ("extremum", "coercion", "root", "elements") and called(site.node) in _TRACED


def is_fixed_by_export(site: Site) -> bool:
    """Whether what Dynamo makes symbolic by itself is a plain number where Python runs, as `torch.export` runs it.

    Unless it is strict, which is no longer the default (torch/export/__init__.py, `export`): torch/__init__.py (SymInt,
    whose `__int__` and `__index__` guard) and torch/_tensor.py (Tensor.__len__). `min` and `max` only ask which is the
    less, as any branch does; `round` gives a symbol there too, and an index and what `torch.tensor` holds may be one.
    """
    if site.kind == "number":
        return isinstance(site.node, ast.Call) and called(site.node) in ("map", "enumerate")
    plain = site.kind == "coercion" and called(site.node) in ("int", "float", "len", "log2")
    return (plain or site.kind in ("root", "elements")) and site.value.kind != BOOL


def sites(nodes: Sequence[ast.AST], values: Interpreter) -> Iterator[Site]:
    """Every place among a function's own nodes that may ask for a symbol, outer ones first.

    What a message holds is left out, since it is evaluated only on failure, and what only TorchScript or eager runs.
    """
    places = [node for node in nodes if type(node) in _PLACES]
    if not places:
        return
    skipped, settled = set(_skipped(nodes, values)), set(_settled(places))
    for node in places:
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Call):
            if called(node) in _OPERATIONS and id(node) not in settled:
                yield from _operation_sites(node, nodes, values)
        elif isinstance(node, ast.Lambda) and _constructs(node, nodes):
            yield Site("constructor", node, node, Value(BOOL))
        elif isinstance(node, ast.BoolOp) and (number := _chosen_by(node, nodes, values)) is not None:
            yield Site("choice", node, node, number)
        elif isinstance(node, (ast.For, ast.comprehension)) and values.surely_tensor(node.iter):
            yield Site("turns", node.iter, node.iter, A_SIZE)
        if isinstance(node, (ast.If, ast.While, ast.Assert, ast.IfExp)):
            value = values.value(node.test)
            if asks(value):
                yield Site(type(node).__name__.lower(), node, node.test, value)
            elif isinstance(node, ast.If) and guessed_checks(node, nodes, values):
                yield Site("guessed", node, node.test, Value(BOOL))
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                value = values.value(test)
                if asks(value):
                    yield Site("filter", test, test, value)  # a comprehension itself has no line
        elif isinstance(node, (ast.Call, ast.BinOp, ast.Subscript)):
            for wanted in demands(node, values):
                at = wanted.expression if wanted.kind == "counting" else node
                yield Site(wanted.kind, at, wanted.expression, wanted.value)
            if isinstance(node, ast.Call):
                yield from _call_sites(node, values)
        elif isinstance(node, (ast.Assign, ast.Return)) and node.value is not None:
            if counted(node.value, values) is not None:
                yield Site("counted", node, node.value, Value(BOOL))
            value = values.value(node.value)
            if value.kind == BOOL and coerces(node.value, values):
                yield Site("stored", node, node.value, value)
        elif (held := _hashed(node, values)) is not None:
            yield Site("hashed", node, held, values.value(held))


def _chosen_by(node: ast.BoolOp, nodes: Sequence[ast.AST], values: Interpreter) -> Value | None:
    """The size that `or` or `and` asks to choose a number by; None where a condition does, or for what may be None.

    `n = n or x.size(0)` asks whether `n` was given.
    """
    number = next((value for value in map(values.value, node.values[:-1]) if value.kind == INT), None)
    if number is None or number.optional or any(node in ast.walk(asked) for asked in _conditions(nodes)):
        return None
    targets = [t for a in nodes if isinstance(a, ast.Assign) and a.value is node for t in a.targets]
    return None if ast.unparse(node.values[0]) in map(ast.unparse, targets) else number


def _conditions(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """What is asked for its truth alone, and so is a place of its own."""
    for node in nodes:
        if isinstance(node, (ast.If, ast.While, ast.Assert, ast.IfExp)):
            yield node.test
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node.operand
        elif isinstance(node, ast.comprehension):
            yield from node.ifs
        elif isinstance(node, ast.Call) and called(node) in CHECKS | GUARD_CALLS | {"bool", "any", "all"}:
            yield from node.args


def _hashed(node: ast.AST, values: Interpreter) -> ast.expr | None:
    """A size that a set holds, or a dict as a key."""
    match node:
        case ast.Set(elts=held) | ast.Dict(keys=held):
            pass
        case ast.SetComp(elt=key) | ast.DictComp(key=key):
            held = [key]
        case _:
            return None
    return next((key for key in held if key is not None and _holds_size(values.value(key))), None)


def _holds_size(value: Value) -> bool:
    """Whether a value is a size, a shape, or a tuple of some."""
    return value.kind in (INT, SHAPE) or (value.kind == TUPLE and any(map(_holds_size, value.items)))


def _skipped(nodes: Sequence[ast.AST], values: Interpreter) -> Iterator[int]:
    roots = [node for node in nodes if isinstance(node, (ast.Raise, ast.JoinedStr))]
    for root in (*roots, *untraced(nodes, partial(_outcome, values=values))):
        yield from map(id, ast.walk(root))


def _outcome(test: ast.expr, values: Interpreter) -> bool | None:
    """As `outcome_traced`, and False where a size is asked whether it is a Tensor: `torch.jit.trace` makes it one."""
    if isinstance(test, ast.Call) and called(test) == "isinstance" and len(test.args) == 2:
        is_tensor = dotted(test.args[1]) in ("Tensor", "torch.Tensor")
        return False if is_tensor and values.value(test.args[0]).integral else None
    return outcome_traced(test)


def _settled(nodes: Sequence[ast.AST]) -> Iterator[int]:
    """The nodes on paths that only known sizes take, behind `not all(guard_or_true(…)…)` or `else` of a guard."""
    for node in nodes:
        if isinstance(node, ast.If) and "guard_or_true" in {called(part) for part in ast.walk(node.test)}:
            for statement in node.body if _negated(node.test) else node.orelse:
                yield from map(id, ast.walk(statement))


def _negated(test: ast.expr) -> bool:
    """Whether a test is `not …`, or that beside `len(…) < 2`, of which there is nothing to compare."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        few, *others = test.values
        return bool(_FEW.fullmatch(ast.unparse(few))) and all(map(_negated, others))
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _operation_sites(node: ast.Call, nodes: Sequence[ast.AST], values: Interpreter) -> Iterator[Site]:
    """Calls of operations that ask for sizes themselves: to sort by them, infer one, resize to or lay out for them."""
    name = called(node)
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    key = keywords.get("key")
    if name in ("sorted", "sort") and isinstance(key, ast.Lambda) and len(key.args.args) == 1:
        value = values.value(key.body)
        if value.kind in (INT, FLOAT) and (name == "sorted") == isinstance(node.func, ast.Name):
            yield Site("sort", node, node, value)
    elif name == "resize_" and len(node.args) == 1 and list(keywords) == ["memory_format"]:
        if torch_name(keywords["memory_format"]) == "torch.contiguous_format":
            yield Site("resize", node, node, Value(BOOL))
    elif name == "to" and not node.args and list(keywords) == ["memory_format"] and _new_empty(node.func):
        yield Site("layout", node, node, Value(BOOL))
    elif name == "chunk" and _unpacked(node, nodes) and values.surely_tensor(node.func.value):  # type: ignore[attr-defined]
        yield Site("chunks", node, node, Value(BOOL))
    elif name in ("reshape", "view") and inferred(node, nodes) is not None:
        yield Site("inferred", node, node, Value(BOOL))


def guessed_checks(node: ast.If, nodes: Sequence[ast.AST], values: Interpreter) -> list[ast.Call]:
    """The checks of no size that begin a branch which only checks, and only what is not known to be empty."""
    statements = [s.value for s in node.body if isinstance(s, ast.Expr)]
    calls = [value for value in statements if isinstance(value, ast.Call)]
    if node.orelse or len(calls) != len(node.body):
        return []
    checks = list(takewhile(lambda call: called(call) in CHECKS - {"_check_with"} and bool(call.args), calls))
    sized = any(asks(values.value(check.args[0])) for check in checks)
    return checks if checks and not sized and not_empty(node.test, nodes) is not None else []


class Counted(NamedTuple):
    """The tensor in `sym_int(tensor.item()) + number`."""

    tensor: ast.expr
    number: ast.Constant


def counted(node: ast.expr, values: Interpreter) -> Counted | None:
    """The parts of a sum with a whole number that is read from a tensor; None for all else."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add) or not isinstance(node.right, ast.Constant):
        return None
    whole, number = node.left, node.right
    if not isinstance(whole, ast.Call) or called(whole) not in ("int", "sym_int") or len(whole.args) != 1:
        return None
    read = whole.args[0]
    if whole.keywords or type(number.value) is not int or called(read) != "item" or not isinstance(read, ast.Call):
        return None
    if read.args or read.keywords or not isinstance(read.func, ast.Attribute):
        return None
    return Counted(read.func.value, number) if values.surely_tensor(read.func.value) else None


def _unpacked(node: ast.Call, nodes: Sequence[ast.AST]) -> bool:
    """Whether `x.chunk(n)` or `x.chunk(n, dim)` is unpacked into n variables."""
    if not isinstance(node.func, ast.Attribute) or node.keywords or not 1 <= len(node.args) <= 2:
        return False
    counts = {
        len(target.elts)
        for assignment in nodes
        if isinstance(assignment, ast.Assign) and assignment.value is node
        for target in assignment.targets
        if isinstance(target, ast.Tuple) and all(isinstance(part, ast.Name) for part in target.elts)
    }
    chunks = node.args[0]
    return len(counts) == 1 and isinstance(chunks, ast.Constant) and chunks.value in counts


def _new_empty(function: ast.expr) -> bool:
    """Whether `….to` is asked of `x.new_empty(sizes)`, with or without a dtype, of a rank that has several formats."""
    receiver = function.value if isinstance(function, ast.Attribute) else function
    if (
        not isinstance(receiver, ast.Call)
        or not isinstance(receiver.func, ast.Attribute)
        or receiver.func.attr != "new_empty"
    ):
        return False
    if len(receiver.args) != 1 or any(keyword.arg != "dtype" for keyword in receiver.keywords):
        return False
    sizes = getattr(receiver.args[0], "elts", None)
    return sizes is None or len(sizes) in (4, 5) or any(isinstance(size, ast.Starred) for size in sizes)


def is_choice(call: ast.Call) -> bool:
    """Whether a call is `sizevars.evaluate_min` or `evaluate_max` of two expressions."""
    name = called(call)
    of_sizevars = name in _CHOICES and dotted(call.func).endswith(f"sizevars.{name}")
    return of_sizevars and len(call.args) == 2 and not call.keywords


def _constructs(node: ast.Lambda, nodes: Sequence[ast.AST]) -> bool:
    """Whether `lambda x: complex(x)` is returned beside constructors of symbolic numbers."""
    returned = [statement.value for statement in nodes if isinstance(statement, ast.Return)]
    body = node.body
    return (
        isinstance(body, ast.Call)
        and called(body) == "complex"
        and [ast.unparse(argument) for argument in body.args] == [parameter.arg for parameter in node.args.args]
        and any(value is node for value in returned)
        and any(dotted(value).rpartition(".")[2] in ("sym_float", "sym_int") for value in returned if value is not None)
    )


def _call_sites(node: ast.Call, values: Interpreter) -> Iterator[Site]:
    name = called_as(node, values.variables)
    if (
        node.keywords
        and any(keyword.arg == "out" for keyword in node.keywords)
        and OUT_VARIANTS.search(torch_name(node.func))
    ):
        yield Site("out", node, node, Value(BOOL))
    if name in _OF_SIZEVARS and dotted(node.func).endswith(f"sizevars.{name}"):
        if name in SIZEVARS:
            yield Site("sizevars", node, node, Value(BOOL))
        if name in _GUARDS and len(node.args) == 1 and not node.keywords:
            yield Site("guarded", node, node, Value(BOOL))
        if is_choice(node):
            yield Site("chosen", node, node, Value(BOOL))
        if name in _HINTS and len(node.args) == 1:
            yield Site("hinted", node, node, Value(BOOL))
    if name in CHECKS and len(node.args) > (name == "_check_with"):
        condition = node.args[1 if name == "_check_with" else 0]
        value = values.value(condition)
        if asks(value) and coerces(condition, values):
            yield Site("check", node, condition, value)
    elif name == "_assert" and node.args and torch_name(node.func) in ("torch._assert", "_assert"):
        if asks(value := values.value(node.args[0])):
            yield Site("asserted", node, node.args[0], value)
    elif name in GUARD_CALLS:
        for argument in node.args:
            value = values.value(argument)
            if asks(value) and coerces(argument, values):
                yield Site("guard", node, argument, value)
    elif name in ("min", "max") and isinstance(node.func, ast.Name) and len(node.args) > 1 and not node.keywords:
        value = values.value(node)
        if value.kind in (INT, FLOAT, PARAMETER):
            yield Site("extremum", node, node, value)
    elif name in ("min", "max") and isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
        if (value := values.value(node.args[0])).kind == SHAPE:
            yield Site("extremum", node, node, value)
    elif name == "divmod" and isinstance(node.func, ast.Name) and len(node.args) == 2:
        number = next((value for value in map(values.value, node.args) if value.kind == INT), None)
        if number is not None:
            yield Site("pair", node, node, number)
    elif name in ("set", "frozenset") and isinstance(node.func, ast.Name) and len(node.args) == 1:
        (held,) = node.args
        number = values.value(held.elt if isinstance(held, (ast.GeneratorExp, ast.ListComp)) else held)
        if _holds_size(number):
            yield Site("hashed", node, held, number)
    elif name in OF_NUMBERS and dotted(node.func) == f"math.{name}":
        given = [values.value(argument) for argument in node.args]
        if (number := next((value for value in given if value.kind in (INT, FLOAT)), None)) is not None:
            yield Site("coercion", node, node, number)
    elif name == "sqrt" and dotted(node.func) == "math.sqrt" and len(node.args) == 1:
        value = values.value(node.args[0])
        if value.kind in (INT, FLOAT, PARAMETER):
            yield Site("root", node, node, value)
    elif name in COERCIONS and isinstance(node.func, ast.Name) and node.args:
        given = [values.value(argument) for argument in (node.args if name == "range" else node.args[:1])]
        value = next((bound for bound in given if bound.kind == INT), given[0])
        item = name in ("int", "float") and isinstance(node.args[0], ast.Call) and called(node.args[0]) == "item"
        asked = values.surely_tensor(node.args[0]) if name == "len" else value.kind in (INT, FLOAT, BOOL)
        if asked or item:
            yield Site("coercion", node, node, value)
        elif name in ("int", "float") and values.surely_tensor(node.args[0]):
            yield Site("read", node, node, value)
    elif name == "numel" and isinstance(node.func, ast.Attribute) and not (node.args or node.keywords):
        if values.value(node.func.value).kind == SHAPE:
            yield Site("elements", node, node, values.value(node))
    elif name in COUNTED and (pieces := _pieces(node)) is not None:
        value = values.value(pieces)
        if value.kind == INT:
            yield Site("pieces", node, pieces, value)
    elif name in ("guard_size_oblivious", "_check_is_size", "definitely_true", "definitely_false"):
        yield Site("deprecated", node, node, Value(BOOL))


def _pieces(node: ast.Call) -> ast.expr | None:
    """How many Tensors a call of a function in COUNTED is asked for; None where that is not to be seen."""
    function = node.func
    index = 1 if isinstance(function, ast.Attribute) and torch_name(function.value) in TORCH_MODULES else 0
    return node.args[index] if isinstance(function, ast.Attribute) and len(node.args) > index else None
