"""A shortcut for empty inputs or for size 1 is not taken where the size is unknown.

    if x.numel() == 0:                   if guard_or_false(x.numel() == 0):
        return x.clone()                     return x.clone()

What it does: the general path serves unknown sizes. `== 0`, `== 1`, `<= 1` get `guard_or_false`; their negations
`!= 0`, `> 0`, `> 1` and plain truth get `guard_or_true`. A path for empty inputs is a shortcut; what is done for size 1
may be another thing, so there a check on the path that was picked says that the special case was ruled out. A general
path that divides by a size serves 0 too once it divides by `torch.sym_max(size, 1)`.

Why: the branch needs an answer while tracing, and the other path would have done.

Fix safety: review. Known sizes are guarded as before.

References: torch/fx/experimental/symbolic_shapes.py (guard_or_false, guard_or_true).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.branches import decided, divisions, general_path, kinds, lean, neutral, never_zero
from transforms.python.writing.place import Place, Rewrite

NAME = "special-size-branch"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 160
EXAMPLES = (
    Example("def f(x: Tensor):\n    if x.dim() == 0:\n        return x\n    return x + 1\n", None, "no size"),
    Example("def f(x: Tensor):\n    if len(x.shape) == 1:\n        return x\n    return x + 1\n", None, "no size"),
    Example(
        "def f(x: Tensor):\n    if x.numel() == 0:\n        return x.clone()\n    return x + 1\n",
        "def f(x: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_false\n\n"
        "    if guard_or_false(x.numel() == 0):\n        return x.clone()\n    return x + 1\n",
    ),
    Example(
        "def f(x: Tensor):\n    if x.numel() != 0 and x.ndim != 0:\n        x = x + 1\n    return x\n",
        "def f(x: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_true\n\n"
        "    if guard_or_true(x.numel() != 0) and x.ndim != 0:\n        x = x + 1\n    return x\n",
    ),
    Example(
        "def f(x: Tensor, k: int):\n    if x.numel() == 0:\n        return x.clone()\n    return x + k % x.size(0)\n",
        "def f(x: Tensor, k: int):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_false\n\n"
        "    if guard_or_false(x.numel() == 0):\n        return x.clone()\n"
        "    return x + k % torch.sym_max(x.size(0), 1)\n",
        "the general path divides by the size",
    ),
    Example(
        "def f(x: Tensor):\n    if x.size(0) == 1:\n        return x.squeeze(0)\n    return x.mean(0)\n",
        "def f(x: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_false\n\n"
        "    if guard_or_false(x.size(0) == 1):\n        return x.squeeze(0)\n"
        "    torch._check(\n"
        "        x.size(0) != 1,\n"
        '        lambda: "expected x.size(0) != 1, which was assumed while tracing",\n'
        "    )\n"
        "    return x.mean(0)\n",
        "size 1 may mean another thing",
    ),
)

MESSAGE = "a shortcut for special sizes asks for a size"


def rewrite(place: Place) -> Rewrite | None:
    """The decided branch or conditional expression, or None where sizes are compared with other things."""
    branch = place.site.node
    if not isinstance(branch, (ast.If, ast.IfExp)):
        return None
    test = place.tree(branch.test)
    compared = kinds(place, test)
    if not compared <= {"empty", "one"}:
        return None
    general = lean(place, test)
    if isinstance(branch, ast.IfExp):
        return Rewrite(Level.REVIEW, MESSAGE, decided(place, branch, pin=True))
    path = branch.body if general else branch.orelse
    if "one" in compared and not (path and neutral(path)):
        return Rewrite(Level.REVIEW, MESSAGE, decided(place, branch, pin=True))
    zero = divisions(place, general_path(place, branch, general))
    safe = never_zero(place, zero)
    return Rewrite(Level.REVIEW, MESSAGE, (*decided(place, branch, pin=bool(zero) and not safe), *safe))
