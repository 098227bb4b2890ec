"""A quotient that is 0 where its divisor would be is written so that one path serves every size.

    scale = (n - 1.0) / (m - 1.0) if m > 1 else 0
    →
    scale = (
        (n - 1.0) / torch.sym_max(m - 1.0, 1.0) * torch.sym_max(torch.sym_min(m - 1, 1), 0)
        if guard_or_true(m > 1)
        else 0
    )

What it does: unknown sizes take the quotient, whose divisor is at least 1, times a factor that is 1 above size 1 and
0 elsewhere.

Why: neither the quotient nor 0 is right for every size, and the choice needs an answer while tracing.

Fix safety: review. Known sizes choose as before and give the same number; unknown ones give the same number too, as a
float where the 0 was an integer.

References: torch/fx/experimental/symbolic_shapes.py (guard_or_true), torch/__init__.py (sym_max, sym_min).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.values import FLOAT, INT
from transforms.python.writing.clamps import same
from transforms.python.writing.nodes import code, parenthesized, parse_expression
from transforms.python.writing.place import Place, Rewrite

NAME = "guarded-quotient"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 155
EXAMPLES = (
    Example(
        "def f(x: Tensor, y: Tensor):\n    m = y.size(0)\n    return x.size(0) / (m - 2) if m > 2 else 0\n",
        None,
        "the divisor is 0 at another size",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n    m = y.size(0)\n    return x.size(0) / (m - 1) if m > 1 else 1\n",
        None,
        "not 0 elsewhere",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n    m = y.size(0)\n    return x / (m - 1) if m > 1 else 0\n",
        None,
        "a Tensor may hold what times 0 is not 0",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n    m = y.size(0)\n    return (x.size(0) - 1.0) / (m - 1.0) if m > 1 else 0\n",
        "def f(x: Tensor, y: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_true\n\n"
        "    m = y.size(0)\n"
        "    return (\n"
        "        (x.size(0) - 1.0)\n"
        "        / torch.sym_max(m - 1.0, 1.0)\n"
        "        * torch.sym_max(torch.sym_min(m - 1, 1), 0)\n"
        "        if guard_or_true(m > 1)\n"
        "        else 0\n"
        "    )\n",
    ),
)

MESSAGE = "a quotient is chosen by a size that it divides by"


def rewrite(place: Place) -> Rewrite | None:
    """The quotient for every size, or None for other conditional expressions."""
    choice = place.site.node
    if not isinstance(choice, ast.IfExp) or place.shared:
        return None
    quotient, size = choice.body, _above_one(choice.test)
    zero = isinstance(choice.orelse, ast.Constant) and choice.orelse.value == 0 and choice.orelse.value is not False
    if size is None or not zero or not isinstance(quotient, ast.BinOp) or not isinstance(quotient.op, ast.Div):
        return None
    divisor = quotient.right
    if not isinstance(divisor, ast.BinOp) or not isinstance(divisor.op, ast.Sub) or not same(divisor.left, size):
        return None
    least = divisor.right
    if not isinstance(least, ast.Constant) or least.value != 1 or least.value is True:
        return None
    if not place.whole(size) or place.values.value(quotient.left).kind not in (INT, FLOAT):
        return None
    largest, smallest = place.names("torch.sym_max"), place.names("torch.sym_min")
    dividend = code(parenthesized(place.tree(quotient.left)))
    divided = f"{dividend} / {largest}({code(place.tree(divisor))}, {place.text(least)})"
    factor = f"{largest}({smallest}({place.text(size)} - 1, 1), 0)"
    guard = code(place.conditions.guarded(place.tree(choice.test), True))
    new = parse_expression(f"{divided} * {factor} if {guard} else {place.text(choice.orelse)}")
    return Rewrite(Level.REVIEW, MESSAGE, place.replaced(choice, new))


def _above_one(test: ast.expr) -> ast.expr | None:
    """The variable `n` of `n > 1` or `n >= 2`; None for other conditions."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.left, ast.Name):
        return None
    bounds = {ast.Gt: 1, ast.GtE: 2}
    bound = test.comparators[0]
    exact = isinstance(bound, ast.Constant) and bound.value == bounds.get(type(test.ops[0]))
    return test.left if exact else None
