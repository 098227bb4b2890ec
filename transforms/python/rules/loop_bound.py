"""A loop whose length is a size, a filter on sizes, and a list as long as a size are left and named.

    for i in range(x.size(0)): …
    for row in x: …
    for row, other in zip(x, y): …
    first = x[range(n)]
    kept = [s for s in x.shape if s != 1]
    parts = torch.tensor_split(x, x.size(0))

What it does: nothing; the number of turns, of Tensors, or of what is kept, is part of the graph.

Why: a graph has no loop over an unknown size. Tensor operations on the whole dimension do what the loop does.

Fix safety: manual.

References: torch/fx/experimental/symbolic_shapes.py.
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import called, holds
from transforms.python.writing.place import Place, Rewrite

NAME = "loop-bound"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.MANUAL
PRECEDENCE = 230
EXAMPLES = (
    Example("def f(x: Tensor):\n    return [i for i in range(x.dim())]\n", None, "ranks are no symbols"),
    Example("def f(x: Tensor):\n    return [x[i] for i in range(x.size(0))]\n", None, "named, not edited"),
    Example("def f(x: Tensor):\n    return [row.sum() for row in x]\n", None, "as many turns as there are rows"),
    Example("def f(x: Tensor):\n    return x.tensor_split(x.size(0))\n", None, "as many Tensors as a size says"),
)

RANGE = "each number of a range is part of the graph; a slice or torch.arange takes the size itself"
LENGTH = "the number of turns is a size; use tensor operations on the whole dimension"
PIECES = "the number of Tensors is a size; use tensor operations on the whole dimension"
FILTER = "how much is kept depends on sizes; decide whether unknown sizes are kept"
_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)


def rewrite(place: Place) -> Rewrite | None:
    """The refusal, for loops and filters."""
    node = place.site.node
    if place.site.kind == "coercion" and isinstance(node, ast.Call) and getattr(node.func, "id", "") == "range":
        looped = any(isinstance(turn, _LOOPS) and holds(turn.iter, node) for turn in place.nodes)
        message, reason = ("a loop runs over a size", LENGTH) if looped else ("a range is as long as a size", RANGE)
        return Rewrite(Level.MANUAL, message, reason=reason, refusal="loop-bound")
    if place.site.kind == "turns":
        goes = f"{called(node)} goes through a Tensor" if isinstance(node, ast.Call) else "a loop runs over a Tensor"
        return Rewrite(Level.MANUAL, goes, reason=LENGTH, refusal="loop-bound")
    if place.site.kind == "while":
        return Rewrite(Level.MANUAL, "a loop runs until a size says so", reason=LENGTH, refusal="loop-bound")
    if place.site.kind == "pieces":
        return Rewrite(Level.MANUAL, "a size says how many Tensors there are", reason=PIECES, refusal="loop-bound")
    if place.site.kind == "filter":
        return Rewrite(Level.MANUAL, "a filter asks for sizes", reason=FILTER, refusal="filter")
    return None
