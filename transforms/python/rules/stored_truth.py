"""A truth about sizes that only checks ask is kept as a truth, not as a bool.

    ok = a == c or a == 1                 ok = sym_or(a == c, a == 1)
    torch._check(ok, …)                   torch._check(ok, …)

What it does: `and`, `or`, `not` and `==` on whole shapes turn sizes into bools where they are evaluated. `sym_and`,
`sym_or`, `torch.sym_not` and `sym_eq` do not, so that the check gets what it can leave for the time the code runs.
Only for a variable that assignments of truths alone bind, and that nothing but checks read, by itself or through
another such variable; a branch that does nothing but raise is a check.

Why: a check can be left for the time the code runs, a coercion cannot.

Fix safety: review. Known sizes are guarded by one truth instead of the operand that decided it. Left is a truth that
anything else reads, a message too, and one whose operands may raise, call or assign.

References: torch/fx/experimental/symbolic_shapes.py; torch/_meta_registrations.py (_padding_check_valid_input).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.logic import Undecided
from transforms.python.writing.nodes import code
from transforms.python.writing.place import Place, Rewrite

NAME = "stored-truth"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 122
EXAMPLES = (
    Example(
        "def f(x: Tensor):\n    a, b = x.shape\n    ok = a == 1 or b == 1\n    return x if ok else -x\n",
        None,
        "a branch asks for it",
    ),
    Example(
        "def f(x: Tensor):\n"
        "    ok = True\n"
        "    for d in range(x.dim()):\n"
        "        ok = ok and x.size(d) != 0\n"
        "    torch._check(ok, lambda: 'empty')\n",
        "def f(x: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import sym_and\n\n"
        "    ok = True\n"
        "    for d in range(x.dim()):\n"
        "        ok = sym_and(ok, x.size(d) != 0)\n"
        "    torch._check(ok, lambda: 'empty')\n",
    ),
)

MESSAGE = "a truth that only checks ask turns sizes into bools"


def rewrite(place: Place) -> Rewrite | None:
    """The truth in its symbolic form, or None where anything but a check reads it."""
    statement = place.site.node
    if place.site.kind != "stored" or not isinstance(statement, ast.Assign):
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or target.id not in place.values.truths.kept:
        return None
    if place.shared:
        raise Undecided("code other than tracing runs this function too: there a truth is stored as a bool")
    tree = place.tree(place.site.expression)
    new = place.conditions.symbolic(tree)
    for truth in (tree, new):
        if not place.conditions.surely_bool(truth):
            raise Undecided(f"{code(tree)} may be no bool")
    return Rewrite(Level.REVIEW, MESSAGE, place.replaced(place.site.expression, new))
