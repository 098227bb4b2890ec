"""`len` of a tensor becomes `size(0)`.

    n = len(x)      n = x.size(0)

What it does: `len` must return an int; `size(0)` may be a symbol.

Why: an unknown size fails in `len`, a known one is baked into the graph.

Fix safety: review. The number is the same for tensors of one dimension and more; `len` of a tensor of none raises
TypeError, `size(0)` IndexError, so that it is left where the function handles what is raised.

References: torch/_tensor.py (Tensor.__len__).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.checks import is_caught
from transforms.python.writing.logic import Undecided
from transforms.python.writing.nodes import parenthesized
from transforms.python.writing.place import Place, Rewrite

NAME = "tensor-length"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 210
EXAMPLES = (
    Example("def f(x: Tensor):\n    return len(x.shape)\n", None, "a rank"),
    Example("def f(x: list[list[Tensor]]):\n    return len(x[0])\n", None, "a list of lists holds lists"),
    Example("def f(x: Tensor | list[int]):\n    return len(x)\n", None, "may be a list"),
    Example(
        "def f(x: Tensor, n: int):\n    y = x\n    if n:\n        y = [0] + list(x)\n    return len(y)\n",
        None,
        "a list on one of the paths",
    ),
    Example(
        "def f(x: Tensor):\n    try:\n        return len(x)\n    except TypeError:\n        return 1\n",
        None,
        "a tensor of no dimension is handled",
    ),
    Example("def f(x: Tensor):\n    return len(x)\n", "def f(x: Tensor):\n    return x.size(0)\n"),
)

MESSAGE = "len needs the size itself"


def rewrite(place: Place) -> Rewrite | None:
    """The method call, where the argument is known to be a Tensor."""
    node = place.site.node
    if place.site.kind != "coercion" or not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "len":
        return None
    if is_caught(place, node):
        raise Undecided("a handler around it may take the TypeError of a tensor of no dimension")
    import libcst as cst

    receiver = parenthesized(place.tree(node.args[0]))
    new = cst.Call(cst.Attribute(receiver, cst.Name("size")), [cst.Arg(cst.Integer("0"))])
    return Rewrite(Level.REVIEW, MESSAGE, place.replaced(node, new))
