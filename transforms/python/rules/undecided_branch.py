"""What asks for a size in a way no rule can decide is named, with what a person has to decide.

    if m < n:
        x = x.mT

What it does: nothing. Neither `m < n` nor its opposite is the general case, so neither path may be picked. Of a branch
that only slices it says that a slice may serve both.

Why: a wrong pick compiles and is silently wrong.

Fix safety: manual.

References: torch/fx/experimental/symbolic_shapes.py (guard_or_false, guard_or_true).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import called
from transforms.python.writing.place import Place, Rewrite

NAME = "undecided-branch"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.MANUAL
PRECEDENCE = 240
EXAMPLES = (
    Example("def f(x: Tensor):\n    m, n = x.shape\n    if m < n:\n        x = x.mT\n    return x\n", None, "named"),
    Example("def f(x: Tensor):\n    return x.sum() / (x.size(0) or 1)\n", None, "what `or` chooses is named"),
)

_CONSTRUCTS = {"if": "branch", "ifexp": "conditional expression", "while": "loop", "choice": "choice"}


def rewrite(place: Place) -> Rewrite | None:
    """The refusal, with the decision that is needed."""
    if place.site.kind == "coercion":
        reason = "a conversion gives a known value, so it asks for the size; what +, * and // give stays a symbol"
        return Rewrite(Level.MANUAL, "a conversion asks for a size", reason=reason, refusal="undecided")
    construct = _CONSTRUCTS.get(place.site.kind, "conversion")
    slices = "a slice without the branch, which takes less where there is less, or " if _only_slices(place) else ""
    reason = (
        f"neither outcome is the general case: write one path for both with {slices}torch.sym_min, torch.sym_max or"
        " torch.sym_ite, or decide with guard_or_false or guard_or_true and check the assumption"
    )
    return Rewrite(Level.MANUAL, f"a {construct} asks for a size", reason=reason, refusal="undecided")


def _only_slices(place: Place) -> bool:
    """Whether a branch does nothing but take a part of something: `x = x[:, :n]`."""
    node = place.site.node
    if not isinstance(node, ast.If) or node.orelse:
        return False
    return all(
        isinstance(statement, ast.Assign)
        and any(isinstance(part, ast.Slice) for part in ast.walk(statement.value))
        and all(called(part) in ("", "contiguous", "clone") for part in ast.walk(statement.value))
        for statement in node.body
    )
