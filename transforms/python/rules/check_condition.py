"""The condition of a check or guard is written without coercions.

    torch._check(a.shape == b.shape and c == d, …)    torch._check(sym_and(sym_eq(a.shape, b.shape), c == d), …)

What it does: `and`, `or`, `not`, chained comparisons, `in`, `all`, `any` and `==` on whole shapes turn sizes into bools
before the check sees them. `sym_and`, `sym_or`, `torch.sym_not` and `sym_eq` do not. What stands before the first size
keeps its short circuit.

Why: a check can be left for the time the code runs, a coercion cannot.

Fix safety: safe for conjunctions, whose guards stay the same. For review where `or` or `not` is involved: known sizes
are then guarded by one disjunction instead of the side that held.

References: torch/fx/experimental/symbolic_shapes.py.
"""

from __future__ import annotations

import re

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.logic import code
from transforms.python.writing.place import Place, Rewrite

NAME = "check-condition"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.SAFE
PRECEDENCE = 120
EXAMPLES = (
    Example("def f(x: Tensor):\n    torch._check(x.shape[0] == 2, lambda: '')\n", None, "nothing is coerced"),
    Example(
        "def f(x: Tensor):\n    torch._check(x.ndim == 2 and x.shape[0] == 2)\n",
        None,
        "the last operand of `and` is not coerced",
    ),
    Example(
        "def f(x: Tensor):\n    torch._check(x.shape[0] == 2 and x.shape[1] == 3)\n",
        "def f(x: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import sym_and\n\n"
        "    torch._check(sym_and(x.shape[0] == 2, x.shape[1] == 3))\n",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n    torch._check(x.shape == y.shape, lambda: 'shapes')\n",
        "def f(x: Tensor, y: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import sym_eq\n\n"
        "    torch._check(sym_eq(x.shape, y.shape), lambda: 'shapes')\n",
    ),
    Example(
        "def f(x: Tensor):\n    torch._check(all(s > 0 for s in x.shape))\n",
        "def f(x: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import sym_and\n\n"
        "    torch._check(sym_and(True, *(s > 0 for s in x.shape)))\n",
    ),
)

MESSAGE = "the condition of a check turns sizes into bools"


def rewrite(place: Place) -> Rewrite | None:
    """The condition in its symbolic form."""
    if place.site.kind not in ("check", "guard"):
        return None
    if place.scripted:
        return Rewrite(Level.MANUAL, MESSAGE, reason="TorchScript reads this function", refusal="torchscript")
    expression = place.site.expression
    new = place.conditions.symbolic(place.tree(expression))
    conjunction = place.site.kind == "check" and not re.search(r"\bsym_(?:or|not)\(", code(new))
    level = Level.SAFE if conjunction and not place.inlined else Level.REVIEW
    return Rewrite(level, MESSAGE, place.replaced(expression, new))
