"""A branch on whole shapes takes the general path where they are unknown.

    if mask.shape != x.shape:                 if not guard_or_false(sym_eq(mask.shape, x.shape)):
        mask = mask.expand(x.shape)               mask = mask.expand(x.shape)

What it does: in general two shapes differ. Where the path for that case only expands, reshapes or copies, it serves
equal shapes too; where it converts to a dtype, or serves a layout alone, the branch leans so for tensors of that dtype
and layout, and asks for the others' shapes as before. Where it does more, or is seen to give another shape for equal
ones, or where a copy would be seen, since what it is made of is written in place below, a person has to decide. Left
are shapes beside a tuple of what is not known for ints, which `sym_eq` does not take.

Why: `==` on shapes compares size by size and needs an answer each time.

Fix safety: review. Known sizes are guarded by one conjunction instead of one guard a dimension.

References: torch/fx/experimental/symbolic_shapes.py (sym_eq).
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

NAME = "shape-branch"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 170
EXAMPLES = (
    Example(
        "def f(x: Tensor, y: Tensor):\n    if len(x.shape) != len(y.shape):\n        return x\n    return y\n",
        None,
        "ranks are no symbols",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n    if x.shape != y.shape:\n        x = x.expand(y.shape)\n    return x + y\n",
        "def f(x: Tensor, y: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_false, sym_eq\n\n"
        "    if not guard_or_false(sym_eq(x.shape, y.shape)):\n        x = x.expand(y.shape)\n    return x + y\n",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n    sizes = list(y.shape[:-1])\n    whole = sizes.copy()\n"
        "    whole.extend([x.size(1)])\n    if whole != list(x.shape):\n        x = x.expand(whole)\n    return x\n",
        "def f(x: Tensor, y: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_false, sym_eq\n\n"
        "    sizes = list(y.shape[:-1])\n    whole = sizes.copy()\n    whole.extend([x.size(1)])\n"
        "    if not guard_or_false(sym_eq(whole, list(x.shape))):\n        x = x.expand(whole)\n    return x\n",
        "a list that has grown",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n    if x.shape != y.shape:\n        x = x.to(torch.bool).expand(y.shape)\n"
        "    return x & y\n",
        "def f(x: Tensor, y: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_false, sym_eq\n\n"
        "    if (\n        not guard_or_false(sym_eq(x.shape, y.shape))\n        if x.dtype == torch.bool\n"
        "        else x.shape != y.shape\n    ):\n        x = x.to(torch.bool).expand(y.shape)\n    return x & y\n",
        "what has another dtype is converted where the shapes differ, and only there",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n    return x if x.shape == y.shape else x.expand(y.shape)\n",
        "def f(x: Tensor, y: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_false, sym_eq\n\n"
        "    return x if guard_or_false(sym_eq(x.shape, y.shape)) else x.expand(y.shape)\n",
    ),
)

MESSAGE = "a branch on whole shapes asks for their sizes"


def rewrite(place: Place) -> Rewrite | None:
    """The decided branch or conditional expression, or None where no shapes are compared."""
    branch = place.site.node
    if not isinstance(branch, (ast.If, ast.IfExp)):
        return None
    test = place.tree(branch.test)
    if "shape" not in kinds(place, test) or kinds(place, test) & {"size", "order"}:
        return None
    general = lean(place, test)
    if general is None:
        raise Undecided("which path serves shapes in general depends on more than shapes")
    where = serves_where(place, branch, general)
    if where is None:
        raise Undecided("whether the path for different shapes serves equal ones too is not to be seen here")
    if is_seen(place, branch):
        raise Undecided("the path for different sizes makes another tensor, and what is written in place below is seen")
    agreeing(place, branch, general)
    return Rewrite(Level.REVIEW, MESSAGE, decided(place, branch, general, where), general=general)
