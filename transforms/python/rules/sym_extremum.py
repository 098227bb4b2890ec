"""`min` and `max` of sizes become `torch.sym_min` and `torch.sym_max`.

    k = min(m, n)      k = torch.sym_min(m, n)

What it does: the smaller of two unknown sizes is an expression; no path has to be picked.

Why: `min` compares and keeps one of its arguments, which needs an answer.

Fix safety: review. The number is the same for every known size; the guard that said which one is smaller is gone.
Left is an int beside what may be a float: torch.sym_max and torch.sym_min make a float of either.

References: torch/__init__.py (sym_min, sym_max).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.expressions import nested, unpacked_pair
from transforms.python.writing.nodes import call
from transforms.python.writing.place import Place, Rewrite

NAME = "sym-extremum"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 200
EXAMPLES = (
    Example("def f(x: Tensor, y: Tensor):\n    return min(x.dim(), y.dim())\n", None, "ranks are no symbols"),
    Example(
        "def f(x: Tensor):\n    m, n = x.shape\n    return min(m, n)\n",
        "def f(x: Tensor):\n    m, n = x.shape\n    return torch.sym_min(m, n)\n",
    ),
    Example(
        "def f(x: Tensor):\n    m, n = x.shape\n    return max(1, m, n)\n",
        "def f(x: Tensor):\n    m, n = x.shape\n    return torch.sym_max(torch.sym_max(1, m), n)\n",
    ),
    Example(
        "def f(x: Tensor):\n    m, n = x.shape\n    return max(1, 64 // max(m, n, 1))\n",
        "def f(x: Tensor):\n    m, n = x.shape\n"
        "    return torch.sym_max(1, 64 // torch.sym_max(torch.sym_max(m, n), 1))\n",
        "one inside another",
    ),
    Example(
        "def f(x: Tensor):\n    return min(x.shape[-2:])\n",
        "def f(x: Tensor):\n    return torch.sym_min(*x.shape[-2:])\n",
    ),
    Example("def f(x: Tensor):\n    return min(x.shape)\n", None, "how many there are is not written"),
    Example("def f(x: Tensor, r: float):\n    return max(x.size(0), r)\n", None, "it may be a float"),
)

MESSAGE = "the builtin compares sizes"


def rewrite(place: Place) -> Rewrite | None:
    """The nested calls, or None where the call is none of sizes alone."""
    node = place.site.node
    if place.site.kind != "extremum" or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return Rewrite(Level.MANUAL, MESSAGE, reason="the arguments are unpacked", refusal="unpacked")
    name = place.names(f"torch.sym_{node.func.id}")
    if len(node.args) == 1:
        return Rewrite(Level.REVIEW, MESSAGE, place.replaced(node, call(name, unpacked_pair(place.tree(node.args[0])))))
    operands = [place.tree(argument) for argument in node.args]
    return Rewrite(
        Level.REVIEW, MESSAGE, place.replaced(node, nested(name, operands, [*map(place.values.value, node.args)]))
    )
