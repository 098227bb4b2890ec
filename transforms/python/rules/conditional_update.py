"""A branch that only corrects a size becomes an expression.

    if (n - 1) * stride >= size:          n = torch.sym_ite((n - 1) * stride >= size, n - 1, n)
        n -= 1

What it does: `torch.sym_ite` takes both values, so that no path has to be picked.

Why: the branch needs an answer while tracing, though both outcomes are sizes that can be computed.

Fix safety: review. Known sizes give the same numbers; the guard that said which path was taken is gone.
Only for a torch whose guards can hold the choice, 2.10 and newer: older ones fail at `Piecewise`.

References: torch/__init__.py (sym_ite), torch/utils/_sympy/printers.py (PythonPrinter._print_Piecewise).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.branches import is_elif
from transforms.python.writing.nodes import code
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "conditional-update"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 130
EXAMPLES = (
    Example("def f(x: Tensor):\n    n = x.ndim\n    if n > 2:\n        n -= 1\n    return n\n", None, "no size"),
    Example(
        "def f(x: Tensor):\n    n = x.size(0)\n    if n >= x.size(1):\n        n -= 1\n    return n\n",
        "def f(x: Tensor):\n    n = x.size(0)\n    n = torch.sym_ite(n >= x.size(1), n - 1, n)\n    return n\n",
    ),
)

MESSAGE = "a branch that corrects a size is an expression"
OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


def rewrite(place: Place) -> Rewrite | None:
    """The assignment in place of the branch, or None where the branch does anything else."""
    branch = place.site.node
    if place.site.kind != "if" or not isinstance(branch, ast.If) or branch.orelse or len(branch.body) != 1:
        return None
    update = branch.body[0]
    if not isinstance(update, ast.AugAssign) or not isinstance(update.target, ast.Name) or is_elif(place, branch):
        return None
    operator = OPERATORS.get(type(update.op))
    if operator is None or not isinstance(update.value, ast.Constant) or not isinstance(update.value.value, int):
        return None
    # The values must be of one type, sym_ite takes no int beside a SymInt, and both are evaluated: neither may be None.
    target = place.values.value(update.target)
    if target.kind != "int" or target.optional or place.shared:
        return None
    name = update.target.id
    test = place.tree(branch.test)
    plain = place.dispatched and place.conditions.surely_bool(test)
    condition = code(place.conditions.symbolic(test) if plain else place.conditions.truth(test))
    text = f"{name} = {place.names('torch.sym_ite')}({condition}, {name} {operator} {place.text(update.value)}, {name})"
    return Rewrite(Level.REVIEW, MESSAGE, (Change(place.layout.start(branch), place.layout.end(branch), text),))
