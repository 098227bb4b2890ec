"""Reads what releases of torch have from the files beside this one, which tests/corpus/read_releases.py makes.

Each is gzipped text of UTF-8. Its first line names the kind of its rows and the versions that were read, oldest first.
Each further line is a row: a mask in hexadecimal digits, whose bit N says that version N has the row (empty: all have
it), and the row's fields, tabs between them. Rows of the same key are in the order in which the release has them.

    functions   name, namespaces and classes around it, the class that it belongs to (`=`: the last of those), flags
                (`t` template, `d` defined), type of the result; then a field for each parameter: its type, after `=`
                where it has a default
    operators   schema, `c` where it is CompositeImplicitAutograd and nothing else
    names       `macro` and its name; or `alias`, name and type
    python      a module of SOURCES, and the name of a function or method
"""

from __future__ import annotations

import ast
import gzip
import re
import zlib
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Literal

from codemod.errors import SymfixError
from transforms.releases.version import Release, release
from transforms.schema.native_functions import COMPOSITE_IMPLICIT, NativeFunction
from transforms.schema.schema import parse_schema

Kind = Literal["functions", "operators", "names", "python"]
KINDS: tuple[Kind, ...] = ("functions", "operators", "names", "python")
_FIELDS = {"functions": 6, "operators": 3, "names": 3, "python": 3}
MAGIC = "symfix-releases 1"
SOURCES = {
    "torch": "torch/__init__.py",
    "compiler": "torch/compiler/__init__.py",
    "symbolic_shapes": "torch/fx/experimental/symbolic_shapes.py",
    "sizevars": "torch/_inductor/sizevars.py",
    "PythonPrinter": "torch/utils/_sympy/printers.py",
}
"""The file of each module whose functions are rows of `python`; of `sizevars` and of PythonPrinter they are methods."""
FUNCTION = "torch."
"""What stands before the functions of torch/__init__.py among the names that a PyTorch has."""
_DECORATORS: dict[str, Release] = {"mark_dynamic": (2, 1), "mark_unbacked": (2, 5)}
"""The first release that has a function in torch/_dynamo/decorators.py, whose functions are no rows."""
_BESIDE = {"_sym_sqrt": "sym_sqrt", "sym_float": "SymFloat"}
"""By a function of torch/__init__.py what it has with it and is no row: a second name that it assigns, a class."""
_LASTING = ("torch", "compiler", "symbolic_shapes")
PRINTS_CHOICES = "PythonPrinter._print_Piecewise"
"""What a guard takes in which `torch.sym_ite` stands: without it the guard's text is no Python, and compiling fails."""
_FUNCTION = re.compile(r"^def (\w+)", re.M)
_METHOD = re.compile(r"^    def (\w+)", re.M)
_PRINTER = re.compile(r"^class PythonPrinter\b(?:.*\n)(?:[ \t].*\n|\n)*", re.M)


def path_of(kind: Kind) -> Path:
    """The file with the rows of a kind."""
    return Path(__file__).with_name(f"{kind}.gz")


def decode(content: bytes, kind: Kind, name: str) -> tuple[tuple[str, ...], list[str]]:
    """The versions, oldest first, and the rows with their masks. Raises SymfixError, calling the file `name`."""
    try:
        head, *rows = gzip.decompress(content).decode("utf-8").removesuffix("\n").split("\n")
        versions = tuple(head.removeprefix(f"{MAGIC} {kind} ").split(" "))
        numbers = [release(version) for version in versions]
        if not head.startswith(f"{MAGIC} {kind} ") or None in numbers or numbers != sorted(set(filter(None, numbers))):
            raise ValueError("its first line is another")
        fields = _FIELDS[kind]
        for row in rows:
            if row.count("\t") < fields - 1:
                raise ValueError(f"row {row[:40]!a}")
        for mask in {row.partition("\t")[0] for row in rows}:
            if mask and not 0 < int(mask, 16) < 1 << len(versions):
                raise ValueError(f"mask {mask[:40]!a}")
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise SymfixError(f"{name}: the vocabulary is damaged ({error}); install symfix again") from error
    return versions, rows


def _read(kind: Kind) -> tuple[tuple[str, ...], list[str]]:
    path = path_of(kind)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SymfixError(f"{path}: cannot be read ({error.strerror}); install symfix again") from error
    return decode(content, kind, str(path))


@cache
def _python() -> tuple[tuple[str, ...], list[str]]:
    return _read("python")


@cache
def releases() -> tuple[Release, ...]:
    """The releases that symfix has the vocabulary of, oldest first."""
    return tuple(filter(None, map(release, _python()[0])))


def rows(kind: Kind, number: Release) -> list[str]:
    """The rows that a release has, each with its fields behind tabs: one of `releases()`."""
    versions, lines = _python() if kind == "python" else _read(kind)
    bit = 1 << [release(version) for version in versions].index(number)
    masks = {line.partition("\t")[0] for line in lines}
    wanted = {mask for mask in masks if not mask or int(mask, 16) & bit}
    return [row for mask, _, row in (line.partition("\t") for line in lines) if mask in wanted]


def operators(number: Release, names: Collection[str]) -> list[NativeFunction]:
    """The operators of those base names that a release has; of their kernels only the implicit composites are known."""
    made = []
    for row in rows("operators", number):
        written, _, composite = row.partition("\t")
        if base_name(written) in names:
            schema = parse_schema(written)
            made.append(NativeFunction(schema, 0, ((COMPOSITE_IMPLICIT, schema.cpp_name),) if composite else ()))
    return made


def base_name(schema: str) -> str:
    """The name of an operator, without namespace and overload, from its schema as written."""
    return schema.partition("(")[0].partition(".")[0].rpartition("::")[2]


def names_in(module: str, text: str) -> list[str]:
    """The functions or methods that the text of the file of a module of SOURCES has, in order."""
    if module == "PythonPrinter":
        printer = _PRINTER.search(text)
        return _METHOD.findall(printer[0]) if printer is not None else []
    return (_METHOD if module == "sizevars" else _FUNCTION).findall(text)


def generated(module: ast.Module) -> Iterator[str]:
    """The names that loops at the top of a module make of constants: `_sym_{name}` for each of a tuple."""
    for loop in module.body:
        if not (isinstance(loop, ast.For) and isinstance(loop.iter, ast.Tuple) and isinstance(loop.target, ast.Name)):
            continue
        for written in (node for node in ast.walk(loop) if isinstance(node, ast.JoinedStr)):
            for item in loop.iter.elts:
                parts = [part.value if isinstance(part, ast.Constant) else getattr(item, "value", None)
                         for part in written.values]  # fmt: skip
                if all(isinstance(part, str) for part in parts):
                    yield "".join(map(str, parts))


def bound_in(path: str, source: bytes) -> frozenset[str]:
    """What torch/__init__.py, at `path`, defines, assigns, generates or imports; nothing if it is broken."""
    try:
        module = ast.parse(source, path)
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    defined = (node.name for node in module.body if isinstance(node, (ast.FunctionDef, ast.ClassDef)))
    targets = (target for node in module.body if isinstance(node, ast.Assign) for target in node.targets)
    assigned = (target.id for target in targets if isinstance(target, ast.Name))
    imports = (node for node in ast.walk(module) if isinstance(node, ast.ImportFrom))
    brought = (alias.asname or alias.name for node in imports for alias in node.names)
    return frozenset((*defined, *assigned, *generated(module), *brought))


def python_names(number: Release, module: str) -> frozenset[str]:
    """The functions or methods that a release has in a module of SOURCES, and what is beside them."""
    fields = (row.split("\t") for row in rows("python", number))
    names = {name for place, name in fields if place == module}
    beside = (_BESIDE[name] for name in names & _BESIDE.keys()) if module == "torch" else ()
    return frozenset(names.union(beside))


@cache
def since() -> dict[str, Release]:
    """The first release from which on all have a function of torch, or of its symbolic_shapes, in the same module.

    The same of PRINTS_CHOICES, which is asked for by that name, and of the marks of torch/_dynamo/decorators.py.
    Left out are those that the oldest has already, and those that the newest has no longer.
    """
    numbers = releases()
    modules = [[python_names(number, module) for number in numbers] for module in _LASTING]
    owner, _, method = PRINTS_CHOICES.partition(".")
    printers = [python_names(number, owner) & {method} for number in numbers]
    first = {f"{owner}.{name}": number for name, number in _lasting(printers, numbers)}
    return {name: number for names in modules for name, number in _lasting(names, numbers)} | first | _DECORATORS


def _lasting(names: list[frozenset[str]], numbers: tuple[Release, ...]) -> Iterator[tuple[str, Release]]:
    for name in names[-1]:
        first = max((index for index, held in enumerate(names) if name not in held), default=-1) + 1
        if first:
            yield name, numbers[first]
