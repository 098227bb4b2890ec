"""`divmod` of sizes is a quotient and a remainder.

    rows, rest = divmod(x.size(0), m)     →     rows, rest = x.size(0) // m, x.size(0) % m

What it does: the same numbers, by the two operators that symbols have.

Why: a SymInt has no `__divmod__`; the call raises a TypeError while tracing, and torch.compile breaks its graph there.

Fix safety: safe. Only where both operands may be evaluated twice.

References: torch/__init__.py (SymInt).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import is_read
from transforms.python.writing.nodes import code, parenthesized
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "quotient-pair"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.SAFE
PRECEDENCE = 205
EXAMPLES = (
    Example("def f(x: Tensor, m: int):\n    return divmod(x.ndim, m)\n", None, "no size"),
    Example("def f(x: Tensor, g):\n    return divmod(x.size(0), g())\n", None, "called once: named, not edited"),
    Example(
        "def f(x: Tensor, m: int):\n    q, r = divmod(x.size(0) + 1, m)\n    return q + r\n",
        "def f(x: Tensor, m: int):\n    q, r = (x.size(0) + 1) // m, (x.size(0) + 1) % m\n    return q + r\n",
    ),
    Example(
        "def f(x: Tensor, m: int):\n    return x.new_empty(divmod(x.size(0), m))\n",
        "def f(x: Tensor, m: int):\n    return x.new_empty((x.size(0) // m, x.size(0) % m))\n",
    ),
)

MESSAGE = "a symbol has no divmod"
REASON = "what divmod is given may not be evaluated twice: give it a name, then take // and % of that"


def rewrite(place: Place) -> Rewrite | None:
    """The two operators in place of the call, or None for other sites."""
    call = place.site.node
    if place.site.kind != "pair" or not isinstance(call, ast.Call):
        return None
    if not all(is_read(argument) and not isinstance(argument, ast.Starred) for argument in call.args):
        return Rewrite(Level.MANUAL, MESSAGE, reason=REASON, refusal="evaluated-twice")
    left, right = (code(parenthesized(place.tree(argument))) for argument in call.args)
    pair = f"{left} // {right}, {left} % {right}"
    unpacked = any(isinstance(node, ast.Assign) and node.value is call for node in place.nodes)
    change = Change(place.layout.start(call), place.layout.end(call), pair if unpacked else f"({pair})")
    return Rewrite(Level.SAFE, MESSAGE, (change,), always=True)
