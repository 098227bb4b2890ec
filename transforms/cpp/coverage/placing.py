"""Where a library's Python says what its operators of C++ lack: the module that a fake goes into, and the edits."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from codemod.model.edits import Edit
from codemod.model.transform import Project
from transforms.cpp.coverage.body import Body
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
        self._found: dict[str, Home | None] = {}

    def of(self, operator: str) -> Home | None:
        """The module for the fakes of an operator's namespace, None where none is known to load what defines it.

        The one that registers most fakes for the namespace, else most of anything, else the one that loads the compiled
        library: with `load_library`, or as a module of a package that has no such file of Python. Where that stands
        at its top it always happens; else, in a `try` or a branch, a fake may not be registered without asking, for one
        of an operator that is not there raises.
        """
        namespace = operator.partition("::")[0]
        if namespace not in self._found:
            self._found[namespace] = self._find(f"{namespace}::")
        return self._found[namespace]

    def _find(self, prefix: str) -> Home | None:
        counts: Counter[str] = Counter()
        registered = self._registrations()
        for definition, roles in registered.roles.items():
            for role in roles:
                mine = role.operator.startswith(prefix) and role.operator in self._defined
                top = "." not in definition.function.name
                if mine and top and not role.opaque and not _apart(definition.path):
                    counts[definition.path] += 1000 if role.kind == "fake" else 1
        for path in sorted(counts, key=lambda path: (-counts[path], path)) or self._loading(_at_top):
            source = self._project.read(path)
            if _readable(source):
                return Home(path, source)
        below = next(iter(self._loading(_below_top)), None)
        return Home(below, self._project.read(below), guarded=True) if below is not None else None

    def _loading(self, statements: Callable[[bytes], list[bytes]]) -> list[str]:
        """The modules that load the compiled library in those of their `statements`."""
        tree = self._registrations().tree
        compiled: list[str] = []
        for path, facts in sorted(tree.facts.items()):
            if _apart(path) or path.rpartition("/")[2] == "setup.py":
                continue
            source = self._project.read(path)
            if _LOADS.search(source) and any(b"load_library" in statement for statement in statements(source)):
                return [path]
            imported = b"\n".join(statements(source)) if facts.imports else b""
            for name, target in facts.imports:
                if not name.isidentifier() or not re.search(rb"\b%s\b" % name.encode(), imported):
                    continue
                package, name = tree.located(target)
                if not name or "." in name or not package.endswith("__init__.py"):
                    continue
                if not _defines(self._project.read(package), tree.module_name(package), name):
                    compiled.append(path)
        return list(dict.fromkeys(compiled))


def _at_top(source: bytes) -> list[bytes]:
    """The statements of a module that always run: imports and calls that no branch, `try` or function holds."""
    return _calls_and_imports(source, _parsed(source))


def _below_top(source: bytes) -> list[bytes]:
    """The imports and calls of a module that stand in a `try` or a branch, and in no function."""
    pending, below = _parsed(source), []
    while pending:
        inner = [child for node in pending if isinstance(node, _BRANCHES) for child in ast.iter_child_nodes(node)]
        pending = [child for child in inner if isinstance(child, ast.stmt)]
        below += pending
    return _calls_and_imports(source, below)


def _calls_and_imports(source: bytes, statements: Sequence[ast.stmt]) -> list[bytes]:
    lines = source.splitlines()
    kinds = (ast.Expr, ast.Import, ast.ImportFrom)
    return [b"\n".join(lines[n.lineno - 1 : n.end_lineno]) for n in statements if isinstance(n, kinds)]


def _parsed(source: bytes) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError):
        return []


def _apart(path: str) -> bool:
    return TESTS.search(path) is not None or ELSEWHERE.search(f"/{path}") is not None


def _defines(source: bytes, package: str, name: str) -> bool:
    """Whether the file of a package binds `name`, other than by importing a module of that name from itself."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):
        return True
    for node in ast.walk(module):
        match node:
            case ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef() if node.name == name:
                return True
            case ast.Name(ctx=ast.Store()) if node.id == name:
                return True
            case ast.ImportFrom(names=names) if any((a.asname or a.name) in (name, "*") for a in names):
                if not (node.module == package if not node.level else node.level == 1 and not node.module):
                    return True
    return False


def _readable(source: bytes) -> bool:
    return bool(_parsed(source))


def edits_of(operator: str, schema: Schema, body: Body, home: Home) -> tuple[Edit, ...]:
    """The fake at the end of its module, with the import of torch where that has none."""
    newline = "\r\n" if b"\r\n" in home.source else "\n"
    statements = ast.parse(home.source).body
    end = len(home.source)
    missing = "" if home.source.endswith(b"\n") else newline
    lines = lines_of(operator, schema, body)
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


def lines_of(operator: str, schema: Schema, body: Body) -> list[str]:
    """The lines of the fake."""
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
    head = f"def _({', '.join(parameters)}){returns}:"
    heads = [head] if len(head) <= _LINE else ["def _(", *(f"    {p}," for p in parameters), f"){returns}:"]
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
