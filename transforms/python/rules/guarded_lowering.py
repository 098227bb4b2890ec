"""A size that a lowering of Inductor only computes with stays an expression.

    n = V.graph.sizevars.guard_int(x.get_size()[dim]) // 2      n = FloorDiv(x.get_size()[dim], 2)
    a = slice_(x, dim, 0, n)                                    a = slice_(x, dim, 0, n)

What it does: sums, differences, products and `//` of a size go, as expressions, to lowerings of operators whose
schemas take a SymInt there (`slice_`, of `aten.slice`). `//` is written as Inductor writes it: `FloorDiv`.

Why: `guard_int` makes the size a number: what is compiled serves that one alone, and an unknown size is refused. Where
a comparison, a loop or Python itself needs the number, the guard stays.

Fix safety: review.

References: torch/_inductor/sizevars.py (guard_int), torch/utils/_sympy/functions.py (FloorDiv).
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.plain_arguments import takes_size
from transforms.python.writing.bindings import imported_names
from transforms.python.writing.logic import Undecided
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "guarded-lowering"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 25
_HEAD = (
    "from torch._inductor.lowering import register_lowering\nfrom torch.utils._sympy.functions import FloorDiv\n"
    "@register_lowering(aten.slice)\ndef slice_(x, dim, start, end):\n    return x\n"
    "@register_lowering(aten.f)\ndef f(x):\n"
)
EXAMPLES = (
    Example(
        f"{_HEAD}    n = V.graph.sizevars.guard_int(x.get_size()[0])\n"
        "    return [slice_(x, 0, i, i + 1) for i in range(n)]\n",
        None,
        "a loop counts with the number",
    ),
    Example(
        f"{_HEAD}    n = V.graph.sizevars.guard_int(x.get_size()[0]) // 2\n    return slice_(x, 0, n, n * 2)\n",
        f"{_HEAD}    n = FloorDiv(x.get_size()[0], 2)\n    return slice_(x, 0, n, n * 2)\n",
    ),
)

MESSAGE = "a lowering makes a number of a size"
DIVISION = "FloorDiv"
_NO_SIZE = re.compile(r"^(?:dims?|axis|axes|d)$")
_COMPUTED = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)


def rewrite(place: Place) -> Rewrite | None:
    """The expressions without the guard; a refusal where something needs the number."""
    node = place.site.node
    if place.site.kind != "guarded" or not isinstance(node, ast.Call):
        return None
    if not place.names.sympy or (isinstance(node.args[0], ast.Name) and _NO_SIZE.search(node.args[0].id)):
        return Rewrite(Level.MANUAL, MESSAGE)  # nothing is said of it
    whole, *uses = _expressions(place, node, set())
    if any(map(_divides, uses)):
        raise Undecided("what is computed of the number below divides it")
    if _divides(whole) and DIVISION not in imported_names(place.names.top.body):
        raise Undecided(f"Inductor divides with {DIVISION}, which this file does not import")
    new = ast.unparse(_Symbolic(node).visit(copy.deepcopy(whole)))
    return Rewrite(Level.REVIEW, MESSAGE, (Change(place.layout.start(whole), place.layout.end(whole), new),))


def _expressions(place: Place, part: ast.expr, followed: set[str]) -> Iterator[ast.expr]:
    """The widest arithmetic around a value, and around each use of the variable that holds it.

    Raises Undecided where something else is done with one.
    """
    while isinstance(holder := place.around(part), ast.BinOp) and isinstance(holder.op, _COMPUTED):
        other = holder.right if holder.left is part else holder.left
        if not (isinstance(other, ast.Constant) and type(other.value) is int):
            raise Undecided(f"what `{ast.unparse(other)}` holds is not seen here")
        part = holder
    yield part
    if isinstance(holder, ast.Assign) and len(holder.targets) == 1 and isinstance(holder.targets[0], ast.Name):
        name = holder.targets[0].id
        uses = [n for n in ast.walk(place.function) if isinstance(n, ast.Name) and n.id == name]
        loads = [use for use in uses if isinstance(use.ctx, ast.Load)]
        if len(uses) - len(loads) != 1 or any(place.around(use) is None for use in loads) or name in followed:
            raise Undecided(f"`{name}` is set more than once, or a function inside reads it")
        for use in loads:
            yield from _expressions(place, use, followed | {name})
        return
    argument: ast.AST | None = part
    if isinstance(holder, (ast.List, ast.Tuple)):
        argument, holder = holder, place.around(holder)
    if isinstance(holder, ast.keyword):
        argument, holder = holder, place.around(holder)
    if not isinstance(holder, ast.Call) or not _takes(place, holder, argument):
        asked = holder if isinstance(holder, (ast.Call, ast.Compare)) else part
        raise Undecided(f"`{ast.unparse(asked)}` may need the number")


def _takes(place: Place, call: ast.Call, argument: ast.AST | None) -> bool:
    """Whether a call is one of a lowering of this file, of operators that take a symbolic size for that argument."""
    if not isinstance(call.func, ast.Name) or any(isinstance(given, ast.Starred) for given in call.args):
        return False
    header = rf"(?m)^@register_lowering\(([^)]*)\)\s*^(?:@.*\s*^)*def {re.escape(call.func.id)}\("
    registered = re.search(header, place.names.top.source.decode("utf-8", "replace"))
    operators = re.findall(r"\baten\.(\w+)", registered[1]) if registered else []
    where = argument.arg if isinstance(argument, ast.keyword) else [*map(id, call.args)].index(id(argument))
    return bool(operators) and where is not None and all(takes_size(operator, where) for operator in operators)


def _divides(part: ast.expr) -> bool:
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv) for node in ast.walk(part))


class _Symbolic(ast.NodeTransformer):
    """Writes the arithmetic around a guard for expressions, and the guard as what it is given."""

    def __init__(self, guard: ast.Call) -> None:
        self._guard = ast.dump(guard)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """The guard's argument; other calls as they are."""
        return node.args[0] if ast.dump(node) == self._guard else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """`//` by its function."""
        self.generic_visit(node)
        return ast.Call(ast.Name(DIVISION), [node.left, node.right], []) if isinstance(node.op, ast.FloorDiv) else node
