"""`min` and `max` of sizes become `torch.sym_min` and `torch.sym_max`.

    k = min(m, n)      k = torch.sym_min(m, n)

What it does: the smaller of two unknown sizes is an expression; no path has to be picked.

Why: `min` compares and keeps one of its arguments, which needs an answer.

Fix safety: review. The number is the same for every known size; the guard that said which one is smaller is gone.
Left is an int beside what is not known for one: torch.sym_max and torch.sym_min make a float of an int beside a float,
and take no number of numpy's. Known are sizes, what is annotated or written as an int, here or by the module or the
class at its top, and what whole arithmetic makes of them.

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
    Example("def f(self, x: Tensor):\n    return max(x.size(0), self.k)\n", None, "nothing says that it is an int"),
    Example(
        "K = 4 * 16\n\n\ndef f(x: Tensor):\n    return max(x.size(0), K)\n",
        "K = 4 * 16\n\n\ndef f(x: Tensor):\n    return torch.sym_max(x.size(0), K)\n",
    ),
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
        held = node.args[0]
        return Rewrite(
            Level.REVIEW,
            MESSAGE,
            place.replaced(node, call(name, unpacked_pair(place.tree(held), place.values.value(held)))),
        )
    operands = [place.tree(argument) for argument in node.args]
    return Rewrite(
        Level.REVIEW, MESSAGE, place.replaced(node, nested(name, operands, [*map(place.values.value, node.args)]))
    )
