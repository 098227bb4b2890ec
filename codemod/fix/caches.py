"""Caches: what an object keeps for the size that it met last is made anew wherever it is compiled.

    if self.table.shape[0] != n:           if torch.compiler.is_compiling() or self.table.shape[0] != n:
        self.table = rows(n)                   self.table = rows(n)

    if self.table.size(0) >= n:            if not torch.compiler.is_compiling() and self.table.size(0) >= n:
        return self.table[:n]                  return self.table[:n]
    self.table = rows(n)                   self.table = rows(n)

What is compiled asks for the size that is kept, and so serves that one alone, and is compiled again for each that is
more. What is made for a size is what was kept for it, where it is no state: nothing else of the class changes it, and
it is made of nothing random and not of what was kept before. Whether it is the same, a run has to show.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from codemod.fix.calls import name_of
from codemod.fix.nodes import asks_on, end_of, offset
from codemod.fix.torch_names import COMPILING, parsed_with_torch
from codemod.model.edits import Edit

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_FIRST = re.compile(r"__init__|reset\w*|_reset\w*|setup|__setstate__")
"""Methods that set what is kept before any size is met."""
_OTHERWISE = re.compile(r"rand\w*|bernoulli\w*|multinomial|normal\w*|uniform\w*|poisson|drop\w*|[A-Z]\w*|print")
"""Calls that give something else each time, or an object that is no Tensor."""


def cache_at(path: str, source: bytes, line: int) -> tuple[Edit, ...]:
    """The edits of `path` that make anew what is kept for a size that `line` asks for; none where it keeps no such."""
    if (found := parsed_with_torch(path, source)) is None:
        return ()
    tree, torch = found
    compiled = f"{torch.spelled(COMPILING)} or ".encode()
    eager = f"not {torch.spelled(COMPILING)} and ".encode()
    lines = source.splitlines(keepends=True)
    for owner in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        for block, index in _branches(owner, line):
            branch = block[index]
            assert isinstance(branch, ast.If)
            start = offset(lines, branch.test.lineno, branch.test.col_offset)
            end = end_of(lines, branch.test)
            plain = not isinstance(branch.test, (ast.IfExp, ast.NamedExpr, ast.Lambda))
            behind = block[index + 1 :] if isinstance(branch.body[-1], ast.Return) else []
            if _makes(branch.orelse or behind, branch, owner):  # what fits may be converted, and is kept
                if plain and not isinstance(branch.test, ast.BoolOp):
                    return (Edit(path, start, start, b"", eager), *torch.imported)
                return (
                    Edit(path, start, start, b"", eager + b"("),
                    Edit(path, end, end, b"", b")"),
                    *torch.imported,
                )
            if plain and _makes(branch.body, branch, owner):
                return (Edit(path, start, start, b"", compiled), *torch.imported)
    return ()


def _branches(owner: ast.ClassDef, line: int) -> Iterator[tuple[list[ast.stmt], int]]:
    """The branches that ask something on `line`, each as its block and its place there."""
    for node in ast.walk(owner):
        for block in filter(None, (getattr(node, name, None) for name in ("body", "orelse", "finalbody"))):
            for index, statement in enumerate(block if isinstance(block, list) else []):
                if isinstance(statement, ast.If) and asks_on(statement, line):
                    yield block, index


def _makes(statements: Sequence[ast.stmt], branch: ast.If, owner: ast.ClassDef) -> bool:
    """Whether statements make anew what the test of `branch` reads, of nothing but what is at hand."""
    made = {name: place for name, place in _stored(statements) if name in _read(branch.test)}
    nodes = [node for statement in statements for node in ast.walk(statement)]
    if not made or any(_OTHERWISE.fullmatch(name_of(node)) for node in nodes if isinstance(node, ast.Call)):
        return False
    if any(name in made and place < made[name] for name, place in _loaded(nodes)):
        return False  # made of what was kept before
    inside = {id(node) for statement in (*statements, branch) for node in ast.walk(statement)}
    methods = [m for m in owner.body if isinstance(m, _FUNCTIONS) and not _FIRST.fullmatch(m.name)]
    others = (node for method in methods for node in ast.walk(method) if id(node) not in inside)
    return not any(_changed(node) in made for node in others)


def _stored(statements: Sequence[ast.stmt]) -> Iterator[tuple[str, tuple[int, int]]]:
    """The attributes of `self` that are assigned, the last first, each with the place behind its assignment."""
    for node in (node for statement in reversed(statements) for node in reversed(list(ast.walk(statement)))):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for part in getattr(target, "elts", [target]):
                    if name := _own(part):
                        yield name, (node.end_lineno or 0, node.end_col_offset or 0)


def _loaded(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, tuple[int, int]]]:
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and (name := _own(node)):
            yield name, (node.lineno, node.col_offset)


def _read(test: ast.expr) -> set[str]:
    """The attributes of `self` that a test reads, or asks for by name."""
    names = {_own(node) for node in ast.walk(test)}
    for node in ast.walk(test):
        match node:
            case ast.Call(func=ast.Name(id="hasattr" | "getattr"), args=[ast.Name(id="self"), ast.Constant(name), *_]):
                names.add(str(name))
    return names - {""}


def _changed(node: ast.AST) -> str:
    """The attribute of `self` that a node assigns, deletes, or writes in place; "" for none."""
    match node:
        case ast.Attribute(ctx=ast.Store() | ast.Del()):
            return _own(node)
        case ast.Subscript(value=owner, ctx=ast.Store() | ast.Del()):
            return _own(owner)
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name.endswith("_"):
            return _own(owner)
    return ""


def _own(node: ast.AST) -> str:
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name
    return ""
