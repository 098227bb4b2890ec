"""What the scopes of a file bind names to: torch, functions that are imported, and everything else."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from transforms.python.flow.nodes import dotted, names_brought, own_nodes
from transforms.python.reading.emptied import Chunk, emptied

_NAMING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_TORCH_BELOW = re.compile(rb"^[ \t]+import torch\b", re.MULTILINE)
_ALL_OF = re.compile(rb"^from [\w.]+ import \*", re.MULTILINE)
_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))
_NAMES = "|".join(sorted(_BUILTINS))
_BUILTIN = re.compile(
    rf"(?:def|class) +(?:{_NAMES})\b|\bimport\b.*\b(?:{_NAMES})\b|\bas (?:{_NAMES})\b|import \*"
    rf"|^[ \t]*(?:{_NAMES})[ \t]*(?:,|$|=[^=]|:.*=)".encode(),
    re.MULTILINE,
)
"""What a file holds that may give a builtin's name to something else."""
_SHARED = frozenset({"abs", "all", "any", "bool", "max", "min", "pow", "round", "sum"})
_OF_MODULES = {
    "torch": _SHARED | {"compile", "complex", "float", "int", "range"},
    "numpy": _SHARED | {"divmod"},
    "math": frozenset({"pow"}),
}
"""The builtins' names among all that a module gives to `import *`."""


class Bound(NamedTuple):
    """The names that a function binds, those of them that are functions of `module`, and what else it reads.

    `torch` is what torch is called by an import that the function begins with, "" without one. `uses_torch` says that
    it evaluates the name torch.
    """

    names: frozenset[str]
    imported: frozenset[str]
    read: frozenset[str]
    torch: str
    uses_torch: bool


def bound(function: ast.AST, module: str) -> Bound:
    """What a function binds in its own scope; `module` is where the functions that rules write come from."""
    names, declared, imported, elsewhere = set[str](), set[str](), set[str](), set[str]()
    for node in own_nodes(function):
        if isinstance(node, ast.ImportFrom):
            (imported if node.module == module else elsewhere).update(a.asname or a.name for a in node.names)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            declared.update(node.names)
        else:
            elsewhere.update(_bound_by(node))
    names = (elsewhere | imported) - declared
    body: list[ast.stmt] = getattr(function, "body", [])
    run = [*body, *getattr(function, "decorator_list", [])]
    read = {n.id for part in run for n in ast.walk(part) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return Bound(
        frozenset(names), frozenset(imported - elsewhere), frozenset(read), _torch(_head(body)), "torch" in read
    )


def _bound_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Import):
        yield from names_brought(node)
    elif isinstance(node, _NAMING) and node.name:
        yield node.name


def _head(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The imports that a body begins with, below its docstring."""
    for index, node in enumerate(body):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif index or not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant):
            return


def _torch(statements: Iterator[ast.stmt]) -> str:
    """What imports call torch, or ""."""
    for node in statements:
        for alias in node.names if isinstance(node, ast.Import) else ():
            if alias.name == "torch" or (alias.name.startswith("torch.") and not alias.asname):
                return alias.asname or "torch"
    return ""


def torch_below(source: bytes) -> str:
    """What a file calls torch that imports it below a condition or in a `try` at its top, as it runs; or ""."""
    if not _TORCH_BELOW.search(source):
        return ""
    try:
        return _torch(_run(ast.parse(source).body))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def takes_all(source: bytes) -> bool:
    """Whether a file imports all names of some module, among which torch may be."""
    return _ALL_OF.search(source) is not None


def hidden(source: bytes) -> frozenset[str]:
    """The names of builtins that the top of a file gives to something else, as it runs."""
    for text in (emptied(source, _goes_on), source):  # what looks like a definition may stand in a string
        if not _BUILTIN.search(text):
            return frozenset()
        try:
            return _BUILTINS & {name for node in _run(ast.parse(text).body) for name in _bound_at(node)}
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return frozenset()


def _goes_on(chunk: Chunk) -> bool:
    return not chunk.alone


def builtins_bound(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The names of builtins that imports and definitions among a function's own nodes give to something else."""
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = set(names_brought(node))
        else:
            names = {node.name} if isinstance(node, _DEFINED) else set()
        yield from names & _BUILTINS


def _bound_at(statement: ast.stmt) -> Iterator[str]:
    """What a statement at the top of a file binds; of all names of a module those of builtins that are known to be."""
    if isinstance(statement, ast.ImportFrom):
        for alias in statement.names:
            everything = _OF_MODULES.get(statement.module or "", frozenset())
            yield from everything if alias.name == "*" else [alias.asname or alias.name]
    yield from _bound_by(statement)
    if not isinstance(statement, _DEFINED):
        for node in own_nodes(statement):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                yield node.id


def _run(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module that run when it is imported; what only type checkers see is left out."""
    for node in statements:
        yield node
        if isinstance(node, ast.If):
            negated = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
            test = node.test.operand if isinstance(node.test, ast.UnaryOp) else node.test
            typing = dotted(test).rpartition(".")[2] == "TYPE_CHECKING" or getattr(test, "value", None) is False
            yield from _run(node.body if not typing or negated else ())
            yield from _run(node.orelse if not typing or not negated else ())
        elif isinstance(node, (ast.Try, ast.With)):
            yield from _run(node.body)
            for handler in getattr(node, "handlers", ()):
                yield from _run(handler.body)
            yield from _run([*getattr(node, "orelse", ()), *getattr(node, "finalbody", ())])


def imported_names(body: Sequence[ast.stmt], module: str = "") -> set[str]:
    """What `from … import` brings to the top of a file by its own name, of `module` alone where one is given."""
    imports = (node for node in body if isinstance(node, ast.ImportFrom) and module in ("", node.module))
    return {alias.name for node in imports for alias in node.names if not alias.asname}


def binds(body: Sequence[ast.stmt], source: bytes, name: str, module: str) -> bool:
    """Whether the top of a file binds a name to anything but the function of `module`.

    `body` are the outlines of its statements, which leave out what is assigned.
    """
    for node in body:
        if isinstance(node, ast.ImportFrom):
            if node.module != module and any((alias.asname or alias.name) == name for alias in node.names):
                return True
        elif name in _bound_by(node):
            return True
    return re.search(rb"^%s[ \t]*(?::[^=\n]*)?=(?!=)" % name.encode(), source, re.MULTILINE) is not None
