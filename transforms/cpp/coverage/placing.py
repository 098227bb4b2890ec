"""Where a library's Python says what its operators of C++ lack: the module that a fake goes into, and the edits."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from codemod.model.edits import Edit
from codemod.model.scope import beside
from codemod.model.transform import Project
from transforms.cpp.coverage.body import Body
from transforms.cpp.coverage.operators import Operator
from transforms.python.reach.reached import ELSEWHERE, TESTS
from transforms.python.reach.registrations import Registrations
from transforms.schema.schema import Schema

_LOADS = re.compile(rb"\btorch\.(?:ops|classes)\.load_library\(")
_ANNOTATIONS = {"Tensor": "torch.Tensor", "int": "int", "SymInt": "int", "float": "float", "bool": "bool"}
_LINE = 120
_BRANCHES = (ast.Try, ast.If, ast.For, ast.With)


@dataclass(frozen=True, slots=True)
class Home:
    """A module of the library that is imported with its operators."""

    path: str
    source: bytes
    guarded: bool = False
    """Whether it goes on where the operators are not there: what it does with them stands behind a question."""


class Homes:
    """The modules that fakes go into, by namespace."""

    def __init__(self, project: Project, registrations: Callable[[], Registrations], defined: Collection[str]) -> None:
        """`defined` are the operators that C++ defines: Python that adds to them is imported with them."""
        self._project = project
        self._defined = defined
        self._registrations = registrations
        self._found: dict[tuple[str, str], Home | None] = {}
        self._bound: dict[str, frozenset[str] | None] = {}
        self._loads: dict[str, Mapping[tuple[bool, bool], Sequence[str]]] = {}

    def of(self, operator: Operator) -> Home | None:
        """The module for the fakes of an operator's namespace, None where none is known to load what defines it.

        The one that registers most fakes for the namespace, else most of anything, else the one that loads the compiled
        library: with `load_library` or a function that calls it, for then it holds operators, else as a module of a
        package that has no such file of Python. Of several, one that names the namespace. Where that stands at its top
        it always happens; else, in a `try` or a branch, a fake may not be registered without asking, for one of an
        operator that is not there raises. What lies beside the library, as its examples, has operators of its own only.
        """
        place = operator.name.partition("::")[0], beside(operator.path)
        if place not in self._found:
            self._found[place] = self._find(f"{place[0]}::", place[1])
        return self._found[place]

    def _find(self, prefix: str, kind: str) -> Home | None:
        counts: Counter[str] = Counter()
        registered = self._registrations()
        for definition, roles in registered.roles.items():
            for role in roles:
                mine = role.operator.startswith(prefix) and role.operator in self._defined
                top = "." not in definition.function.name
                if mine and top and not role.opaque and not _apart(definition.path, kind):
                    counts[definition.path] += 1000 if role.kind == "fake" else 1
        for path in sorted(counts, key=lambda path: (-counts[path], path)):
            if _readable(source := self._project.read(path)):
                return Home(path, source)
        asked = re.compile(rb"\bops\.%s\b" % prefix.removesuffix("::").encode())
        if kind not in self._loads:
            self._loads[kind] = self._loading(kind)
        found = self._loads[kind]
        for loads, always in ((True, True), (True, False), (False, True), (False, False)):
            homes = [Home(path, self._project.read(path), guarded=not always) for path in found[loads, always]]
            if homes:
                return next((home for home in homes if asked.search(home.source)), homes[0])
        return None

    def _loading(self, kind: str) -> Mapping[tuple[bool, bool], Sequence[str]]:
        """The modules that load a library of operators, or import a compiled module, and whether they always do.

        They lie beside the library's own code as `kind` says.
        """
        tree = self._registrations().tree
        found: defaultdict[tuple[bool, bool], list[str]] = defaultdict(list)
        for path, facts in sorted(tree.facts.items()):
            if _apart(path, kind):
                continue
            source = self._project.read(path)
            loaders = {name for name, target in facts.imports if tree.located(target) in self._loaders}
            loaders |= {name for defined, name in self._loaders if defined == path}
            compiled = [name for name, target in facts.imports if name.isidentifier() and self._is_compiled(target)]
            loads = bool(loaders) or _LOADS.search(source) is not None
            module = _parsed(source) if loads or compiled else []
            for always, statements in ((True, module), (False, _below_top(module))):
                texts = _calls_and_imports(source, statements)
                if loads and any(_loads(text, loaders) for text in texts):
                    found[True, always].append(path)
                elif any(re.search(rb"\b%s\b" % name.encode(), text) for name in compiled for text in texts):
                    found[False, always].append(path)
        return found

    def _is_compiled(self, target: str) -> bool:
        """Whether a dotted name is a module of a package of the tree that no file of Python is."""
        tree = self._registrations().tree
        package, name = tree.located(target)
        if not name or "." in name or not package.endswith("__init__.py"):
            return False
        if package not in self._bound:
            self._bound[package] = _bound_in(self._project.read(package), tree.module_name(package))
        bound = self._bound[package]
        return bound is not None and name not in bound

    @functools.cached_property
    def _loaders(self) -> frozenset[tuple[str, str]]:
        """The functions that call `load_library`, as (path, name)."""
        found: set[tuple[str, str]] = set()
        for path in self._registrations().tree.facts:
            source = self._project.read(path)
            if _LOADS.search(source):
                lines = source.splitlines()
                functions = [node for node in _parsed(source) if isinstance(node, ast.FunctionDef)]
                bodies = ((node.name, b"\n".join(lines[node.lineno : node.end_lineno])) for node in functions)
                found.update((path, name) for name, body in bodies if _LOADS.search(body))
        return frozenset(found)


def _loads(statement: bytes, loading: Collection[str]) -> bool:
    """Whether a statement calls `load_library`, or one of the functions `loading`, which call it."""
    if b"load_library(" in statement:
        return True
    return any(re.search(rb"(?<![\w.])%s\(" % re.escape(name.encode()), statement) for name in loading)


def _below_top(module: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements of a module that stand in a `try` or a branch, and in no function."""
    pending, below = list(module), list[ast.stmt]()
    while pending:
        inner = [child for node in pending if isinstance(node, _BRANCHES) for child in ast.iter_child_nodes(node)]
        pending = [child for child in inner if isinstance(child, ast.stmt)]
        below += pending
    return below


def _calls_and_imports(source: bytes, statements: Sequence[ast.stmt]) -> list[bytes]:
    """The text of each import and call among statements, also of one whose result is given to something."""
    lines = source.splitlines()
    kinds = (ast.Expr, ast.Import, ast.ImportFrom)
    made = [n for n in statements if isinstance(n, kinds) or isinstance(getattr(n, "value", None), ast.Call)]
    return [b"\n".join(lines[n.lineno - 1 : n.end_lineno]) for n in made]


def _parsed(source: bytes) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError):
        return []


def _apart(path: str, kind: str) -> bool:
    return beside(path) != kind or TESTS.search(path) is not None or ELSEWHERE.search(f"/{path}") is not None


def _bound_in(source: bytes, package: str) -> frozenset[str] | None:
    """The names that the file of a package binds, other than by importing a module of that name from itself.

    None where it may have any: with a `__getattr__`, or where it puts another object in its own place.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    bound: set[str] = set()
    for node in ast.walk(module):
        match node:
            case ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef():
                bound.add(node.name)
            case ast.Subscript(value=ast.Attribute(attr="modules"), ctx=ast.Store()):
                return None
            case ast.Name(ctx=ast.Store()):
                bound.add(node.id)
            case ast.ImportFrom():
                if not (node.module == package if not node.level else node.level == 1 and not node.module):
                    bound.update(alias.asname or alias.name for alias in node.names)
    return None if bound & {"__getattr__", "*"} else frozenset(bound)


def _readable(source: bytes) -> bool:
    return bool(_parsed(source))


def edits_of(operator: str, schema: Schema, body: Body, home: Home) -> tuple[Edit, ...]:
    """The fake at the end of its module, with the import of torch where that has none."""
    newline = "\r\n" if b"\r\n" in home.source else "\n"
    statements = ast.parse(home.source).body
    end = len(home.source)
    missing = "" if home.source.endswith(b"\n") else newline
    lines = lines_of(operator, schema, body, _guarded_name(operator, home.source) if home.guarded else "_")
    if home.guarded:
        namespace, _, name = operator.partition("::")
        guard = f'if hasattr(torch.ops.{namespace}, "{name.partition(".")[0]}"):'
        lines = [guard, *(f"    {line}" if line else "" for line in lines)]
    text = missing + newline * 2 + newline.join(lines) + newline
    edits = [Edit(home.path, end, end, b"", text.encode())]
    if not any(isinstance(node, ast.Import) and any(a.name == "torch" and not a.asname for a in node.names)
               for node in statements):  # fmt: skip
        edits.insert(0, _with_torch(home, statements, newline))
    return tuple(edits)


def _with_torch(home: Home, statements: Sequence[ast.stmt], newline: str) -> Edit:
    """`import torch` behind the imports of the standard library, before all others."""
    offset, after = 0, newline
    lines = home.source.splitlines(keepends=True)
    for node in statements:
        documents = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        standard = isinstance(node, (ast.Import, ast.ImportFrom)) and _standard(node)
        if not (documents or standard):
            first = min(d.lineno for d in (*getattr(node, "decorator_list", ()), node))
            offset = sum(map(len, lines[: first - 1]))
            others = isinstance(node, (ast.Import, ast.ImportFrom)) and not _own(node, home.path)
            after = "" if others else newline
            break
    return Edit(home.path, offset, offset, b"", f"import torch{newline}{after}".encode())


def _standard(node: ast.Import | ast.ImportFrom) -> bool:
    name = node.names[0].name if isinstance(node, ast.Import) else (node.module or "")
    return not getattr(node, "level", 0) and name.partition(".")[0] in {*sys.stdlib_module_names, "__future__"}


def _own(node: ast.Import | ast.ImportFrom, path: str) -> bool:
    name = node.names[0].name if isinstance(node, ast.Import) else (node.module or "")
    return bool(getattr(node, "level", 0)) or name.partition(".")[0] in re.split(r"[/.]", path)


def _guarded_name(operator: str, source: bytes) -> str:
    """What the fake behind an `if` is called: mypy takes two that are called `_` for overloads it cannot merge."""
    name = f"_{re.sub(r'[^a-zA-Z0-9_]', '_', operator.partition('::')[2]).lstrip('_')}_fake"
    return "_" if re.search(rf"\b{name}\b".encode(), source) else name


def lines_of(operator: str, schema: Schema, body: Body, name: str = "_") -> list[str]:
    """The lines of the fake, a function called `name`."""
    parameters: list[str] = []
    kinds = {argument.plain_type for argument in schema.arguments}
    annotated = kinds <= _ANNOTATIONS.keys()
    for argument in schema.arguments:
        if argument.kwarg_only and "*" not in parameters:
            parameters.append("*")
        kind = f": {_ANNOTATIONS[argument.plain_type]}" if annotated else ""
        default = _default(argument.default)
        parameters.append(argument.name + kind + (f"{' = ' if kind else '='}{default}" if default else ""))
    returns = ""
    if annotated:
        results = [_ANNOTATIONS.get(item.plain_type, "") for item in schema.returns]
        if results and all(results):
            returns = f" -> {results[0]}" if len(results) == 1 else f" -> tuple[{', '.join(results)}]"
    head = f"def {name}({', '.join(parameters)}){returns}:"
    heads = [head] if len(head) <= _LINE else [f"def {name}(", *(f"    {p}," for p in parameters), f"){returns}:"]
    body = body.needed()
    imports = ["from torch.fx.experimental.symbolic_shapes import sym_eq", ""] if "sym_eq" in body.names else []
    texts = [f"    {line}" if line else "" for line in (*imports, *body.written())]
    return [f'@torch.library.register_fake("{operator}")', *heads, *texts]


def _default(written: str) -> str:
    """A default of a schema as Python has it: `mean` stands for a number that a fake does not ask for."""
    if not written:
        return ""
    if re.fullmatch(r"None|True|False|-?\d+(?:\.\d*)?(?:e-?\d+)?|'[^'\\]*'|\"[^\"\\]*\"", written):
        return written.replace("'", '"')
    inner = re.fullmatch(r"\[([-\d., ]*)\]", written)
    return f"({inner[1]},)" if inner is not None and inner[1] else "()" if inner is not None else "None"
