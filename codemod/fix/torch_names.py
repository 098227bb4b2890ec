"""What a file calls torch, and what is of it; where it has no name for the module, the import that gives it one."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codemod.fix.catching import parsed
from codemod.fix.nodes import holds_line, offset
from codemod.model.edits import Edit

TORCH = "torch"
COMPILING = "torch.compiler.is_compiling()"
_IMPORT = b"import torch"
_IMPORTS = (ast.Import, ast.ImportFrom)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_USUAL = {"nn": "torch.nn", "F": "torch.nn.functional"}
"""What names stand for that no import of the file gives, as `from … import *` may."""


@dataclass(frozen=True, slots=True)
class Torch:
    """The name that a file has for the module, and the edits without which it has none."""

    name: str
    imported: tuple[Edit, ...] = ()

    def spelled(self, text: str) -> str:
        """A name of torch, `torch._check`, as the file has to write it."""
        return self.name + text.removeprefix(TORCH) if text.startswith(f"{TORCH}.") else text

    def usual(self, text: str) -> str:
        """Code of the file as others write it, with `torch` for its own name."""
        return re.sub(rf"(?<![\w.]){self.name}(?=\.)", TORCH, text)


def parsed_with_torch(path: str, source: bytes, line: int = 0) -> tuple[ast.Module, Torch] | None:
    """The tree of a file, and what it calls torch; None where Python does not take it, or that is not to be told.

    With a `line`, what it is called there, which may be what a function around it imports.
    """
    tree = parsed(source)
    torch = (torch_in(path, source, tree) or _imported_around(tree, line)) if tree is not None else None
    return (tree, torch) if tree is not None and torch is not None else None


def imports_torch(edit: Edit) -> bool:
    """Whether an edit is the line that imports torch."""
    return edit.new.rstrip() == _IMPORT


def torch_in(path: str, source: bytes, tree: ast.Module) -> Torch | None:
    """What the file `path` of this tree calls torch wherever it is named; None where that is not to be told.

    A file that imports only what is of torch, `from torch import nn`, gets an import of the module beside it.
    """
    nodes = list(ast.walk(tree))
    imported = [alias for node in tree.body if isinstance(node, ast.Import) for alias in node.names]
    names = dict.fromkeys(name for alias in imported if (name := _own_name(alias)))
    if names:
        return next((Torch(name) for name in names if not any(_binds(node, name) for node in nodes)), None)
    if any((isinstance(node, ast.Name) and node.id == TORCH) or _binds(node, TORCH) for node in nodes):
        return None
    edit = _import(path, source, tree)
    return None if edit is None else Torch(TORCH, (edit,))


def _imported_around(tree: ast.Module, line: int) -> Torch | None:
    """What a function around `line` calls torch, which it imports itself, always and before; None for none."""
    around = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS) and holds_line(node, line)]
    for function in reversed(around):
        before = [node for node in function.body if isinstance(node, ast.Import) and (node.end_lineno or 0) < line]
        names = [name for node in before for alias in node.names if (name := _own_name(alias))]
        if names and not any(_binds(node, names[0]) for node in ast.walk(function)):
            return Torch(names[0])
    return None


def imported_names(tree: ast.Module) -> dict[str, str]:
    """What the names stand for that a file imports, dotted: `F` for `torch.nn.functional`."""
    names = dict(_USUAL)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                names[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            names |= {alias.asname or alias.name: f"{module}.{alias.name}" for alias in node.names}
    return names


def full_name(node: ast.expr, names: Mapping[str, str]) -> str:
    """The dotted name of a function, a module or a type, whatever `names` its file imports it by."""
    first, dot, rest = ast.unparse(node).partition(".")
    return names.get(first, first) + dot + rest


def _own_name(alias: ast.alias) -> str:
    """The name that an import gives torch itself; "" where it gives none."""
    if alias.asname is None:
        return TORCH if alias.name.partition(".")[0] == TORCH else ""
    return alias.asname if alias.name == TORCH else ""


def _binds(node: ast.AST, name: str) -> bool:
    """Whether a node may give a name to anything but torch."""
    match node:
        case ast.Name(id=bound, ctx=ast.Store() | ast.Del()) | ast.arg(arg=bound):
            return bound == name
        case ast.ImportFrom(names=names):
            return any((alias.asname or alias.name) == name for alias in names)
        case ast.alias(asname=bound, name=module) as alias:
            return (bound or module.partition(".")[0]) == name != _own_name(alias)
    return isinstance(node, _DEFINITIONS) and node.name == name


def _import(path: str, source: bytes, tree: ast.Module) -> Edit | None:
    """The edit that imports torch beside the first import of what is of it; None where there is no place for a line."""
    place = next((index for index, node in enumerate(tree.body) if _is_of_torch(node)), None)
    if place is None:
        return None
    begin = place
    while begin and isinstance(tree.body[begin - 1], _IMPORTS) and _follows(tree.body[begin - 1], tree.body[begin]):
        begin -= 1
    place = begin + _index_among(tree.body[begin : place + 1])
    node = tree.body[place]
    before = tree.body[place - 1].end_lineno if place else 0
    if node.col_offset or before == node.lineno:
        return None
    lines = source.splitlines(keepends=True)
    newline = b"\r\n" if lines[node.lineno - 1].endswith(b"\r\n") else b"\n"
    at = offset(lines, node.lineno, 0)
    return Edit(path, at, at, b"", _IMPORT + newline)


def _index_among(imports: Sequence[ast.stmt]) -> int:
    """The index of the import that one of torch goes before, of a block that ends with the first of what is of torch.

    Where all `import …` of the block come before all `from …`, as isort sorts them, that is among the former.
    """
    plain = [isinstance(node, ast.Import) for node in imports]
    count = sum(plain)
    if not count or not all(plain[:count]):
        return len(imports) - 1
    later = (n for n, node in enumerate(imports[:count]) if isinstance(node, ast.Import) and node.names[0].name > TORCH)
    return next(later, min(count, len(imports) - 1))


def _follows(first: ast.stmt, second: ast.stmt) -> bool:
    return (first.end_lineno or first.lineno) + 1 == second.lineno


def _is_of_torch(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return not node.level and (node.module or "").partition(".")[0] == TORCH
    return isinstance(node, ast.Import) and any(alias.name.partition(".")[0] == TORCH for alias in node.names)
