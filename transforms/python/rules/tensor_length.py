"""`len` of a tensor becomes `size(0)`.

    n = len(x)      n = x.size(0)

What it does: `len` must return an int; `size(0)` may be a symbol.

Why: an unknown size fails in `len`, a known one is baked into the graph.

Fix safety: review. The number is the same for tensors of one dimension and more; `len` of a tensor of none raises
TypeError, `size(0)` IndexError, so that it is left where the function handles what is raised. In a module's forward,
where torch.compile keeps the size by itself and torch.export fixes it, left is what is neither an argument of a
function of torch nor computed with a Tensor: torch.jit.trace, which sees a number there, gets a Tensor. Nothing is
offered there where the same call of torch.export stops at another place that is left.

References: torch/_tensor.py (Tensor.__len__).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import called
from transforms.python.flow.torch_names import COUNTED
from transforms.python.writing.callees import of_torch
from transforms.python.writing.checks import is_caught
from transforms.python.writing.logic import Undecided
from transforms.python.writing.nodes import parenthesized
from transforms.python.writing.place import Place, Rewrite, left_to_export

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
_NUMBERS = frozenset({"tensor", "as_tensor", "split", *COUNTED})
"""Functions whose trace holds the number: of elements that are copied, or of how many Tensors there are."""


def rewrite(place: Place) -> Rewrite | None:
    """The method call, where the argument is known to be a Tensor."""
    node = place.site.node
    if place.site.kind != "coercion" or not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "len":
        return None
    if is_caught(place, node):
        raise Undecided("a handler around it may take the TypeError of a tensor of no dimension")
    if place.exported and not _may_be_tensor(place, node):
        tensor = place.text(node.args[0])
        return left_to_export(MESSAGE, f"{tensor}.size(0) keeps it, and is a Tensor where torch.jit.trace runs it")
    import libcst as cst

    receiver = parenthesized(place.tree(node.args[0]))
    new = cst.Call(cst.Attribute(receiver, cst.Name("size")), [cst.Arg(cst.Integer("0"))])
    return Rewrite(Level.REVIEW, MESSAGE, place.replaced(node, new))


def _may_be_tensor(place: Place, node: ast.expr) -> bool:
    """Whether a number is an argument of a function of torch, or computed with a Tensor.

    Both take a Tensor for it, as torch.jit.trace gives them, and give the same.
    """
    inner: ast.AST = node
    while isinstance(holder := place.around(inner), (ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.keyword)):
        if isinstance(holder, ast.BinOp) and place.is_with_tensor(holder, inner):
            return True
        inner = holder
    return isinstance(holder, ast.Call) and of_torch(holder) and called(holder) not in _NUMBERS
