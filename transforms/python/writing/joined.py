"""Tensors that are joined with what is made for that, padded instead where the code is compiled.

What is made is a tensor of its own. Under torch.compile one of 0, of 1 and of more rows are three graphs, as before the
branch was gone: AOTAutograd asks each tensor for its strides (torch/_subclasses/functional_tensor.py, __new__, and
torch/_prims_common/__init__.py, is_contiguous). `F.pad` takes its amounts as numbers.
"""

from __future__ import annotations

import ast
import copy
import re

from transforms.python.flow.nodes import is_read
from transforms.python.writing.compiled import COMPILING
from transforms.python.writing.fillings import Filled
from transforms.python.writing.paddings import Padding, amount_text, may_be_less
from transforms.python.writing.place import Change, Place

REASON = (
    "a tensor of 0, of 1 and of more rows that is joined is a graph each: where torch.compiler.is_compiling(), pad "
    "with torch.nn.functional.pad, which takes any amount"
)
_SAME = re.compile(r"\d[\w.+-]*|-[\d.e+-]*[.e][\d.e+-]*|-?(?:float\(.*\)|\w+\.(?:inf|nan))")
"""A number that both fill with, or refuse: of a tensor of uint8 F.pad refuses -1, and full gives 255."""
_FORMATTED = 4
"""From so many dimensions on a tensor may be laid out by channels, which padding keeps and joining does not."""


def padded_instead(
    place: Place, branch: ast.If | ast.IfExp, asked: ast.expr, found: Padding, amount: ast.expr
) -> Change | None:
    """The path for compiled code before a branch that joins one tensor with a filling, else None.

    `amount` says by how much, for all sizes.
    """
    if not isinstance(branch, ast.If) or place.names.home is not None or place.scripted:
        return None
    indent, start = place.layout.indent(branch), place.layout.start(branch)
    if len(found.joined) != 1 or len(found.amounts) != 1 or branch.orelse or found.outliving or indent is None:
        return None
    (filled,) = found.joined
    join = next(node for node in branch.body if isinstance(node, ast.Assign) and filled.tensor in ast.walk(node.value))
    others = _others(branch.test, asked)
    named = any(isinstance(node, ast.NamedExpr) for node in ast.walk(branch.test))
    if named or place.layout.source.startswith(b"elif", start) or not all(map(is_read, others)):
        return None
    written = copy.deepcopy(amount)
    for name, value in reversed(found.held.items()):
        written = _Held(name, value).visit(written)
    if filled.behind is None or not _SAME.fullmatch(filled.number) or may_be_less(place, found, asked):
        return None
    call = _call(place, filled, amount_text(place, written))
    tests = " and ".join((f"{place.names.torch}.{COMPILING}", *map(_operand, others)))
    head = f"if {tests}:\n{indent}{place.layout.unit(place.function)}"
    return Change(start, start, f"{head}{ast.unparse(join.targets[0])} = {call}\n{indent}el")


def _others(test: ast.expr, asked: ast.expr) -> list[ast.expr]:
    """The operands of a condition that hold where its part `asked` decides."""
    if asked is test or not isinstance(test, ast.BoolOp):
        return []
    parts = [asked] if asked in test.values else getattr(asked, "values", [])
    return [value for value in test.values if value not in parts]


def _operand(node: ast.expr) -> str:
    return f"({ast.unparse(node)})" if isinstance(node, (ast.BoolOp, ast.IfExp, ast.Lambda)) else ast.unparse(node)


def _call(place: Place, filled: Filled, amount: str) -> str:
    functional = place.names.module("torch.nn.functional")
    if not functional or functional in place.values.variables:
        functional = f"{place.names.torch}.nn.functional"
    sides = (amount, "0") if filled.before else ("0", amount)
    amounts = ", ".join(("0",) * 2 * (filled.behind or 0) + sides)
    value = "" if filled.number == "0" else f", value={filled.number}"
    laid_out = "" if 0 < filled.rank < _FORMATTED else ".contiguous()"
    return f"{functional}.pad({filled.tensor.id}, ({amounts}){value}){laid_out}"


class _Held(ast.NodeTransformer):
    """Puts what a variable is given in its place."""

    def __init__(self, name: str, value: ast.expr) -> None:
        self._name = name
        self._value = value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self._value) if node.id == self._name else node
