"""Whether what a branch raises may be caught: a check in its place is a RuntimeError where it is compiled.

What catches it may stand in the function, in those that torch traced on the way to it, or in any function of the trees
at hand that names it, or one that does. Tests are left out: they assert, without compiling, what is raised.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

_TRY: tuple[type[ast.Try], ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))  # TryStar since Python 3.11
_CONSTRUCTORS = ("__init__", "__new__", "__post_init__")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LEAVES = (ast.Return, ast.Break, ast.Continue)
_TESTS = re.compile(r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")
_EXCEPTION = re.compile(r"\w*(?:Error|Exception|Warning)")
_OF_INSTANCES = re.compile(r"forward|__\w+__")
"""Methods that run where an object is called or used: who names them is no sign of who calls them."""
_WORD = re.compile(rb"[A-Za-z_]\w*")

_Names = tuple[str, ...]
Types = tuple[type[BaseException] | None, ...]
"""Types of exceptions; None for one that its name does not tell."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A statement that catches some exceptions of what is within it."""

    line: int
    types: Types

    def catches(self, raised: type[BaseException] | None, telling: bool) -> bool:
        """Whether it catches `raised`, or a RuntimeError; where it is `telling`, whether one of the two alone."""
        first, second = _caught(self.types, raised), _caught(self.types, RuntimeError)
        return first != second or None in self.types if telling else first or second


@dataclass(frozen=True, slots=True)
class _Mention:
    """A place that names something: within a function, by any name that calls it, and under which guards."""

    callers: tuple[str, ...]
    guards: tuple[Guard, ...]
    others: tuple[str, ...]
    """Further names of what is named."""
    passed: tuple[str, ...] = ()
    """The functions and classes that are passed it, a decorator among them."""


@dataclass(slots=True)
class Callers:
    """The functions of `files`, by path, that lead to others by their names."""

    files: Mapping[str, bytes]
    _mentions: dict[str, dict[str, list[_Mention]]] = field(default_factory=dict)
    _words: dict[bytes, list[str]] = field(default_factory=dict)
    _tried: dict[str, list[tuple[str, Guard]]] = field(default_factory=dict)

    def catching(self, names: Iterable[str], raised: type[BaseException] | None) -> str:
        """PATH:LINE of what may catch an exception of a function that goes by one of `names`; "" where nothing does.

        In code that is in no function, which is never compiled, only what tells the two exceptions apart counts.
        """
        pending = [*dict.fromkeys(names)]
        seen = set(pending)
        while pending:
            name = pending.pop()
            if _OF_INSTANCES.fullmatch(name):
                continue
            for path in self._naming(name):
                for mention in self._of(path).get(name, ()):
                    for guard in mention.guards:
                        if guard.catches(raised, telling=not mention.callers):
                            return f"{path}:{guard.line}"
                    for place, guard in (each for callee in mention.passed for each in self._trying(callee)):
                        if guard.catches(raised, telling=False):
                            return f"{place}:{guard.line}"
                    for further in (*mention.callers, *mention.others):
                        if further not in seen:
                            pending.append(further)
                            seen.add(further)
        return ""

    def _trying(self, name: str) -> list[tuple[str, Guard]]:
        """The guards, with their files, under which a function or class of that name calls what it is passed."""
        if name not in self._tried:
            found = self._tried.setdefault(name, [])
            for path in self._defining(name):
                module = parsed(self.files[path])
                for node in ast.walk(module) if module is not None else ():
                    if isinstance(node, _DEFINITIONS) and node.name == name:
                        given = _given(node)
                        mentions = _mentions(ast.Module([node], []))
                        found += [(path, guard) for each, m in mentions if each in given for guard in m.guards]
        return self._tried[name]

    def _naming(self, name: str) -> list[str]:
        if not self._words:
            for path, source in self.files.items():
                for word in set(_WORD.findall(source)) if not _TESTS.search(path) else ():
                    self._words.setdefault(word, []).append(path)
        return self._words.get(name.encode(), [])

    def _defining(self, name: str) -> list[str]:
        """The files that may define a name: many name `tuple`, and to parse all of them takes minutes."""
        defined = re.compile(rb"\b(?:def|class)\s[\s\\]*%s\b" % name.encode())
        return [path for path in self._naming(name) if defined.search(self.files[path])]

    def _of(self, path: str) -> dict[str, list[_Mention]]:
        if path not in self._mentions:
            found = self._mentions.setdefault(path, {})
            module = parsed(self.files[path])
            for name, mention in _mentions(module) if module is not None else ():
                found.setdefault(name, []).append(mention)
        return self._mentions[path]


def parsed(source: bytes) -> ast.Module | None:
    """The tree of a file; None where Python does not take it."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None


def raised_by(branch: ast.If) -> type[BaseException] | None:
    """The exception that the last statement of a branch raises; None where its name does not tell."""
    raised = branch.body[-1]
    exception = raised.exc if isinstance(raised, ast.Raise) else None
    return _type(exception.func if isinstance(exception, ast.Call) else exception)


def names_around(module: ast.Module, line: int) -> tuple[str, ...]:
    """The names by which the innermost function around a line is called; none for code in no function."""
    return next((names for names, _ in _at(module, line, (), ())), ())


def guard_around(module: ast.Module, line: int, raised: type[BaseException] | None) -> int:
    """The line of a statement, in the function around a line, that may catch what that raises; 0 where none does.

    A `with` does that unless it is one of torch's: these are known to let exceptions through.
    """
    guards = next((guards for _, guards in _at(module, line, (), (), strict=True)), ())
    return next((guard.line for guard in guards if guard.catches(raised, telling=False)), 0)


def _at(
    node: ast.AST, line: int, names: tuple[str, ...], guards: tuple[Guard, ...], strict: bool = False
) -> Iterator[tuple[tuple[str, ...], tuple[Guard, ...]]]:
    """The names of the function around a line, and the guards there: of the innermost node that has the line."""
    for child, child_names, child_guards in _children(node, names, guards, strict):
        if getattr(child, "lineno", line) <= line <= (getattr(child, "end_lineno", None) or line):
            yield from _at(child, line, child_names, child_guards, strict)
    if hasattr(node, "lineno"):
        yield names, guards


def _mentions(module: ast.Module) -> Iterator[tuple[str, _Mention]]:
    """Each name that is read, where it is read; a name that gets its value from it calls it too."""
    pending: list[tuple[ast.AST, _Names, tuple[Guard, ...], _Names, _Names]] = [(module, (), (), (), ())]
    while pending:
        node, names, guards, others, passed = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id, _Mention(names, guards, others, passed)
        elif isinstance(node, ast.Attribute):
            yield node.attr, _Mention(names, guards, others, passed)
        elif isinstance(node, ast.Lambda) and passed:
            for call in (part for part in ast.walk(node.body) if isinstance(part, ast.Call)):
                yield from ((name, _Mention(names, guards, (), passed)) for name in _callee(call))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.decorator_list:
            wrappers = tuple(name for decorator in node.decorator_list for name in _callee(decorator))
            yield node.name, _Mention((), (), (), wrappers)
        elif isinstance(node, ast.alias) and node.asname:
            yield node.name.rpartition(".")[2], _Mention((), (), (node.asname,))
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            others = tuple(name for target in targets for name in _named(target))
        for child, child_names, child_guards in _children(node, names, guards, strict=False):
            called = isinstance(node, ast.Call) and child is node.func  # its result is not what is called
            further = () if called or isinstance(child, ast.stmt) else others
            within = () if called or isinstance(child, ast.stmt) else passed
            if isinstance(node, ast.Call) and not called:
                within = (*passed, *_callee(node.func))
            pending.append((child, child_names, child_guards, further, within))


def _given(definition: ast.AST) -> set[str]:
    """The parameters of a definition and of those in it, and the attributes that hold them."""
    nodes = list(ast.walk(definition))
    stored = {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    return stored | {node.arg for node in nodes if isinstance(node, ast.arg)}


def _callee(node: ast.expr) -> tuple[str, ...]:
    """The last name of what is called, or of what makes it: `retry` of `own.retry(3)`."""
    while isinstance(node, ast.Call):
        node = node.func
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return (name,) if name else ()


def _named(target: ast.expr) -> Iterator[str]:
    for node in ast.walk(target):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr


def _children(
    node: ast.AST, names: tuple[str, ...], guards: tuple[Guard, ...], strict: bool
) -> Iterator[tuple[ast.AST, tuple[str, ...], tuple[Guard, ...]]]:
    """The nodes below one, with the names of the function that they are in, and the guards around them there."""
    if isinstance(node, ast.ClassDef):
        for child in ast.iter_child_nodes(node):
            own = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and child.name in _CONSTRUCTORS
            yield child, (node.name,) if own else names, guards
        return
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        for child in ast.iter_child_nodes(node):
            inside = any(child is statement for statement in node.body)
            constructed = names if node.name in _CONSTRUCTORS else ()
            yield child, (node.name, *constructed) if inside else names, () if inside else guards
        return
    own_guard = _guard(node, strict)
    body: Sequence[ast.AST] = getattr(node, "body", ()) if own_guard is not None else ()
    for child in ast.iter_child_nodes(node):
        guarded = own_guard is not None and any(child is statement for statement in body)
        yield child, names, (*guards, own_guard) if guarded and own_guard is not None else guards


def _guard(node: ast.AST, strict: bool) -> Guard | None:
    if isinstance(node, _TRY):
        if any(isinstance(inner, _LEAVES) for statement in node.finalbody for inner in ast.walk(statement)):
            return Guard(node.lineno, (BaseException,))
        types = [each for handler in node.handlers for each in _types(handler.type)]
        return Guard(node.lineno, tuple(types)) if types else None
    if isinstance(node, (ast.With, ast.AsyncWith)):
        managers = [item.context_expr for item in node.items]
        if strict and not all(map(_is_of_torch, managers)):
            return Guard(node.lineno, (None,))
        given = [argument for manager in managers if isinstance(manager, ast.Call) for argument in manager.args]
        types = [each for argument in given if _names_exception(argument) for each in _types(argument)]
        return Guard(node.lineno, tuple(types)) if types else None
    return None


def _types(node: ast.expr | None) -> Types:
    if node is None:
        return (BaseException,)
    return tuple(map(_type, node.elts)) if isinstance(node, ast.Tuple) else (_type(node),)


def _type(node: ast.expr | None) -> type[BaseException] | None:
    found = getattr(builtins, node.id, None) if isinstance(node, ast.Name) else None
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


def _caught(types: Types, raised: type[BaseException] | None) -> bool:
    """Whether a handler of these types may catch an exception. One that has no known type is some Exception."""
    for kind in types:
        if kind is None or (raised is not None and issubclass(raised, kind)):
            return True
        if raised is None and (issubclass(kind, Exception) or kind is BaseException):
            return True
    return False


def _names_exception(node: ast.expr) -> bool:
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return _type(node) is not None or _EXCEPTION.fullmatch(name) is not None


def _is_of_torch(node: ast.expr) -> bool:
    """Whether an expression is `torch.…`, or a call of it."""
    node = node.func if isinstance(node, ast.Call) else node
    dotted = isinstance(node, ast.Attribute)
    while isinstance(node, ast.Attribute):
        node = node.value
    return dotted and isinstance(node, ast.Name) and node.id == "torch"
