"""The calls, names and wrappers of a file that may register functions with PyTorch, as written.

What they do register is known once the whole tree is: `reach/registrations.py` follows them. A name only says here what
is kept for that.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from transforms.python.flow.nodes import all_nodes, dotted, written
from transforms.python.reading.loops import Loops

MAY_REGISTER = re.compile(
    r"regist|impl|custom_op|triton_op|fake|abstract|lowering|prim|meta"
    r"|^(?:compile|export|make_fx|aot_function|Library|partial|disable|_disable_dynamo)$"
)
REGISTERS = re.compile(r"regist|custom_op|triton_op|fake|abstract|^(?:impl|define)$")
"""What the methods of a class are kept for."""
_COMPILING = re.compile(r"[\w.]*\b(?:compile|export)\(")
LONGEST = 200
"""Lines of a call or a wrapper that is kept."""
PLAIN_TEXT = re.compile(r"[\w:.]{0,100}", re.ASCII)
FunctionNode = (ast.FunctionDef, ast.AsyncFunctionDef)
_WORDS = tuple(word.encode() for word in re.findall(r"\w+", MAY_REGISTER.pattern))
"""What the source of a call that may register holds one of."""


class Registering(NamedTuple):
    """What is kept of one file."""

    calls: tuple[tuple[str, str], ...] = ()
    """(scope, call)."""
    bindings: tuple[tuple[str, str, str], ...] = ()
    """(scope, name, what is assigned to it): libraries, aliases of registrars, names of operators."""
    wrappers: tuple[tuple[str, str], ...] = ()
    """(name, source) of the functions of a module that may hand on to a registrar what they are given, and of the
    methods of classes of which one does. What stands in a class stands below an `if` here."""
    classes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(name, bases) of the classes of a module that have bases."""
    applied: tuple[tuple[str, str], ...] = ()
    """(name, class) of each `name = Class.apply` of a module."""


class Collector:
    """Gathers what of a file's scopes may register."""

    def __init__(self, source: bytes) -> None:
        self._lines = source.splitlines() if _may_speak(source) else None
        self._calls: list[tuple[str, str]] = []
        self._bindings: list[tuple[str, str, str]] = []
        self._wrappers: dict[str, str] = {}
        self._classes: dict[str, tuple[str, ...]] = {}
        self._applied: dict[str, str] = {}
        self._class = ast.ClassDef("", [], [], [], [])
        self._kept: set[str] = set()
        self._plain: list[tuple[str, str]] = []
        """(scope, call): what is given constants alone, which matters where it makes or calls what registers."""
        self._loops = Loops()
        self._objects: list[tuple[str, str, str]] = []
        """Bindings of objects made in functions, which matter where they are compiled."""

    def add(self, name: str, node: ast.AST, nodes: Sequence[ast.AST]) -> None:
        """Take in a scope with those of its own nodes that are in `TELLING`."""
        decorators = set(map(id, getattr(node, "decorator_list", ())))
        if isinstance(node, ast.ClassDef) and "." not in name:
            self._class = node
            if not self._kept.isdisjoint(map(dotted, node.bases)):
                self._keep_methods()
        for inner in nodes:
            if isinstance(inner, ast.Call):
                if _may_register(inner, anywhere=not name) and id(inner) not in decorators:
                    self._add_call(name, inner)
            elif isinstance(inner, ast.Assign):
                if len(inner.targets) == 1 and isinstance(inner.targets[0], ast.Name):
                    self._add_binding(name, inner.targets[0].id, inner.value)
            elif isinstance(inner, ast.For):
                self._loops.add_loop(name, inner)
            elif name:
                continue
            elif isinstance(inner, FunctionNode):
                if self._is_wrapper(inner):
                    self._wrappers[inner.name] = self._source_of(inner)
            elif isinstance(inner, ast.ClassDef) and inner.bases:
                self._classes[inner.name] = tuple(filter(None, map(dotted, inner.bases)))
                compiling = (decorator for decorator in inner.decorator_list if _callee(decorator) == "compile")
                self._calls += (("", f"{unparsed(decorator)}({inner.name})") for decorator in compiling)

    def _add_call(self, name: str, call: ast.Call) -> None:
        named = (ast.Name, ast.Attribute, ast.Call, ast.Lambda)
        if not any(isinstance(argument, named) for argument in _arguments(call)) and _callee(call) != "define":
            if isinstance(call.func, ast.Name) and call.args:
                self._plain.append((name, unparsed(call)))
            return
        self._calls.append((name, unparsed(call)))
        if "." in name and name.partition(".")[0] == self._class.name and self._registers(call):
            self._keep_methods()

    def _add_binding(self, name: str, variable: str, value: ast.expr) -> None:
        if isinstance(value, (ast.List, ast.Tuple, ast.Dict, ast.JoinedStr)):
            self._loops.add_value(name, variable, value)
        if not name and isinstance(value, ast.Attribute) and value.attr == "apply":
            self._applied[variable] = dotted(value.value)
        if _kept(value) or (not name and _is_object(value)):
            self._bindings.append((name, variable, unparsed(value)))
        elif isinstance(value, ast.Call) and _is_object(value):
            self._objects.append((name, variable, f"{dotted(value.func)}()"))

    def _is_wrapper(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        if REGISTERS.search(function.name) is None and not _may_speak(self._lines_of(function)):
            return False
        return _is_wrapper(function)

    def _lines_of(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bytes:
        return b"\n".join(self._lines[function.lineno - 1 : function.end_lineno]) if self._lines else b""

    def _source_of(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
        """The source of a function without its decorators, as `parsed_function` reads it."""
        source = self._lines_of(function)
        if not source or b"\f" in source or not source.isascii():  # who knows in what encoding
            return unparsed(function)
        return ("if 1:\n" if source[:1] in b" \t" else "") + source.decode("ascii")

    def _registers(self, call: ast.Call) -> bool:
        """Whether a call in a method of the class at hand may register operators.

        `self.register_buffer(…)` and its like are the business of the base that defines them.
        """
        holder, _, last = dotted(call.func).rpartition(".")
        own = any(isinstance(inner, FunctionNode) and inner.name == last for inner in self._class.body)
        return REGISTERS.search(last) is not None and (own or holder not in ("self", "cls"))

    def _keep_methods(self) -> None:
        if self._class.name not in self._kept:
            self._kept.add(self._class.name)
            for method in self._class.body:
                if isinstance(method, FunctionNode) and (method.end_lineno or 0) - method.lineno <= LONGEST:
                    self._wrappers[f"{self._class.name}.{method.name}"] = self._source_of(method)

    def result(self) -> Registering:
        """What was gathered."""
        compiling = [(scope, text) for scope, text in self._calls if _COMPILING.match(text)]
        for scope, name, text in self._objects if compiling else ():
            if any(scope == place and re.search(rf"\b{name}\b", call) for place, call in compiling):
                self._bindings.append((scope, name, text))
        for scope, text in self._plain:
            callee = text.partition("(")[0]
            if callee in self._wrappers or (not scope and REGISTERS.search(callee)):
                self._calls.append((scope, text))
        calls, bindings = dict.fromkeys(self._calls), dict.fromkeys((*self._bindings, *self._loops.bindings()))
        named = tuple(self._wrappers.items()), tuple(self._classes.items()), tuple(self._applied.items())
        return Registering(tuple(calls), tuple(bindings), *named)


def _may_speak(source: bytes) -> bool:
    """Whether a name in `source` may be one of `MAY_REGISTER`; beyond ASCII one may be spelled in several ways."""
    return not source.isascii() or any(word in source for word in _WORDS)


def unparsed(node: ast.AST) -> str:
    """The source of a node, "" where it is nested too deep."""
    try:
        return written(node)
    except RecursionError:
        return ""


def last_name(callee: str) -> str:
    """`register_fake` of `torch.library.register_fake`."""
    return callee.rpartition(".")[2]


def _callee(node: ast.expr) -> str:
    """The name at the bottom of `f`, `f(…)` and `f(…)(…)`, or a method of what a call gives."""
    while isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _may_register(node: ast.expr, anywhere: bool = False) -> bool:
    """Whether to look at a name, or at a call for its own or a keyword's name; at the top of a file at every call."""
    if not anywhere and not _speaks(_callee(node)):
        keywords = getattr(node, "keywords", ())
        if not keywords or not any(_speaks(keyword.arg or "") for keyword in keywords):
            return False
    return (getattr(node, "end_lineno", None) or 0) - getattr(node, "lineno", 0) <= LONGEST


@lru_cache(maxsize=4096)
def _speaks(name: str) -> bool:
    return MAY_REGISTER.search(name) is not None


def _arguments(node: ast.Call) -> Iterable[ast.expr]:
    return (*node.args, *(keyword.value for keyword in node.keywords))


def _kept(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str) and PLAIN_TEXT.fullmatch(value.value) is not None
    if isinstance(value, ast.JoinedStr):
        return any(isinstance(piece, ast.Constant) and "::" in str(piece.value) for piece in value.values)
    if isinstance(value, ast.IfExp):
        return _kept(value.body) or _kept(value.orelse)
    if isinstance(value, ast.Call) and _callee(value) == "define":  # `op = lib.define("op(Tensor x) -> Tensor")`
        return bool(value.args) and isinstance(value.args[0], (ast.Constant, ast.JoinedStr))
    if isinstance(value, (ast.Call, ast.Name, ast.Attribute)):
        return _may_register(value)
    return False


def _is_object(value: ast.expr) -> bool:
    """Whether a value looks like an object made by its class, which is written with a capital."""
    if not isinstance(value, ast.Call) or (value.end_lineno or 0) - value.lineno > LONGEST:
        return False
    return re.match(r"_*[A-Z]", _callee(value)) is not None


def _is_wrapper(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function hands names of its own to what may register, or, to register, to an object that it makes."""
    if (function.end_lineno or 0) - function.lineno > LONGEST:
        return False
    bound: set[str] = set()
    registering: list[ast.Call] = []
    by_name = REGISTERS.search(function.name) is not None
    if by_name and any(isinstance(inner, FunctionNode) for inner in function.body):
        return True
    for node in all_nodes([function.args, *function.body]):
        if isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.Call) and (_may_register(node) or (by_name and _is_object(node))):
            if _callee(node) == "Library":  # which it may return
                return True
            registering.append(node)
    mentioned = (name.id for call in registering for name in all_nodes([call]) if isinstance(name, ast.Name))
    return not bound.isdisjoint(mentioned)


@cache
def parsed_expression(text: str) -> ast.expr:
    """The expression that a fact holds as text; None as a constant where Python reads none."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # "", or nested too deep
        return ast.Constant(None)


@cache
def parsed_function(text: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function that a fact holds as text, None where Python reads none."""
    try:
        node = ast.parse(text).body[0]
        node = node.body[0] if isinstance(node, ast.If) else node
    except (SyntaxError, ValueError, RecursionError, MemoryError, IndexError):
        return None
    return node if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
