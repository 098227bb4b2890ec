"""torch/nn/functional.py and torch/functional.py: which operators the public functions of PyTorch end in.

`torch.nn.functional.cross_entropy` returns `torch._C._nn.cross_entropy_loss(…)`: no rule of spelling tells that.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from codemod.model.records import compact
from transforms.python.flow.nodes import dotted
from transforms.python.reading.parsing import parse

MODULES = {"torch/nn/functional.py": "nn.functional.", "torch/functional.py": ""}
"""The files, with what OpInfo writes before the names of their functions."""
_ATEN = re.compile(r"^(?:torch|torch\._C\._nn|torch\._VF|_VF|torch\._C\._VariableFunctions)\.(\w+)$")


@compact
@dataclass(frozen=True, slots=True)
class PublicName:
    """A public function, and what it ends in: an operator of ATen, else another function of its file.

    `direct` says that a `return` calls it, rather than what is returned having been assigned before.
    """

    name: str
    callee: str
    operator: bool
    direct: bool


def public_names(path: str, source: bytes) -> tuple[PublicName, ...]:
    """What the functions of a file end in, and the names that are assigned in their place. Empty for broken source."""
    try:
        tree = parse(source)
    except (SyntaxError, ValueError):
        return ()
    pairs: dict[PublicName, None] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            pairs.update(dict.fromkeys(_of_function(node)))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            arguments = [*node.value.args, *(keyword.value for keyword in node.value.keywords)]
            callees = [callee for callee in map(_named, arguments) if callee is not None]
            for target in node.targets:
                if isinstance(target, ast.Name):
                    pairs.update((PublicName(target.id, *callee, direct=False), None) for callee in callees)
    return tuple(pairs)


def operators_by_function(names: Iterable[PublicName]) -> dict[str, tuple[str, ...]]:
    """The operators that each public function ends in, by way of other functions of its file too."""
    ends: dict[str, list[PublicName]] = {}
    for entry in names:
        ends.setdefault(entry.name, []).append(entry)
    return {
        name: operators for name in ends if not name.startswith("_") and (operators := tuple(_operators(name, ends)))
    }


def _operators(name: str, ends: Mapping[str, Iterable[PublicName]]) -> dict[str, None]:
    operators: dict[str, None] = {}
    seen = {name}
    pending = [name]
    while pending:
        for entry in ends.get(pending.pop(), ()):
            if entry.operator:
                operators[f"aten::{entry.callee}"] = None
            elif entry.callee not in seen:
                seen.add(entry.callee)
                pending.append(entry.callee)
    return operators


def _of_function(function: ast.FunctionDef) -> Iterator[PublicName]:
    assigned: dict[str, list[ast.expr]] = {}
    returned: list[ast.expr] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            assigned.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.Return) and node.value is not None:
            returned.append(node.value)
    for value in returned:
        direct = isinstance(value, ast.Call)
        values = assigned.get(value.id, []) if isinstance(value, ast.Name) else [value]
        for branch in (branch for value in values for branch in _branches(value)):
            callee = _named(branch.func) if isinstance(branch, ast.Call) else None
            if callee is not None and callee != (function.name, False):
                yield PublicName(function.name, *callee, direct=direct)


def _branches(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, ast.IfExp):
        yield from _branches(value.body)
        yield from _branches(value.orelse)
    else:
        yield value


def _named(node: ast.expr) -> tuple[str, bool] | None:
    """What an expression names: (operator, True), or (function of the file, False)."""
    if isinstance(node, ast.Name):
        return node.id, False
    operator = _ATEN.match(dotted(node))
    return (operator[1], True) if operator else None
