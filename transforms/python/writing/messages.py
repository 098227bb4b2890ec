"""Whether a message that was made where it was raised can be made in the lambda of a check."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from transforms.python.flow.nodes import SCOPES, SUSPENDING, called, dotted, holds
from transforms.python.writing.logic import Undecided

_OF_THE_FRAME = frozenset({"locals", "eval", "exec", "_getframe", "_getframemodulename", "currentframe"})
_WITHOUT_ARGUMENTS = frozenset({"vars", "dir", "super"})
_READERS = frozenset(
    {"size", "numel", "nelement", "dim", "stride", "len", "str", "repr", "type", "list", "tuple", "format", "join"}
)


def check_lazy(message: ast.expr | None) -> None:
    """Raise Undecided where a message says something else in a lambda than in the function around it.

    A lambda has local variables, a name and a place on the stack of its own; what it binds is gone behind it.
    """
    for node in ast.walk(message) if message is not None else ():
        if isinstance(node, SUSPENDING):
            raise Undecided("the message awaits, yields or assigns, which it cannot do in a lambda")
        named = dotted(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
        if named.rpartition(".")[2] in _OF_THE_FRAME or named == "inspect.stack" or _asks_of_the_frame(node):
            raise Undecided("the message reads the frame that makes it, which in a lambda is another")


def _asks_of_the_frame(node: ast.AST) -> bool:
    """Whether a call asks for the local names or the method it stands in, or, as `stack()`, for the callers."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    several = any(not isinstance(argument, ast.Constant) for argument in node.args)
    return (not node.args and called(node) in _WITHOUT_ARGUMENTS) or (called(node) == "stack" and not several)


def only_reads(message: ast.expr) -> bool:
    """Whether making a message does nothing else, so that nobody sees whether it is made."""
    calls = {called(node) for node in ast.walk(message) if isinstance(node, ast.Call)}
    return calls <= _READERS and not any(isinstance(node, SUSPENDING) for node in ast.walk(message))


def is_read_elsewhere(function: ast.AST, statement: ast.stmt, name: str) -> bool:
    """Whether what `statement` assigns to `name` can be read behind the exception that it ends in.

    By the module or a function around it, by a function in it, and in a `finally` that the exception passes.
    """
    for node in ast.walk(function):
        if isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names:
            return True
        if node is not function and isinstance(node, SCOPES) and any(_loads(node, name)):
            return True
        reads = any(any(_loads(last, name)) for last in getattr(node, "finalbody", []))
        if reads and holds(node, statement):
            return True
    return False


def _loads(holder: ast.AST, name: str) -> Iterator[bool]:
    for node in ast.walk(holder):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield True
