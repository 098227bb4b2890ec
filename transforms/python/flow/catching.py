"""What the statements of a function keep from its caller of what is raised within them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence

from transforms.python.flow.nodes import called, dotted, own_nodes

TRY: tuple[type[ast.Try], ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))  # TryStar since Python 3.11
CATCHING = frozenset({*TRY, ast.With, ast.AsyncWith})
_SUPPRESSING = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex"})
"""Context managers that end what is raised within them."""
_LEAVING = (ast.Return, ast.Break, ast.Continue)
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
        managers = (i.context_expr for i in node.items if called(i.context_expr) in _SUPPRESSING)
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


def caught_calls(telling: Iterable[ast.AST]) -> Iterator[tuple[str, frozenset[str]]]:
    """What is called within statements that may take what it raises, or passed to what is, with what they take."""
    for node in telling:
        if type(node) in CATCHING and (exceptions := taken(node)):
            for call in _own(getattr(node, "body", [])):
                if isinstance(call, ast.Call):
                    passed = (*call.args, *(keyword.value for keyword in call.keywords))
                    yield from ((name, exceptions) for name in map(dotted, (call.func, *passed)) if name)


def raised(exception: ast.expr | None) -> str:
    """The exception that `raise exception` raises."""
    kind = exception.func if isinstance(exception, ast.Call) else exception
    return kind.id if isinstance(kind, ast.Name) and kind.id in RAISED else OTHER
