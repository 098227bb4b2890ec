"""`int` and `float` of a size become `torch.sym_int` and `torch.sym_float`.

    n = int(x.size(0) * scale)      n = torch.sym_int(x.size(0) * scale)

What it does: the number stays symbolic. Both round towards zero as `int` does.

Why: `int` needs the number itself: an unknown size fails, a known one is baked into the graph.

Fix safety: review. The number is the same; the guard that fixed the size is gone.

References: torch/__init__.py (sym_int, sym_float).
"""

from __future__ import annotations

import ast

from codemod.findings import Level, Mode
from codemod.transform import Example, Rule
from transforms.python.logic import call
from transforms.python.place import Place, Rewrite

MESSAGE = "the conversion fixes a size"


def rewrite(place: Place) -> Rewrite | None:
    """The symbolic conversion; None for `bool`, `round` and `range`."""
    node = place.site.node
    if place.site.kind != "coercion" or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    if node.func.id not in ("int", "float") or len(node.args) != 1 or node.keywords:
        return None
    new = call(place.names(f"torch.sym_{node.func.id}"), place.tree(node.args[0]))
    return Rewrite(Level.REVIEW, MESSAGE, place.replaced(node, new))


RULE = Rule(
    "sym-cast",
    Mode.PYTHON_BRANCH,
    Level.REVIEW,
    __doc__,
    (
        Example("def f(x: Tensor):\n    return int(x.dim() / 2)\n", None, "ranks are no symbols"),
        Example(
            "def f(x: Tensor, scale: float):\n    return int(x.size(0) * scale)\n",
            "def f(x: Tensor, scale: float):\n    return torch.sym_int(x.size(0) * scale)\n",
        ),
    ),
)
