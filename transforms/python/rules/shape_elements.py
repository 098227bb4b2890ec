"""`numel` of a shape becomes that of its Tensor, or the product of the sizes.

    n = x.shape.numel()            n = x.numel()
    n = x.shape[1:].numel()        n = math.prod(x.shape[1:])

What it does: `torch.Size.numel` must return an int; what stands in its place may be a symbol.

Why: an unknown size fails there, a known one is baked into the graph.

Fix safety: review. The number is the same; the guard that fixed the sizes is gone. Where the file does not import math,
or code other than tracing runs the function, the product is left: torch.fx does not trace `math.prod`.

References: torch/csrc/Size.cpp (THPSize_numel), torch/_dynamo/variables/lists.py (SizeVariable.numel, which keeps it).
"""

from __future__ import annotations

import ast

import libcst as cst

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import called
from transforms.python.writing.nodes import call, parenthesized
from transforms.python.writing.place import Place, Rewrite

NAME = "shape-elements"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 215
EXAMPLES = (
    Example("def f(x: Tensor):\n    return x.shape.numel()\n", "def f(x: Tensor):\n    return x.numel()\n"),
    Example("def f(x: Tensor):\n    return x.size().numel()\n", "def f(x: Tensor):\n    return x.numel()\n"),
    Example(
        "import math\n\n\ndef f(x: Tensor):\n    return x.shape[1:].numel()\n",
        "import math\n\n\ndef f(x: Tensor):\n    return math.prod(x.shape[1:])\n",
    ),
    Example("def f(x: Tensor):\n    return x.shape[1:].numel()\n", None, "the file does not import math"),
    Example("def f(x: Tensor):\n    return x.numel()\n", None, "a Tensor's own may be a symbol"),
)

MESSAGE = "the number of elements of a shape fixes its sizes"


def rewrite(place: Place) -> Rewrite | None:
    """The Tensor's own number, or the product; None for other sites."""
    node = place.site.node
    if place.site.kind != "elements" or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    shape = node.func.value
    tensor = _tensor(shape)
    if tensor is not None and place.values.surely_tensor(tensor):
        new = cst.Call(cst.Attribute(parenthesized(place.tree(tensor)), cst.Name("numel")))
    else:
        new = call(place.product(), place.tree(shape))
    return Rewrite(Level.REVIEW, MESSAGE, place.replaced(node, new))


def _tensor(shape: ast.expr) -> ast.expr | None:
    """`x` in `x.shape` and `x.size()`."""
    if isinstance(shape, ast.Attribute) and shape.attr == "shape":
        return shape.value
    if called(shape) == "size" and isinstance(shape, ast.Call) and not (shape.args or shape.keywords):
        return shape.func.value if isinstance(shape.func, ast.Attribute) else None
    return None
