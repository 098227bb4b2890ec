"""Functions whose signatures stay: their address is taken, another overload stands by, a constant is made of them, or
they are called where no function is.

So do those that code of a template may call which is not read, or files that a sparse checkout leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tree_sitter import Node

from codemod.model.transform import Project
from transforms.cpp.reach.calls import encloses
from transforms.cpp.reach.headers import same_function
from transforms.cpp.reading import SUFFIXES
from transforms.cpp.reading.definitions import find_declarator, spelled_types
from transforms.cpp.reading.facts import PART, Function
from transforms.cpp.reading.marks import masked
from transforms.cpp.reading.syntax import parse_file, parse_span
from transforms.cpp.reading.types import Type, parse_type, symbolic_spelling

_STANDING = tuple(
    re.compile(before + rb"\s*([A-Za-z_]\w*)(?=\s*(?:[,)};>?]|:(?!:)))") for before in (rb"[(,{=&<?:]", rb"return\b")
)
"""Names where a value may stand, and none that is called or that others are of: of `at::f` the `:` before `f` is found.

A pattern that begins with characters is searched faster.
"""
_CONSTANT = re.compile(rb"\b(?:constexpr|consteval)\b")
_TORCH = re.compile(rb"\b(?:torch|ATen|c10|at|TORCH_\w+)\b|Tensor|IntArrayRef|SymInt")
_DECLARED = (
    rb"(?:[\w>\]](?<!\breturn)(?<!\belse)(?<!\bcase)(?<!\bthrow)(?:\s+|\s*[&*]+\s*)|\[[^\]()]*)"
    rb"\b%s\s*[=;,){\[:\]]"
)
_NO_NUMBER = frozenset({"tensor", "list", "string", "options"})
"""Kinds of parameters that no number converts to."""
_COMPARABLE = _NO_NUMBER | {"int", "float", "bool", "ints", "scalar"}


class Kept:
    """What keeps the signature of a function of a tree."""

    def __init__(self, project: Project, paths: Sequence[str], functions: Mapping[str, Sequence[Function]]) -> None:
        """`paths` are the files of the tree, `functions` its definitions and declarations by name."""
        self._project = project
        self._paths = paths
        self.incomplete = bool(project.left_out(SUFFIXES))
        """Whether files that are not there may call functions of the tree, and register kernels beside these."""
        self._functions = functions
        self._standing: dict[str, list[str]] | None = None
        self._unread: frozenset[str] | None = None
        self._values: dict[str, frozenset[str]] = {}
        self._outside: dict[tuple[str, frozenset[str]], bool] = {}
        self._written: dict[tuple[str, int, tuple[int, ...]], bool] = {}
        self._bodies: dict[str, list[tuple[int, int]]] | None = None

    def keeps(self, function: Function, index: int) -> bool:
        """Whether a parameter or the result of a function stays an integer for others' sake."""
        return (
            not self.may_have_symbols(function)
            or (index >= 0 and any(is_rival(function, other, index) for other in self._functions[function.name]))
            or (self.incomplete and not function.internal)
            or self._is_value(function)
            or self._is_called_outside(function)
            or self.named_unread(function.name)
            or not self.can_be_written(function, [index])
        )

    def named_unread(self, name: str) -> bool:
        """Whether a name stands in code of a template that is not read: what it is used as there is not seen."""
        if self._unread is None:
            self._unread = frozenset().union(*self._project.facts(unread, self._paths).values())
        return name in self._unread

    def may_have_symbols(self, function: Function) -> bool:
        """Whether a function, or a twin of it, is no constant's, and every file that declares it may know of SymInt."""
        own = same_function(function)
        same = [other for other in self._functions[function.name] if same_function(other) == own]
        sources = [(other, self._project.read(other.path)) for other in same]
        heads = (source[other.start : other.body if other.body >= 0 else other.end] for other, source in sources)
        return not any(map(_CONSTANT.search, heads)) and all(_TORCH.search(source) for _, source in sources)

    def can_be_written(self, function: Function, indexes: Sequence[int]) -> bool:
        """Whether those of a function's types at `indexes` that can be symbolic are read in its every declaration.

        A macro or an attribute that the grammar does not know may stand for one there.
        """
        own, types = same_function(function), {-1: function.returns, **dict(enumerate(p.type for p in function.params))}
        asked = [index for index in indexes if index <= PART or symbolic_spelling(types[index]) is not None]
        for other in self._functions[function.name]:
            if same_function(other) == own:
                key = other.path, other.start, tuple(asked)
                if key not in self._written:
                    self._written[key] = _is_read(self._project.read(other.path), other, asked)
                if not self._written[key]:
                    return False
        return True

    def _is_value(self, function: Function) -> bool:
        """Whether a function is named where it is not called: others call it by its address then."""
        name = function.name
        if name not in self._values:
            self._values[name] = frozenset(path for path in self._where(name) if self._stands_in(path, name))
        paths = self._values[name]
        return function.path in paths if function.internal and function.path.endswith((".cpp", ".cc")) else bool(paths)

    def _is_called_outside(self, function: Function) -> bool:
        """Whether a file with the function calls it where no function is, as in the initialiser of a constant."""
        own = same_function(function)
        paths = frozenset(other.path for other in self._functions[function.name] if same_function(other) == own)
        key = function.name, paths
        if key not in self._outside:
            self._outside[key] = any(self._calls_outside(path, function.name) for path in paths)
        return self._outside[key]

    def _calls_outside(self, path: str, name: str) -> bool:
        """Whether a file calls a function in the initialiser of a constant or a member, a default argument or a macro.

        It is parsed only where the name stands in no body of a function, and not in front of one.
        """
        if self._bodies is None:
            self._bodies = {}
            for function in (function for named in self._functions.values() for function in named):
                if function.body >= 0:
                    self._bodies.setdefault(function.path, []).append((function.body, function.end))
        bodies = self._bodies.get(path, [])
        own = [(f.start, f.end if f.body < 0 else f.body) for f in self._functions[name] if f.path == path]
        content = self._project.read(path)
        found = [match.start() for match in re.finditer(rb"\b%s\s*\(" % re.escape(name.encode()), content)]
        for start, end in own:  # its own head names it once
            head = next((place for place in found if start <= place < end), None)
            found = [place for place in found if place != head]
        outside = [place for place in found if not any(start <= place < end for start, end in bodies)]
        if not outside:
            return False
        root = parse_file(content)[0].root_node
        nodes = (root.descendant_for_byte_range(place, place + len(name)) for place in outside)
        return any(node is not None and _is_outside(node) for node in nodes)

    def _where(self, name: str) -> Sequence[str]:
        if self._standing is None:
            self._standing = {}
            for path, names in self._project.facts(standing, self._paths).items():
                for found in names:
                    self._standing.setdefault(found, []).append(path)
        return self._standing.get(name, ())

    def _stands_in(self, path: str, name: str) -> bool:
        tree, source = parse_file(self._project.read(path))
        matches = (m for pattern in _STANDING for m in pattern.finditer(source) if m[1].decode() == name)
        nodes = (tree.root_node.descendant_for_byte_range(m.start(1), m.end(1)) for m in matches)
        return any(node is not None and _is_value(node, source) for node in nodes)


def standing(path: str, source: bytes) -> tuple[str, ...]:
    """The names that stand in a file where a value may, sorted."""
    return tuple(sorted({name.decode() for pattern in _STANDING for name in pattern.findall(source)}))


def unread(path: str, source: bytes) -> tuple[str, ...]:
    """The names in code of a template that is not read, sorted."""
    return tuple(sorted(masked(source).elsewhere))


def _is_read(source: bytes, function: Function, indexes: Sequence[int]) -> bool:
    """Whether the types at `indexes` are found in one declaration of a function, and can be symbolic."""
    tree, _ = parse_span(source, function.start, function.end)
    root = parse_file(source)[0].root_node if tree.root_node.has_error else tree.root_node
    declarator = find_declarator(root, function)
    spelled = spelled_types(declarator, indexes) if declarator is not None else None
    return spelled is not None and all(symbolic_spelling((node.text or b"").decode()) for node in spelled)


def _is_outside(node: Node) -> bool:
    called, around = False, node.parent
    while around is not None:
        if around.type in ("function_definition", "lambda_expression"):
            return False
        if around.type.startswith("preproc_") and around.type.endswith("def"):
            return True
        called = called or around.type == "call_expression"
        if called and around.type == "optional_parameter_declaration":
            return True
        around = around.parent
    return called


def _is_value(node: Node, source: bytes) -> bool:
    """Whether a name stands for a value, and is no variable of the function around it."""
    name, inner = re.escape(source[node.start_byte : node.end_byte]), node
    outer = inner.parent
    while outer is not None and outer.type in ("qualified_identifier", "template_function", "type_descriptor"):
        inner, outer = outer, outer.parent
    if outer is None or node.type not in ("identifier", "type_identifier") or outer.type.startswith("preproc_"):
        return False
    if node.type == "type_identifier" and outer.type != "template_argument_list":
        return False
    if outer.type == "using_declaration" or outer.child_by_field_name("declarator") == inner:
        return False
    if outer.type in ("enumerator", "labeled_statement", "goto_statement", "template_parameter_list"):
        return False
    around: Node | None = outer
    while around is not None:
        if around.type in ("function_definition", "lambda_expression"):
            text = source[around.start_byte : around.end_byte]
            if re.search(_DECLARED % name, text) is not None:
                return False
        around = around.parent
    return True


def is_rival(function: Function, other: Function, index: int) -> bool:
    """Whether calls that give an integer may mean another overload once the parameter `index` is a SymInt."""
    if other.template:
        return same_function(other) != same_function(function) and _as_many(function, other)
    if same_function(other) == same_function(function) or not (encloses(other, function) or encloses(function, other)):
        return False
    if not _as_many(function, other) or index >= len(other.params):
        return False
    ours, theirs = ([parse_type(param.type) for param in f.params] for f in (function, other))
    if theirs[index].symbolic or theirs[index].kind in _NO_NUMBER:
        return False
    return not any(_excludes(a, b) for place, (a, b) in enumerate(zip(ours, theirs, strict=False)) if place != index)


def _as_many(function: Function, other: Function) -> bool:
    """Whether a call may have as many arguments as either takes."""
    least, most = (
        (sum(1 for p in f.params if not p.default) for f in (function, other)),
        (len(f.params) for f in (function, other)),
    )
    return max(least) <= min(most)


def _excludes(ours: Type, theirs: Type) -> bool:
    """Whether what one parameter takes the other does not."""
    kinds = {ours.kind, theirs.kind}
    return len(kinds) > 1 and kinds <= _COMPARABLE and bool(kinds & _NO_NUMBER)
