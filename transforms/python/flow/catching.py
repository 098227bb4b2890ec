"""What the statements of a function keep from its caller of what is raised within them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence

from transforms.python.flow.nodes import called, dotted, own_nodes, written
from transforms.python.flow.torch_names import CHECKS

TRY: tuple[type[ast.Try], ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))  # TryStar since Python 3.11
CATCHING = frozenset({*TRY, ast.With, ast.AsyncWith})
SUPPRESSING = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex"})
"""Context managers that end what is raised within them."""
_BUILTINS = frozenset(dir(builtins))
_LEAVING = (ast.Return, ast.Break, ast.Continue)
WITH = "with "
OTHER = ""
"""Among names of exceptions: any other class."""
RAISED = frozenset(
    {"RuntimeError", "ValueError", "IndexError", "TypeError", "NotImplementedError", "AssertionError", OTHER}
)
"""The exceptions that are told apart: those that a check can raise."""


def taken(node: ast.AST) -> frozenset[str]:
    """The exceptions that may end at a statement which are raised in its body.

    None do at a handler that ends in a `raise`: whoever calls gets an exception as well.
    """
    if isinstance(node, TRY):
        if any(isinstance(part, _LEAVING) for part in _own(node.finalbody)):
            return RAISED
        return _union(handler.type for handler in node.handlers if not _raises_on(handler))
    if isinstance(node, (ast.With, ast.AsyncWith)):
        managers = (i.context_expr for i in node.items if called(i.context_expr) in SUPPRESSING)
        return _union(ast.Tuple(getattr(manager, "args", []), ast.Load()) for manager in managers)
    return frozenset()


def _own(statements: Sequence[ast.stmt]) -> list[ast.AST]:
    return own_nodes(ast.Module(list(statements), []))


def _raises_on(handler: ast.ExceptHandler) -> bool:
    return isinstance(handler.body[-1], ast.Raise) and not any(isinstance(n, _LEAVING) for n in _own(handler.body))


def _union(kinds: Iterable[ast.expr | None]) -> frozenset[str]:
    return frozenset[str]().union(*map(_named, kinds))


def _named(kind: ast.expr | None) -> frozenset[str]:
    """The exceptions that `except kind` takes; all where that is not to be seen."""
    if isinstance(kind, ast.Tuple):
        return _union(kind.elts)
    builtin = getattr(builtins, kind.id, None) if isinstance(kind, ast.Name) else None
    if not isinstance(builtin, type):
        return RAISED
    return frozenset({OTHER, *(name for name in RAISED - {OTHER} if issubclass(getattr(builtins, name), builtin))})


def caught_calls(telling: Iterable[ast.AST]) -> tuple[tuple[str, str], ...]:
    """What is called within statements that may take what it raises, or passed to what is, with what they take.

    That is names of exceptions, each behind a space, or `with` and the name of a context manager that is another
    function or class. "" is what is raised in such a statement itself. A variable may be any function that it is given.
    """
    found: set[tuple[str, str]] = set()
    given: dict[str, list[ast.expr]] | None = None
    meant: dict[str, set[str]] = {}
    for node in telling:
        endings = _endings(node) if type(node) in CATCHING else set()
        if endings:
            given = _given(telling) if given is None else given
            inner = _own(getattr(node, "body", []))
            calls = [part for part in inner if isinstance(part, ast.Call)]
            names = {name for call in calls for part in (call.func, *_arguments(call)) for name in _functions(part)}
            _add_meant(names, given, meant)
            if any(isinstance(part, (ast.Raise, ast.Assert)) for part in inner) or CHECKS & set(map(called, calls)):
                names.add("")
            found.update((name, ending) for name in names for ending in endings if name or ending.startswith(WITH))
    return tuple(sorted(found))


def passed_functions(telling: Iterable[ast.AST]) -> set[tuple[str, str]]:
    """For each call of a function by its name what it is passed that may be another one."""
    passed: set[tuple[str, str]] = set()
    for node in telling:
        callee = dotted(node.func) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and callee and callee not in _BUILTINS:
            for argument in _arguments(node):
                if isinstance(argument, ast.Name):  # as most are
                    passed.add((callee, argument.id))
                elif not isinstance(argument, ast.Constant):
                    passed.update((callee, name) for name in _functions(argument))
    return passed


def ended(function: ast.FunctionDef | ast.AsyncFunctionDef, telling: Iterable[ast.AST]) -> str:
    """What a context manager ends of what is raised in its statement: an `__exit__`, or a generator at its `yield`."""
    kinds: frozenset[str] = frozenset()
    if function.name in ("__exit__", "__aexit__"):
        returns = (node.value for node in telling if isinstance(node, ast.Return) and node.value is not None)
        kinds = RAISED if any(not isinstance(value, ast.Constant) or value.value for value in returns) else kinds
    elif any("contextmanager" in written(decorator) for decorator in function.decorator_list):
        for node in telling:
            if isinstance(node, TRY) and any(isinstance(part, ast.Yield) for part in _own(node.body)):
                kinds |= taken(node)
    return " ".join(sorted(kinds))


def _endings(node: ast.AST) -> set[str]:
    kinds = taken(node)
    managers = [dotted(getattr(i.context_expr, "func", i.context_expr)) for i in getattr(node, "items", ())]
    others = (name for name in managers if name.rpartition(".")[2] not in SUPPRESSING)
    own = {" ".join(sorted(kinds))} if kinds else set[str]()
    return own | {WITH + name for name in others if not name.startswith("torch.")}


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _functions(node: ast.expr) -> Iterator[str]:
    """The names of the functions that an expression may be, or may call when it is called."""
    if isinstance(node, ast.Lambda):
        for call in ast.walk(node.body):
            if isinstance(call, ast.Call):
                yield from filter(None, (dotted(call.func), *map(dotted, _arguments(call))))
    elif name := dotted(node):
        yield name
    elif isinstance(node, (ast.Tuple, ast.List, ast.Dict, ast.IfExp, ast.BoolOp, ast.Subscript, ast.Starred, ast.Call)):
        parts = _arguments(node) if isinstance(node, ast.Call) else list(ast.iter_child_nodes(node))
        for part in parts:
            if isinstance(part, ast.expr):
                yield from _functions(part)


def _given(telling: Iterable[ast.AST]) -> dict[str, list[ast.expr]]:
    """What variables are given, or are taken from."""
    given: dict[str, list[ast.expr]] = {}
    for node in telling:
        loops = isinstance(node, (ast.For, ast.comprehension))
        value: ast.expr | None = getattr(node, "iter" if loops else "value", None)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in filter(None, targets):
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and value is not None:
                    given.setdefault(name.id, []).append(value)
    return given


def _add_meant(names: set[str], given: Mapping[str, list[ast.expr]], meant: dict[str, set[str]]) -> None:
    """Add to names those of what the variables among them are given. `meant` keeps what each is given itself."""
    queue = list(names)
    while queue:
        name = queue.pop()
        if name not in meant:
            meant[name] = {inner for value in given.get(name, ()) for inner in _functions(value)}
        further = meant[name] - names
        names |= further
        queue += further


def raised(exception: ast.expr | None) -> str:
    """The exception that `raise exception` raises."""
    kind = exception.func if isinstance(exception, ast.Call) else exception
    return kind.id if isinstance(kind, ast.Name) and kind.id in RAISED else OTHER
