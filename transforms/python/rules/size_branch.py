"""A branch on whether two sizes are equal takes the path for different ones where that does nothing for equal ones.

    b, n = x.shape                        b, n = x.shape
    if b != y.size(0):                    if guard_or_true(b != y.size(0)):
        x = x.expand(y.size(0), n)            x = x.expand(y.size(0), n)

What it does: in general two sizes differ. To expand, reshape or copy is nothing where they are equal, so the path
serves them as well: where as many sizes are given as the tensor is seen to have, each its own or the one it is compared
with, and where nobody sees below that the tensor was copied, by writing one of the two in place. A path that converts
serves tensors of the dtype that it gives. A decomposition that returns NotImplemented leaves the operator as it is,
whose kernel serves all sizes. Where Dynamo traces the function and it is not PyTorch's own, the guard is
`torch.compiler.is_compiling() or …`, which asks for no size.

Why: the branch needs an answer while tracing. Where the path does more, or is seen to give another shape for equal
sizes, a person has to decide: no check is added that would refuse equal sizes, which eager takes.

Fix safety: review. Known sizes are guarded as before.

References: torch/fx/experimental/symbolic_shapes.py (guard_or_false, guard_or_true).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.branches import decided, kinds, lean
from transforms.python.writing.copies import is_seen
from transforms.python.writing.logic import Undecided
from transforms.python.writing.neutral import serves_where
from transforms.python.writing.place import Place, Rewrite
from transforms.python.writing.results import agreeing

NAME = "size-branch"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 180
EXAMPLES = (
    Example("def f(x: Tensor, n: int):\n    if n == 3:\n        return x\n    return x + 1\n", None, "no size"),
    Example(
        "def f(x: Tensor, y: Tensor):\n    if x.size(0) == y.size(0):\n        return x\n    return y\n",
        None,
        "equal sizes may mean another thing",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n    if x.size(0) != y.size(0):\n        x = x.expand(y.size(0))\n    return x\n",
        None,
        "what has two dimensions is not expanded to one size",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n    b, n = x.shape\n    if b != y.size(0):\n"
        "        x = x.expand(y.size(0), n)\n    return x\n",
        "def f(x: Tensor, y: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_true\n\n"
        "    b, n = x.shape\n    if guard_or_true(b != y.size(0)):\n"
        "        x = x.expand(y.size(0), n)\n    return x\n",
    ),
)

MESSAGE = "a branch compares two sizes"


def rewrite(place: Place) -> Rewrite | None:
    """The decided branch, or None where an order of sizes decides."""
    branch = place.site.node
    if not isinstance(branch, (ast.If, ast.IfExp)):
        return None
    test = place.tree(branch.test)
    if "size" not in kinds(place, test) or "order" in kinds(place, test):
        return None
    general = lean(place, test)
    where = None if general is None else serves_where(place, branch, general)
    if general is None or where is None:
        raise Undecided("whether the path for different sizes serves equal ones too is not to be seen here")
    if is_seen(place, branch):
        raise Undecided("the path for different sizes makes another tensor, and what is written in place below is seen")
    agreeing(place, branch, general)
    return Rewrite(Level.REVIEW, MESSAGE, decided(place, branch, general, where), general=general)
