"""Conversions: what makes a plain number of a size where Python runs itself, as torch.export runs it, keeps the symbol.

    rows = int(x.shape[0] * scale)     rows = torch.sym_int(x.shape[0] * scale)
    width = math.sqrt(x.shape[1])      width = torch.sym_sqrt(x.shape[1])
    index = torch.arange(len(x))       index = torch.arange(x.size(0))
    longest = int(lengths.max())       longest = torch.sym_int(lengths.max().item())

Dynamo traces the conversion; torch.export, unless it is strict, gives Python a SymInt, and `int` of it is the number of
the example (torch/__init__.py, SymInt and sym_int). Numbers and Tensors are converted as before. `len` is left but for
a parameter that is a Tensor by its annotation, where a function of torch is given the number, for which it takes a
Tensor, as torch.jit.trace makes of `size(0)`; and what a Tensor holds is read by `item()` where a reduction says that
it is one. TorchScript knows none of these functions: a file that speaks of it is left.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping

from codemod.fix.nodes import end_of, function_around, holds_line, named_parameters, offset
from codemod.fix.torch_names import TORCH, full_name, imported_names, parsed_with_torch
from codemod.model.edits import Edit

_SYMBOLIC = {"int": "torch.sym_int", "float": "torch.sym_float", "math.sqrt": "torch.sym_sqrt"}
_REDUCTIONS = frozenset({"sum", "max", "min", "prod", "mean", "amax", "amin", "argmax", "argmin", "count_nonzero"})
"""Methods that make one element of a Tensor, or of an array of numpy, both of which have `item`."""
_READ = ".item()"
_OF_TORCH = frozenset({"torch", "torch.nn.functional"})
_COUNTING = frozenset({"tensor", "as_tensor", "split", "chunk", "tensor_split", "unsafe_chunk"})
"""Functions of torch whose trace holds the number itself."""
_TENSOR = "torch.Tensor"
_SCRIPTED = re.compile(rb"\bjit\.(?:script|export|unused|ignore)|\bis_scripting\b")


def conversions_at(path: str, source: bytes, line: int) -> tuple[Edit, ...]:
    """The edits of `path` that keep symbolic what is converted on `line`; none where it converts nothing."""
    if (found := parsed_with_torch(path, source, line)) is None or _SCRIPTED.search(source):
        return ()
    tree, torch = found
    bound, names = set(_bound(tree)), imported_names(tree)
    lines = source.splitlines(keepends=True)
    edits, named = [], False
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and holds_line(node, line) and not node.keywords:
            for old, new in _symbolic(node, bound, names, tree):
                end = end_of(lines, old)
                start = end if new == _READ else offset(lines, old.lineno, old.col_offset)
                edits.append(Edit(path, start, end, source[start:end], torch.spelled(new).encode()))
                named = named or new.startswith(TORCH)
    return (*edits, *(torch.imported if named else ()))


def _symbolic(
    node: ast.Call, bound: Collection[str], names: Mapping[str, str], tree: ast.Module
) -> Iterator[tuple[ast.expr, str]]:
    """What to replace of a call that converts a number, or each element of a shape, with what; `_READ` goes behind."""
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=tensor)]) if "len" not in bound:
            if _is_tensor(tensor, function_around(tree, node), names) and _is_given_to_torch(node, tree, names):
                yield node, f"{tensor}.size(0)"
        case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id=name) as function, _]) if "map" not in bound:
            if name in _SYMBOLIC and name not in bound:
                yield function, _SYMBOLIC[name]
        case ast.Call(func=(ast.Name() | ast.Attribute()) as function, args=[number]):
            name = ast.unparse(function)
            if (
                name in _SYMBOLIC
                and name.partition(".")[0] not in bound
                and not isinstance(number, (ast.Starred, ast.Constant))
            ):
                yield function, _SYMBOLIC[name]
                if _is_reduction(number):
                    yield number, _READ


def _is_reduction(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name), args=[], keywords=[]):
            return name in _REDUCTIONS
    return False


def _is_tensor(name: str, function: ast.AST | None, names: Mapping[str, str]) -> bool:
    """Whether a name is a parameter of a function that is a Tensor by its annotation, and stays what it is."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    stored = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    given = named_parameters(function)
    typed = {each.arg for each in given if each.annotation and full_name(each.annotation, names) == _TENSOR}
    return name in typed - stored


def _is_given_to_torch(node: ast.expr, tree: ast.Module, names: Mapping[str, str]) -> bool:
    """Whether a number, or what is computed with it, is an argument of a function of torch."""
    for call in (each for each in ast.walk(tree) if isinstance(each, ast.Call)):
        owner, _, name = full_name(call.func, names).rpartition(".")
        if owner in _OF_TORCH and name not in _COUNTING:
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            while given:
                each = given.pop()
                if each is node:
                    return True
                if isinstance(each, (ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List)):
                    given += [part for part in ast.iter_child_nodes(each) if isinstance(part, ast.expr)]
    return False


def _bound(tree: ast.Module) -> Iterator[str]:
    """The names that a file gives something to, by assignments, definitions, parameters and imports of functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
