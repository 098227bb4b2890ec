"""What a file calls the functions that rules need, and the import that has to be added where it calls them nothing yet.

Imports are added as the file does it: its module alias, its from-import, or an import in the function where the file
keeps away from import cycles.
"""

from __future__ import annotations

import ast
import bisect
import functools
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import TypeGuard

from transforms.python.writing.bindings import Bound, binds, bound, hidden, takes_all, torch_below
from transforms.python.writing.helpers import HELPERS, HOME, HOME_MODULE, SHAPE_HELPERS, Home
from transforms.python.writing.imports import Fits, Insertion, Written, added, added_module, extended, statement
from transforms.python.writing.logic import Undecided
from transforms.python.writing.ranks import only_arithmetic
from transforms.releases.data import PRINTS_CHOICES

MODULE = "torch.fx.experimental.symbolic_shapes"
HELPER = "<helper>"
"""Among the names that a rewrite uses: it calls a helper of the tree."""
MODULES = "import "
"""What stands before the names of modules among those that a rewrite uses."""
# What takes bools and SymBools alone, or loads sympy; a tree's helpers have nothing in its place.
SYMBOLIC_ONLY = frozenset(
    {"sym_and", "sym_or", "torch.sym_not", "torch.sym_ite", "torch.sym_min", "torch.sym_max", "torch.sym_int",
     "torch.sym_float", "torch.sym_sqrt", "torch._check"}
)  # fmt: skip
SCRIPTED_BESIDE = frozenset({"torch.sym_ite", "torch.sym_min", "torch.sym_max", "torch.sym_int", "torch.sym_float"})
"""What may stand behind `if torch.jit.is_scripting() else` where TorchScript reads the function and eager does not."""
NOT_TRACED = frozenset({"sym_eq", "expect_true"})
"""What Dynamo does not trace in a function that it inlines (torch/_dynamo/variables/torch.py)."""


class Layout:
    """Byte offsets of a file's lines and columns, its newline, and the text between two offsets."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.lines = source.splitlines(keepends=True)
        self.offsets = [0]
        for line in self.lines:
            self.offsets.append(self.offsets[-1] + len(line))
        self._line_feeds = [match.start() for match in re.finditer(rb"\n", source)]
        self.newline = "\r\n" if b"\r\n" in source[:4096] else "\n"
        self.bom = 3 if source.startswith(b"\xef\xbb\xbf") else 0

    def start(self, node: ast.expr | ast.stmt) -> int:
        """The offset of a node's first byte."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        """The offset behind a node's last byte."""
        return self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def offset(self, line: int, column: int) -> int:
        """The offset of a column, in bytes, of a line."""
        return self.offsets[line - 1] + column + (self.bom if line == 1 else 0)

    def line_of(self, offset: int) -> int:
        """The line of a byte, lines from 1."""
        return bisect.bisect_left(self._line_feeds, offset) + 1

    def line_start(self, line: int) -> int:
        """The offset of a line's first byte, lines from 1."""
        return self.offsets[line - 1]

    def line_end(self, line: int) -> int:
        """The offset behind a line's last byte before its newline."""
        return self.offsets[line - 1] + len(self.lines[line - 1].rstrip(b"\r\n"))

    def text(self, start: int, end: int) -> str:
        """The source between two offsets. Raises UnicodeDecodeError where it is no UTF-8."""
        return self.source[start:end].decode("utf-8")

    def indent(self, node: ast.stmt) -> str | None:
        """The white space before a statement, or None where something else stands before it on its line."""
        before = self.source[self.line_start(node.lineno) : self.start(node)].decode("utf-8", "replace")
        return before.removeprefix("\ufeff") if not before.strip("\ufeff \t") else None

    def unit(self, function: ast.AST) -> str:
        """By how much the body of a function is indented; four spaces where that is not to be seen."""
        body = getattr(function, "body", [])
        inner, outer = (self.indent(node) if isinstance(node, ast.stmt) else None for node in (*body[:1], function))
        return (inner or "").removeprefix(outer or "") or "    "


class TopLevel:
    """What the statements at the top of a file import and define; made once for all functions of the file.

    `modules` has the local name of each imported module, `imported_functions` that of each function of symbolic_shapes,
    `arithmetic` the names of functions that only compute, `torch` what torch is called, "" where the file never names
    it, `hidden` the builtins' names that the file gives to something else, and `body` the statements. `source`
    is the whole file.
    """

    def __init__(self, tree: ast.Module, source: bytes) -> None:
        self.body = tree.body
        self.torch = ""
        self.alias = ""
        self.imported_functions: dict[str, str] = {}
        self.modules: dict[str, str] = {}
        for node in tree.body:
            self._read_import(node)
        self.source = source
        self.torch = self.torch or torch_below(source)
        self.hidden = hidden(source)
        self.arithmetic = frozenset(
            node.name for node in tree.body if isinstance(node, ast.FunctionDef) and only_arithmetic(node)
        ) | frozenset(
            alias.asname or alias.name
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.module == "math"
            for alias in node.names
            if alias.name == "prod"
        )
        self.guards_import = next((n for n in self.body if isinstance(n, ast.ImportFrom) and n.module == MODULE), None)

    def _read_import(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname or "." not in alias.name:
                    self.modules[alias.name] = alias.asname or alias.name
                if alias.name == MODULE and alias.asname:
                    self.alias = alias.asname
                elif alias.name == "torch" or (alias.name.startswith("torch.") and not alias.asname):
                    self.torch = alias.asname or self.torch or "torch"
        elif isinstance(node, ast.ImportFrom) and node.module == MODULE:
            self.imported_functions.update({alias.name: alias.asname or alias.name for alias in node.names})
        elif isinstance(node, ast.ImportFrom) and node.module == MODULE.rpartition(".")[0]:
            self.alias = next(
                (alias.asname or alias.name for alias in node.names if alias.name == "symbolic_shapes"), self.alias
            )


_GUARD = "guard", ": ask torch.compiler.is_compiling() first, if compiled code may go one way for all sizes"
_CHECK = (
    "check",
    ": call torch._check, _check_value or _check_index by what is raised, if that may cost eager a little",
)
"""What a helper of the tree would be, and what may be written by hand where none has a place."""


class NoPlace(Undecided):
    """Nothing that would do may stand in the function as it is."""


class Names:
    """The names of one function's rewrites.

    `inlined` says that Dynamo traces it. Where `eager`, TorchScript (`scripted`) or Inductor with values of `sympy` run
    the same code it is `shared`, and written with the helpers of the tree, whose place is `home`. `caught` are the
    exceptions that callers may catch.
    """

    def __init__(
        self,
        top: TopLevel,
        function: Sequence[ast.AST],
        path: str,
        *,
        inlined: bool = False,
        eager: bool = False,
        scripted: bool = False,
        sympy: bool = False,
        caught: frozenset[str] = frozenset(),
        home: Home | None = None,
    ) -> None:
        self.top = top
        self.functions = function  # the function and those it is defined in, innermost first
        self.path = path
        self.local = path.startswith("torch/")
        self.inlined = inlined
        self.shared = eager or scripted or sympy
        self.scripted = scripted and not eager
        self.caught = caught
        self.sympy = sympy
        self.home = home
        self.used: set[str] = set()

    @property
    def torch(self) -> str:
        """What torch is called where the function runs. Raises Undecided where nothing there names it."""
        name = self.top.torch
        if not name and takes_all(self.top.source) and any(scope.uses_torch for scope in self._scopes):
            name = "torch"
        for scope in self._scopes:
            if scope.torch and name in ("", scope.torch):
                return scope.torch
            if name in scope.names:
                raise Undecided(f"{name} is another thing in the function")
        if not name:
            raise Undecided("the file does not import torch: import it, then run symfix again")
        return name

    @functools.cached_property
    def _scopes(self) -> list[Bound]:
        """What the function and those around it bind, innermost first."""
        return [bound(function, MODULE) for function in self.functions]

    def check_torchs(self, function: str) -> None:
        """Raise Undecided where a dotted name that is called as a check of torch is another function."""
        owner, _, name = function.rpartition(".")
        imports = (n for n in self.top.body if isinstance(n, ast.ImportFrom) and (n.module or "").startswith("torch"))
        imported = {alias.asname or alias.name for node in imports for alias in node.names}
        roots = {"torch", self.top.torch, *imported}
        if owner.partition(".")[0] not in roots if owner else name not in imported and self.path != "torch/__init__.py":
            raise Undecided(f"{function} is no check of torch")

    def builtin(self, name: str) -> str:
        """The name of a builtin, as rules read and write it. Raises Undecided where it is something else here."""
        if name in self.top.hidden or any(name in scope.names for scope in self._scopes):
            raise Undecided(f"{name} is no builtin here")
        return name

    def _free(self, name: str, imported: bool) -> str:
        """A function of symbolic_shapes by its name. Raises Undecided where that is another thing here.

        It is either `imported` at the top of the file or about to be.
        """
        taken = any(name in scope.names and name not in scope.imported for scope in self._scopes)
        if not imported and not taken and not self.path.endswith(MODULE.replace(".", "/") + ".py"):
            read = self.module_wide or any(name in scope.read for scope in self._scopes[:1])
            taken = read and binds(self.top.body, self.top.source, name, MODULE)
        if taken:
            raise Undecided(f"{name} is another thing here")
        return name

    def module(self, name: str) -> str:
        """What the file calls a module that it imports with `import … as …`, or ""."""
        return self.top.modules.get(name, "")

    def standard(self, name: str) -> str:
        """What the file calls a module of the standard library, which an import at its head brings where none does.

        Raises Undecided where the name is another thing here.
        """
        held = self.module(name)
        taken = not held and (takes_all(self.top.source) or binds(self.top.body, self.top.source, name, name))
        if taken or any((held or name) in scope.names for scope in self._scopes):
            raise Undecided(f"{held or name} is another thing here")
        if not held and self._importing(name, Layout(self.top.source)) is None:
            raise Undecided(f"no import has a line to itself, beside which {name} is imported")
        self.used |= set() if held else {f"{MODULES}{name}"}
        return held or name

    def __call__(self, name: str) -> str:
        """How to write `name` here: `torch.x` by torch's name in the file, else a function of symbolic_shapes.

        Raises Undecided where nothing that does this may stand here.
        """
        if self.shared and name in HELPERS:
            return self._helper(HELPERS[name])
        if self.shared and name in SYMBOLIC_ONLY and not (self.scripted and name in SCRIPTED_BESIDE):
            raise Undecided(f"{self._also_run_by()} runs this function too: {name} is not for it")
        if self.inlined and name in NOT_TRACED:
            raise NoPlace(f"Dynamo, which traces this function, does not trace {name}")
        if name == "torch.sym_ite":
            self.used.add(PRINTS_CHOICES)
        if name.startswith("torch."):
            return self.torch + name[5:]
        if name in self.top.imported_functions:
            return self._free(self.top.imported_functions[name], True)
        if self.top.alias:
            return f"{self._free(self.top.alias, True)}.{name}"
        self.used.add(self._free(name, False))
        return name

    def _also_run_by(self) -> str:
        return "TorchScript" if self.scripted else "Inductor, with expressions of sympy," if self.sympy else "eager"

    def of_shapes(self, guard: str) -> str:
        """How to write `guard` of the equality of two shapes as one call here, "" where it is two."""
        return self._helper(SHAPE_HELPERS[guard]) if self.shared else ""

    def _helper(self, helper: str) -> str:
        if self.home is None:
            if self.sympy:
                raise Undecided("Inductor gives this function expressions of sympy: ask V.graph.sizevars of them")
            what, instead = _CHECK if "expect" in helper else _GUARD
            raise NoPlace(
                f"eager may run this function too, and the tree has no place for a {what} that costs it nothing"
                + (instead if self.inlined else "")
            )
        self.used.add(HELPER)
        if self.path == HOME:
            return helper
        return f"{self.module(HOME_MODULE) or f'{self.torch}._prims_common'}.{helper}"

    @property
    def module_wide(self) -> bool:
        """Whether imports go to the head of the file, where it imports symbolic_shapes already."""
        return not self.local and self.top.guards_import is not None

    def unused(self, layout: Layout, changes: Iterable[tuple[int, int, str]]) -> frozenset[str]:
        """What the only import of guards in the function's body brings for nothing but what `changes` take away.

        A change is the bytes from a start to an end and the text in their place.
        """
        function = self.functions[0]
        own = [node for node in getattr(function, "body", []) if _unaliased(node)]
        if self.module_wide or len(own) != 1 or not isinstance(function, ast.stmt):
            return frozenset()
        names = {alias.name for alias in own[0].names}
        begin, end = layout.end(own[0]), layout.end(function)
        before = after = layout.source[begin:end]
        for start, stop, text in sorted(changes, reverse=True):
            if begin <= start:
                after = after[: start - begin] + text.encode() + after[stop - begin :]
        used, left = set(re.findall(rb"\w+", before)), set(re.findall(rb"\w+", after))
        return frozenset(name for name in names if name.encode() in used - left)

    def imports(
        self, layout: Layout, used: set[str], fits: Fits, unused: frozenset[str] = frozenset()
    ) -> list[Insertion]:
        """The imports that make `used` known in the function, without what is `unused` then."""
        modules = {name for name in used if name.startswith(MODULES)}
        insertions = (self._importing(name.removeprefix(MODULES), layout) for name in sorted(modules))
        return [*filter(None, insertions), *self._guards(layout, used - modules, fits, unused)]

    def _importing(self, module: str, layout: Layout) -> Insertion | None:
        """What imports a module at the head of the file; None where no import there has a line to itself."""
        return added_module(self.top.body, module, Written(layout, self.path, "", "", bool))

    def _guards(self, layout: Layout, used: set[str], fits: Fits, unused: frozenset[str]) -> list[Insertion]:
        if not used and not unused:
            return []
        if self.module_wide and self.top.guards_import is not None:
            return extended(self.top.guards_import, used, Written(layout, self.path, "", "    ", fits))
        return self._local_import(layout, used, fits, unused)

    def _local_import(self, layout: Layout, used: set[str], fits: Fits, unused: frozenset[str]) -> list[Insertion]:
        missing = set(used)
        insertions: list[Insertion] = []
        body: list[ast.stmt] = getattr(self.functions[0], "body", [])
        first = next((node for node in body if not _docstring(node)), body[-1])
        indent = layout.indent(first)
        written = Written(layout, self.path, indent or "", layout.unit(self.functions[0]), fits)
        for depth, function in enumerate(self.functions):
            statements: list[ast.stmt] = getattr(function, "body", [])
            for index, node in enumerate(statements):
                if isinstance(node, ast.ImportFrom) and node.module == MODULE:
                    names = {alias.name for alias in node.names if not alias.asname}
                    ahead = len(_head_imports(statements)) > index - _documented(statements)
                    if ahead or depth:
                        missing -= names
                        if ahead and not depth and (missing or unused):
                            return insertions + extended(node, missing, written, unused)
                    elif names & (missing | unused) and layout.indent(node) is not None:
                        # It would come too late for what stands above it; the new import takes its place.
                        insertions += extended(node, set(), written, frozenset(names & (missing | unused)))
        if not missing:
            return insertions
        if indent is None:
            offset = layout.start(first)
            return [*insertions, Insertion(offset, offset, f"from {MODULE} import {', '.join(sorted(missing))}; ")]
        insertion = added(_head_imports(body), MODULE, missing, written)
        if insertion is None:
            offset = layout.line_start(self._head(layout, first))
            text = statement(MODULE, missing, written) + layout.newline
            gap = "" if isinstance(first, (ast.Import, ast.ImportFrom)) else layout.newline
            insertion = Insertion(offset, offset, text + gap)
        return [*insertions, insertion]

    def _head(self, layout: Layout, first: ast.stmt) -> int:
        """The line where a function's own code begins, the comments before it included."""
        line: int = min([first.lineno, *(decorator.lineno for decorator in getattr(first, "decorator_list", ()))])
        header = getattr(self.functions[0], "lineno", line)
        while layout.lines[line - 2].strip()[:1] in (b"", b"#") and line - 1 > header:
            line -= 1
        while not layout.lines[line - 1].strip():
            line += 1
        return line


def _documented(statements: Sequence[ast.stmt]) -> int:
    """How many statements at the head of a body are its docstring."""
    return sum(map(_docstring, statements[:1]))


def _unaliased(node: ast.stmt) -> TypeGuard[ast.ImportFrom]:
    """Whether a statement imports functions of symbolic_shapes by their own names."""
    return isinstance(node, ast.ImportFrom) and node.module == MODULE and not any(alias.asname for alias in node.names)


def _head_imports(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The imports that a body begins with, below its docstring."""
    imports = itertools.takewhile(
        lambda node: isinstance(node, (ast.Import, ast.ImportFrom)), statements[_documented(statements) :]
    )
    return list(imports)


def _docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
