"""What names mean that no function binds: what the top of a module assigns, and what a class assigns to `self`.

Only numbers are told, and what is none of Python's: all else, what is imported among it, is not known.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator, Mapping

from transforms.python.flow.annotations import number_of
from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.nodes import all_nodes, called, names_brought, own_nodes, written
from transforms.python.flow.unpacking import matched, unpacked
from transforms.python.flow.values import A_NUMBER, EMPTY, INT, NOTHING, OF_NUMPY, TENSOR, TUPLE, Value, join, tuple_of

_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ASSIGNING = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.NamedExpr)
_NAMED = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
_GLOBAL = re.compile(rb"global(?<!\wglobal)[ \t]+([^\n;#]+)")
_NO_FUNCTION = ast.parse("def scope(): pass").body[0]
# As the pattern of a class below, it begins with plain bytes, which Python searches for first.
_STORES = re.compile(rb"\.(?<!\bself\.)(?<!\bcls\.)(\w+)(?=[ \t]*(?::[^=\n]+)?[-+*/%@&|^<>]{0,2}=(?!=))")


class Constants:
    """The constants of one file, once all its statements are added."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._nodes: list[ast.AST] = []
        self._attributes: dict[tuple[str, int], Mapping[str, Value]] = {}

    def add(self, tree: ast.Module) -> None:
        """Take in what a part of the module binds, without the bodies of what it defines: a part's tree may go."""
        kept = (*_ASSIGNING, *_NAMED, ast.Import, ast.ImportFrom)
        for node in own_nodes(tree):
            if isinstance(node, kept) or _is_stored(node):
                self._nodes.append(node)
            elif isinstance(node, _DEFINED):
                self._nodes.append(ast.alias(node.name))

    def of(self, function: ast.AST, owner: ast.ClassDef | None) -> Callable[[str], Value]:
        """What a name, or an attribute as written, is in a function, of the class `owner` where that is a method."""
        bound = functools.cache(lambda: {name for node in all_nodes([function]) for name in _bound_by(node)})
        held_by = _first_parameter(function) if owner is not None else ""

        def constant(name: str) -> Value:
            holder, _, attribute = name.partition(".")
            if attribute:
                if owner is None or holder != held_by or "." in attribute:
                    return NOTHING
                return self._of_class(owner).get(attribute, NOTHING)
            value = self._of_module.get(name, NOTHING)
            return value if value != NOTHING and name not in bound() else NOTHING

        return constant

    @functools.cached_property
    def _of_module(self) -> Mapping[str, Value]:
        values = _scope(self._nodes, None).variables
        bound = {id(target) for node in self._nodes for target in _targets(node)}
        unclear = {name for node in self._nodes if id(node) not in bound for name in _bound_by(node)}
        unclear.update(name.decode() for names in _GLOBAL.findall(self._source) for name in re.findall(rb"\w+", names))
        return {name: _constant(value) for name, value in values.items() if name not in unclear}

    def _of_class(self, owner: ast.ClassDef) -> Mapping[str, Value]:
        place = (owner.name, owner.lineno)
        if place not in self._attributes:
            self._attributes[place] = self._read(owner)
        return self._attributes[place]

    def _read(self, owner: ast.ClassDef) -> Mapping[str, Value]:
        """The attributes that a class assigns; none where it sets some by name, or the file has a class made of it."""
        if re.search(rb"class(?<!\wclass)[ \t]+\w+\([^)]*\b%b\b" % owner.name.encode(), self._source):
            return {}
        given: dict[str, list[Value]] = {}
        for name, value in self._assigned(owner):
            given.setdefault(name, []).append(value)
        if "" in given:
            return {}
        return {name: _joined(values) for name, values in given.items() if name not in self._set_elsewhere}

    def _assigned(self, owner: ast.ClassDef) -> Iterator[tuple[str, Value]]:
        """What a class assigns to each attribute; to "" where it does so by a name that is not written."""
        body = own_nodes(owner)
        values = _scope(body, self._of_module.get)
        typed = _is_typed(owner)
        unset = {id(node.target) for node in body if isinstance(node, ast.AnnAssign) and node.value is None}
        for node in body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and typed:
                yield node.target.id, number_of(written(node.annotation))
            if isinstance(node, _DEFINED):
                yield node.name, NOTHING
            elif _is_stored(node) and id(node) not in unset:
                yield node.id, values.variables.get(node.id, NOTHING)  # type: ignore[attr-defined]
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from self._assigned_by(node)

    def _assigned_by(self, method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, Value]]:
        holder, nodes = _first_parameter(method), all_nodes([method])
        if any(called(node) in ("setattr", "__setattr__") or getattr(node, "attr", "") == "__dict__" for node in nodes):
            yield "", NOTHING
        stored = {id(node): node.attr for node in nodes if isinstance(node, ast.Attribute) and _is_of(node, holder)}
        if not stored:
            return
        own = own_nodes(method)
        values = Interpreter(method, own, {}, {}, constants=self.of(method, None))
        for node in own:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                value = values.value(node.value)
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    for part, its_value in unpacked(target, matched(target, node.value, value, values.value)):
                        if id(part) in stored:
                            yield stored.pop(id(part)), its_value
        yield from ((name, NOTHING) for name in stored.values())

    @functools.cached_property
    def _set_elsewhere(self) -> frozenset[str]:
        """The attributes that the file assigns to what is not called `self`."""
        return frozenset(name.decode() for name in _STORES.findall(self._source))


def _scope(nodes: list[ast.AST], constants: Callable[[str], Value | None] | None) -> Interpreter:
    """The values of a module's or a class's own scope."""
    assert isinstance(_NO_FUNCTION, ast.FunctionDef)
    lookup = (lambda name: constants(name) or NOTHING) if constants is not None else None
    return Interpreter(_NO_FUNCTION, nodes, {}, {}, constants=lookup)


def _constant(value: Value) -> Value:
    """What is told of a constant: what is computed when the module is imported is no symbol."""
    if value.kind == TUPLE:
        return tuple_of([_constant(item) for item in value.items])
    if value == OF_NUMPY or (value.kind == TENSOR and value.sure):
        return OF_NUMPY
    if value.kind == INT and value.integral:
        return A_NUMBER
    return value if value.scalar and not value.optional else NOTHING


def _joined(values: list[Value]) -> Value:
    constants = [_constant(value) for value in values]
    return NOTHING if any(value.kind == EMPTY for value in values) or NOTHING in constants else join(constants)


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)


def _is_of(node: ast.Attribute, holder: str) -> bool:
    """Whether an attribute of `holder` is assigned or deleted."""
    return not isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name) and node.value.id == holder


def _targets(node: ast.AST) -> Iterator[ast.AST]:
    """The names that the interpreter binds for a statement."""
    if isinstance(node, _ASSIGNING):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from (part for part in ast.walk(target) if _is_stored(part))


def _bound_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from names_brought(node)
    elif isinstance(node, (*_DEFINED, *_NAMED, ast.alias)) and node.name:
        yield node.name


def _first_parameter(function: ast.AST) -> str:
    """What a method calls its object; "" for one that has none, or gives that name to something else."""
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    arguments = [*function.args.posonlyargs, *function.args.args]
    static = any(written(decorator) == "staticmethod" for decorator in function.decorator_list)
    name = "" if static or not arguments else arguments[0].arg
    rebound = any(_is_stored(node) and node.id == name for node in all_nodes(function.body))  # type: ignore[attr-defined]
    return "" if rebound else name


def _is_typed(owner: ast.ClassDef) -> bool:
    """Whether the fields of a class are what their annotations say: of a named tuple or a dataclass."""
    makers = map(written, (*owner.bases, *owner.decorator_list))
    return any(re.search(r"\bNamedTuple$|\bdataclass\b", maker) for maker in makers)
