"""A branch on whether two sizes are equal takes the general path where they are unknown, and checks that it may.

    if groups == x.size(1):            if guard_or_false(groups == x.size(1)):
        return shortcut(x)                 return shortcut(x)
    return general(x)                  torch._check(groups != x.size(1), lambda: "…")
                                       return general(x)

What it does: in general two sizes differ. The check stops the compiled code where they do not.

Why: the branch needs an answer while tracing. Whether the general path is right for equal sizes cannot be seen here; a
reviewer who knows that it is removes the check.

Fix safety: review. Known sizes are guarded as before.

References: torch/fx/experimental/symbolic_shapes.py (guard_or_false, guard_or_true).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.branches import decided, kinds, lean, neutral, pads_by_difference
from transforms.python.writing.place import Place, Rewrite

NAME = "size-branch"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 180
EXAMPLES = (
    Example("def f(x: Tensor, n: int):\n    if n == 3:\n        return x\n    return x + 1\n", None, "no size"),
    Example(
        "def f(x: Tensor, y: Tensor):\n    if x.size(0) == y.size(0):\n        return x\n    return y\n",
        "def f(x: Tensor, y: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_false\n\n"
        "    if guard_or_false(x.size(0) == y.size(0)):\n        return x\n"
        "    torch._check(\n"
        "        x.size(0) != y.size(0),\n"
        '        lambda: "expected x.size(0) != y.size(0), which was assumed while tracing",\n'
        "    )\n"
        "    return y\n",
    ),
)

MESSAGE = "a branch compares two sizes"


def rewrite(place: Place) -> Rewrite | None:
    """The decided branch with its check, or None where an order of sizes decides."""
    branch = place.site.node
    if not isinstance(branch, (ast.If, ast.IfExp)):
        return None
    test = place.tree(branch.test)
    if "size" not in kinds(place, test) or "order" in kinds(place, test):
        return None
    general = lean(place, test)
    path = [] if isinstance(branch, ast.IfExp) else branch.body if general else branch.orelse
    same = (bool(path) and neutral(path)) or (isinstance(branch, ast.If) and pads_by_difference(branch))
    return Rewrite(Level.REVIEW, MESSAGE, decided(place, branch, pin=not same))
