"""Whether a message that was made where it was raised can be made in the lambda of a check, and is text."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from transforms.python.flow.nodes import SCOPES, SUSPENDING, called, called_as, dotted, holds, named_parameters
from transforms.python.writing.logic import Undecided
from transforms.python.writing.place import Place

_OF_THE_FRAME = frozenset({"locals", "eval", "exec", "_getframe", "_getframemodulename", "currentframe"})
_WITHOUT_ARGUMENTS = frozenset({"vars", "dir", "super"})
_READERS = frozenset(
    {"size", "numel", "nelement", "dim", "stride", "len", "str", "repr", "type", "list", "tuple", "format", "join"}
)

_MAKES_TEXT = frozenset({"str", "repr", "format", "ascii", "chr", "hex"})
_FILLED = frozenset({"format", "join"})
_OF_TEXT = frozenset({"strip", "lstrip", "rstrip", "lower", "upper", "capitalize", "replace", "removesuffix"})


def is_text(place: Place, message: ast.expr | None, within: frozenset[str] = frozenset()) -> bool:
    """Whether a message is surely a string: what is none a check turns into one, so that the exception holds another.

    An exception without message holds nothing at all, which no check can raise. `within` are the variables that it
    is assigned to.
    """
    if isinstance(message, ast.BinOp):
        left, right = is_text(place, message.left, within), is_text(place, message.right, within)
        return left or (right and isinstance(message.op, ast.Add))
    if isinstance(message, ast.IfExp):
        return is_text(place, message.body, within) and is_text(place, message.orelse, within)
    if isinstance(message, ast.Call) and isinstance(message.func, ast.Name):
        return called_as(message, place.values.variables) in _MAKES_TEXT - set(place.names.top.hidden)
    if isinstance(message, ast.Call) and isinstance(message.func, ast.Attribute):
        name = called(message)
        return name in _FILLED or (name in _OF_TEXT and is_text(place, message.func.value, within))
    if isinstance(message, ast.Name):
        return message.id not in within and _holds_text(place, message.id, within | {message.id})
    constant = isinstance(message, ast.Constant) and isinstance(message.value, str)
    return constant or isinstance(message, ast.JoinedStr)


def _holds_text(place: Place, name: str, within: frozenset[str]) -> bool:
    """Whether a variable holds strings alone: what is added to one is one."""
    added = [statement for statement in place.augmented.get(name, ()) if isinstance(statement.op, ast.Add)]
    typed = [p for p in named_parameters(place.function.args) if p.arg == name and _is_str(p.annotation)]
    values = place.assigned(name)
    written = [value for value in values if value is not None]
    followed = bool(values) and len(values) - len(written) == len(added) + len(typed)
    return followed and all(is_text(place, value, within) for value in written)


def _is_str(annotation: ast.expr | None) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id == "str"


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


def messages_of(check: ast.Call) -> list[ast.expr]:
    """What `_check(condition, message)` or `_check_is_size` is given behind its first argument."""
    return [*check.args[1:], *(keyword.value for keyword in check.keywords)]


def check_called(place: Place, check: ast.Call) -> None:
    """Raise Undecided where Dynamo reads a check whose message may be no function: it takes none in torch._check."""
    for message in messages_of(check) if place.inlined else ():
        absent = isinstance(message, ast.Constant) and message.value is None
        if not absent and not isinstance(message, ast.Lambda):
            raise Undecided("Dynamo takes a text for its message, and of torch._check a function: write `lambda: …`")


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
