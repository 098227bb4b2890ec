"""From the bytes of a Python file to its facts, with the standard `ast`."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from transforms.python.flow.catching import caught_calls, ended, passed_functions
from transforms.python.flow.nodes import TELLING_OF_VALUES, dotted, named_parameters, own_nodes, telling_nodes, written
from transforms.python.flow.torch_names import METHODS
from transforms.python.flow.untraced import untraced
from transforms.python.flow.values import A_SHAPE, A_SIZE
from transforms.python.reading.facts import FileFacts, Function, of_functions, unreadable
from transforms.python.reading.parsing import NestedTooDeep, parse
from transforms.python.reading.registering import Collector, unparsed

_SIZES = (
    *(f".{name}(".encode() for name, value in METHODS.items() if value in (A_SIZE, A_SHAPE)),
    *(b".item(", b"chunk(", b".nbytes", b"SymInt", b"IntLike", b"_check", b"guard_", b"sizevars"),
)
_SHAPE, _OUT = re.compile(rb"\.shape\b"), re.compile(rb"\bout=")
"""What a file holds that may ask for a size: texts, which are found several times as fast as one pattern of all."""
LEFT_TO_EAGER = re.compile(r"(?:(?:torch\.)?(?:compiler|_dynamo)\.)?(?:disable|_disable_dynamo)")
"""torch.compiler.disable, torch._dynamo.disable and their like."""
_OF_TORCHSCRIPT = r"(?:is_scripting|_?script|Script|_overload|annotate|unused|ignore|export|interface)\w*"
SCRIPTED = re.compile(rf"jit\.{_OF_TORCHSCRIPT}|BroadcastingList".encode())
_SCRIPTING = re.compile(rf"torch\.(?:jit|_jit_internal)(?:\.\w+)?\.{_OF_TORCHSCRIPT}")
_JIT = re.compile(r"torch\.(?:jit|_jit_internal)")
OPERATOR = re.compile(r"(?:^|\.)aten\.(\w+)")
Definition = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINED = frozenset({*Definition, ast.ClassDef})

PART = 1 << 19
"""Bytes of source of which the tree is held at a time; it takes some 150 times as many."""
STARTS = re.compile(rb"(?<=\n\n)(?=(?:async )?def |class |@)")
_NO_ARGUMENTS = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


class Parts:
    """The tree of a file, or of a large one those of its parts: whole statements each, made anew for each pass.

    Raises what `parse` raises, of all parts, when it is made.
    """

    def __init__(self, source: bytes) -> None:
        self._pieces = _pieces(source) if len(source) > PART else []
        self._tree: ast.Module | None = None
        self._names: Counter[str] = Counter()
        try:
            for piece in self._pieces:
                self._names.update(node.name for node in _defined(own_nodes(parse(piece))))
        except (SyntaxError, ValueError, NestedTooDeep):  # of the file, or of text in it that looks like a definition
            self._pieces = []
        if not self._pieces:
            self._tree = parse(source)

    def __iter__(self) -> Iterator[ast.Module]:
        if self._tree is not None:
            yield self._tree
        earlier: Counter[str] = Counter()
        for piece in self._pieces:
            tree = Part(**vars(parse(piece)))
            own = Counter(node.name for node in _defined(own_nodes(tree)))
            tree.earlier = {name: earlier[name] for name in own}
            earlier.update(own)
            tree.later = {name: self._names[name] - earlier[name] for name in own}
            yield tree
            del tree  # before the next is made


class Part(ast.Module):
    """A part of a module. `earlier` and `later` count the definitions in other parts of the names that it defines."""

    earlier: Mapping[str, int]
    later: Mapping[str, int]


def _defined(nodes: Iterable[ast.AST]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    return (node for node in nodes if type(node) in _DEFINED)  # type: ignore[misc]


def in_utf8(source: bytes) -> bool:
    """Whether Python reads a file as UTF-8."""
    try:
        return tokenize.detect_encoding(io.BytesIO(source).readline)[0].startswith("utf-8")
    except SyntaxError:
        return False


def _pieces(source: bytes) -> list[bytes]:
    """`source` in pieces that begin with a definition, behind as many line feeds as there are lines before it."""
    if not in_utf8(source):  # what the first lines say, the other pieces would not know
        return []
    pieces: list[bytes] = []
    begin = line = 0
    for start in STARTS.finditer(source):
        if start.start() - begin >= PART:
            piece = source[begin : start.start()]
            pieces.append(b"\n" * line + piece)
            begin = start.start()
            line += len(piece.splitlines())
    return [*pieces, b"\n" * line + source[begin:]]


def outline(statement: ast.stmt, bodies: int = 0) -> ast.stmt:
    """Where a statement stands, without what it holds; imports and docstrings as they are.

    A definition has its name, the places of its decorators, and in as many levels as `bodies` the outlines of its body.
    """
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return statement
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return statement
    bare: ast.stmt = ast.Pass()
    if isinstance(statement, (*Definition, ast.ClassDef)):
        body = [outline(inner, bodies - 1) for inner in statement.body] if bodies else []
        decorators: list[ast.expr] = [ast.copy_location(ast.Constant(None), d) for d in statement.decorator_list]
        if isinstance(statement, ast.ClassDef):
            bare = ast.ClassDef(statement.name, [], [], body, decorators)
        else:
            bare = type(statement)(statement.name, _NO_ARGUMENTS, body, decorators)
    return ast.copy_location(bare, statement)


def extract(path: str, source: bytes) -> FileFacts:
    """The facts of one file; no functions where it holds a syntax error. Raises NestedTooDeep."""
    try:
        trees = Parts(source)
    except (SyntaxError, ValueError) as error:
        return unreadable(path, source, error)
    sized, disabling, prims = _asks_for_sizes(source), b"disable" in source, b"prims" in source
    selective = any(word in source for word in (b"scripting", b"tracing", b"compiling"))
    functions: list[Function] = []
    imports: dict[str, str] = {}
    inner_imports: dict[str, str] = {}
    registering = Collector(source)
    passed: set[tuple[str, str]] = set()
    passing: set[tuple[str, str, str]] = set()
    left_to_eager: set[str] = set()
    statements: list[tuple[str, int, int]] = []
    statements_end = 0
    for tree in trees:
        for scope in scopes(tree, whole=prims):
            for node in scope.telling:
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    (imports if scope.node is tree else inner_imports).update(_imports(path, node))
            registering.add(scope.name, scope.node, scope.telling)
            passing.update((scope.name, *names) for names in passed_functions(scope.telling))
            if disabling:
                left_to_eager.update(_left_to_eager(scope))
            if scope.node is tree:
                passed.update(_passed_operators(scope.telling))
                if sized:
                    statements += _defining(tree, scope.telling, statements_end)
                statements_end = tree.body[-1].end_lineno or 0 if tree.body else statements_end
            if not isinstance(scope.node, Definition):
                continue
            try:
                callees = _callees(scope, sized, prims)
                traced = _callees(scope, sized, prims, untraced_in(scope)) if selective else callees
                functions.append(_function(scope, scope.node, callees, callees - traced))
            except RecursionError:
                functions.append(_nested(scope, scope.node))
    return FileFacts(
        path,
        tuple(functions),
        tuple((imports | inner_imports).items()),
        registering.result(),
        tuple(sorted(left_to_eager)),
        sized,
        _scripted(source, imports | inner_imports),
        tuple(sorted(_scripted_operators(passed, functions))) if b"jit.script" in source else (),
        tuple(statements),
        tuple(sorted(of_functions(passing, {*imports, *inner_imports}, functions))),
    )


def _asks_for_sizes(source: bytes) -> bool:
    if any(text in source for text in _SIZES) or _SHAPE.search(source):
        return True
    if b"len(" in source and b"Tensor" in source:
        return True
    return b"out=" in source and _OUT.search(source) is not None


class Scope(NamedTuple):
    """A module, class or function with its own nodes, where these are asked for, and those of them that tell something.

    `telling` are those in `TELLING`, beside `nodes` those in `TELLING_OF_VALUES`. `owner` is the class of a method.
    """

    name: str
    node: ast.AST
    owner: ast.ClassDef | None
    nodes: list[ast.AST]
    telling: list[ast.AST]


def scopes(
    tree: ast.AST,
    name: str = "",
    owner: ast.ClassDef | None = None,
    chosen: Collection[str] | None = None,
    whole: bool = True,
) -> Iterator[Scope]:
    """The scope of `tree` and all below it, outer ones first; with `chosen` only those below it of these names.

    Of several definitions of one name the last has it; those before are `name#1`, `name#2` and so on. Without `whole`
    the scopes have no `nodes`.
    """
    nodes = own_nodes(tree) if whole else []
    telling = [node for node in nodes if type(node) in TELLING_OF_VALUES] if whole else telling_nodes(tree)
    yield Scope(name, tree, owner, nodes, telling)
    inner = list(_defined(telling))
    if not inner:
        return
    count = Counter(tree.earlier if isinstance(tree, Part) else {})
    left = Counter(tree.later if isinstance(tree, Part) else {})
    left.update(node.name for node in inner)
    for node in inner:
        count[node.name] += 1
        left[node.name] -= 1
        own = f"{node.name}#{count[node.name]}" if left[node.name] else node.name
        inner_name = f"{name}.{own}" if name else own
        if chosen is None or inner_name in chosen:
            yield from scopes(node, inner_name, tree if isinstance(tree, ast.ClassDef) else None, chosen, whole)


def _defining(module: ast.Module, nodes: Sequence[ast.AST], before: int) -> Iterator[tuple[str, int, int]]:
    """For each definition in the scope of a module its name, and the lines of the statement that holds it.

    What lies between two statements goes with the second, as a decorator may begin below its `@`. `before` is the last
    line before the module, or the part of one.
    """
    ends = [before, *(statement.end_lineno or 0 for statement in module.body)]
    for node in _defined(nodes):
        index = bisect_left(ends, node.lineno)
        yield node.name, ends[index - 1] + 1, ends[index]


def _passed_operators(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    """(callee, operator) for each operator that a call names as an argument."""
    for node in nodes:
        if isinstance(node, ast.Call):
            for argument in node.args:
                match = OPERATOR.search(dotted(argument))
                if match:
                    yield dotted(node.func), match[1]


def _left_to_eager(scope: Scope) -> Iterator[str]:
    """The functions that `f = torch.compiler.disable(f)` replaces, `self.f` in a method among them."""
    for node in scope.telling:
        match node:
            case ast.Assign(targets=[target], value=ast.Call(func=disable, args=[function], keywords=keywords)):
                name = dotted(target)
                recursive = all(keyword.arg != "recursive" for keyword in keywords)
                if recursive and name and name == dotted(function) and LEFT_TO_EAGER.fullmatch(dotted(disable)):
                    holder, _, method = name.rpartition(".")
                    outer = scope.name.rpartition(".")[0] if holder in ("self", "cls") else scope.name
                    if holder in ("", "self", "cls"):
                        yield f"{outer}.{method}" if outer else method


def _scripted(source: bytes, imports: Mapping[str, str]) -> bool:
    """Whether a file names what TorchScript alone needs, by whatever name it imports that."""
    if b"jit" not in source:
        return b"BroadcastingList" in source
    if SCRIPTED.search(source) or any(map(_SCRIPTING.fullmatch, imports.values())):
        return True
    modules = "|".join(name for name, target in imports.items() if _JIT.fullmatch(target))
    return bool(modules) and re.search(rf"\b(?:{modules})\.{_OF_TORCHSCRIPT}".encode(), source) is not None


def _scripted_operators(passed: Iterable[tuple[str, str]], functions: Sequence[Function]) -> set[str]:
    """The operators among those `passed` to functions that call `torch.jit.script`."""
    scripting = {function.name for function in functions if "torch.jit.script" in function.calls}
    return {operator for callee, operator in passed if callee in scripting}


def _function(
    scope: Scope, node: ast.FunctionDef | ast.AsyncFunctionDef, callees: Iterable[str], untraced: Iterable[str]
) -> Function:
    arguments = node.args
    function = Function(
        scope.name,
        node.lineno,
        tuple(map(written, node.decorator_list)),
        tuple(
            (parameter.arg, written(parameter.annotation) if parameter.annotation else "")
            for parameter in named_parameters(arguments)
        ),
        positional := len(arguments.posonlyargs) + len(arguments.args),
        positional - len(arguments.defaults),
        arguments.vararg.arg if arguments.vararg and not arguments.vararg.annotation else "",
        tuple(sorted(callees)),
        tuple(sorted(untraced)),
        method=scope.owner is not None,
        bases=tuple(map(written, scope.owner.bases)) if scope.owner else (),
        caught=caught_calls(scope.telling),
        ends=ended(node, scope.telling),
    )
    if any("register_decomposition" in decorator for decorator in function.decorators):
        function = function._replace(defaults=tuple(_defaults(arguments)))
    return function


def calls_in(scope: Scope, without: Collection[int] = ()) -> Iterator[ast.Call]:
    """The calls that a scope makes when it runs, but for those nodes; its decorators are called where it is defined."""
    decorators = getattr(scope.node, "decorator_list", ())
    calls = (node for node in scope.telling if type(node) is ast.Call and node not in decorators)
    return (call for call in calls if id(call) not in without)


def called_in(scope: Scope, without: Collection[int] = ()) -> set[str]:
    """The callees of a scope as written."""
    return {dotted(call.func) for call in calls_in(scope, without)} - {""}


def untraced_in(scope: Scope) -> set[int]:
    """The nodes of a function that no trace of it runs."""
    body = scope.node.body if isinstance(scope.node, Definition) else ()
    return {id(node) for root in untraced(scope.telling, body=body) for node in ast.walk(root)}


def _callees(scope: Scope, sized: bool, prims: bool, without: Collection[int] = ()) -> set[str]:
    """What a function calls, as written; where values are followed, what it passes on too, which then is called."""
    if not sized:
        return called_in(scope, without)
    callees: set[str] = set()
    for call in calls_in(scope, without):
        if callee := dotted(call.func):
            callees.add(callee)
            callees.update(passed_on(call, callee))
    return callees.union(primitives(scope.nodes)) if prims else callees


def passed_on(call: ast.Call, callee: str) -> Iterator[str]:
    """The names that a call passes on: that of a function is then called with what nobody can see."""
    if callee and not LEFT_TO_EAGER.fullmatch(callee):
        for argument in (*call.args, *(keyword.value for keyword in call.keywords if keyword.arg)):
            if isinstance(argument, ast.Name):
                yield argument.id


def primitives(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Those of `prims` that are named, to be called or passed on."""
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "prims":
            yield f"prims.{node.attr}"


def _nested(scope: Scope, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
    """A function nested too deep to be followed."""
    arguments = node.args
    return Function(
        scope.name,
        node.lineno,
        tuple(unparsed(decorator) for decorator in node.decorator_list),
        tuple((parameter.arg, "") for parameter in named_parameters(arguments)),
        positional := len(arguments.posonlyargs) + len(arguments.args),
        positional - len(arguments.defaults),
        calls=tuple(sorted(called_in(scope))),
        method=scope.owner is not None,
        bases=tuple(map(unparsed, scope.owner.bases)) if scope.owner else (),
    )


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, str]]:
    positional = (*arguments.posonlyargs, *arguments.args)
    defaulted = zip(reversed(positional), reversed(arguments.defaults), strict=False)
    for parameter, default in (*defaulted, *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)):
        if default is not None:
            yield parameter.arg, ast.unparse(default)


def _imports(path: str, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """What an import binds, with its dotted name; a relative one begins with a dot, from the root of the tree on."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
        return
    module = node.module or ""
    if node.level:
        folders = path.split("/")[:-1]
        around = folders[: max(0, len(folders) + 1 - node.level)]
        module = ".".join(["", *around, *filter(None, [module])])
    for alias in node.names:
        yield alias.asname or alias.name, f"{module}.{alias.name}"
