"""`int`, `float` and `math.sqrt` of a size become `torch.sym_int`, `torch.sym_float` and `torch._sym_sqrt`.

    n = int(x.size(0) * scale)      n = torch.sym_int(x.size(0) * scale)

What it does: the number stays symbolic. Both integers round towards zero.

Why: `int` needs the number itself: an unknown size fails, a known one is baked into the graph.

Fix safety: review. The number is the same; the guard that fixed the size is gone.

References: torch/__init__.py (sym_int, sym_float, _sym_sqrt).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import dotted
from transforms.python.writing.nodes import call
from transforms.python.writing.place import Place, Rewrite

NAME = "sym-cast"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 220
EXAMPLES = (
    Example("def f(x: Tensor):\n    return int(x.dim() / 2)\n", None, "ranks are no symbols"),
    Example(
        "def f(x: Tensor, scale: float):\n    return int(x.size(0) * scale)\n",
        "def f(x: Tensor, scale: float):\n    return torch.sym_int(x.size(0) * scale)\n",
    ),
    Example(
        "def f(x: Tensor):\n    return x / math.sqrt(x.size(-1))\n",
        "def f(x: Tensor):\n    return x / torch._sym_sqrt(x.size(-1))\n",
    ),
)

MESSAGE = "the conversion fixes a size"
SYMBOLIC = {"int": "torch.sym_int", "float": "torch.sym_float", "math.sqrt": "torch._sym_sqrt"}


def rewrite(place: Place) -> Rewrite | None:
    """The symbolic conversion; None for `bool`, `round` and `range`."""
    node = place.site.node
    if place.site.kind not in ("coercion", "root") or not isinstance(node, ast.Call):
        return None
    function = SYMBOLIC.get(dotted(node.func))
    if function is None or len(node.args) != 1 or node.keywords:
        return None
    new = call(place.names(function), place.tree(node.args[0]))
    return Rewrite(Level.REVIEW, MESSAGE, place.replaced(node, new))
