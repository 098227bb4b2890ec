"""What asks for a size in a way no rule can decide is named, with what a person has to decide.

    if m < n:
        x = x.mT

What it does: nothing. Neither `m < n` nor its opposite is the general case, so neither path may be picked. Of a branch
that only cuts what is longer than a bound (`if m > n: x = x[:n]`) it says that a slice may serve both.

Why: a wrong pick compiles and is silently wrong.

Fix safety: manual.

References: torch/fx/experimental/symbolic_shapes.py (guard_or_false, guard_or_true).
"""

from __future__ import annotations

import ast
import re

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.asking import asks
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
    if place.site.kind == "stored":
        reason = (
            "what gives a bool, as `and`, `not`, `any`, `in` and a comparison of whole shapes do, asks here already:"
            " ask where it decides, or keep the truth with sym_and, sym_or or torch.sym_not of single comparisons"
        )
        return Rewrite(Level.MANUAL, "a truth is asked for its value to be kept", reason=reason, refusal="undecided")
    construct = _CONSTRUCTS.get(place.site.kind, "conversion")
    slices = "a slice without the branch, which takes less where there is less, or " if _only_slices(place) else ""
    reason = (
        f"neither outcome is the general case: write one path for both with {slices}torch.sym_min, torch.sym_max or"
        " torch.sym_ite, or decide with guard_or_false or guard_or_true and check the assumption"
    )
    return Rewrite(Level.MANUAL, f"a {construct} asks for a size", reason=reason, refusal="undecided")


def _only_slices(place: Place) -> bool:
    """Whether a branch does nothing but cut to a bound what it asks is longer: `if x.size(1) > n: x = x[:, :n]`."""
    node = place.site.node
    if not isinstance(node, ast.If) or node.orelse:
        return False
    tests = [node.test]
    if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And):
        tests = node.test.values
    asked = [test for test in tests if asks(place.values.value(test))]
    if len(asked) != 1 or not isinstance(asked[0], ast.Compare) or len(asked[0].ops) != 1:
        return False
    order, sides = asked[0].ops[0], [asked[0].left, *asked[0].comparators]
    if not isinstance(order, (ast.Gt, ast.GtE, ast.Lt, ast.LtE)):
        return False
    longer, bound = sides if isinstance(order, (ast.Gt, ast.GtE)) else sides[::-1]
    return all(isinstance(s, ast.Assign) and _cuts(s, longer, ast.unparse(bound)) for s in node.body)


def _cuts(statement: ast.Assign, longer: ast.expr, bound: str) -> bool:
    """Whether `x = x[:, :bound]`, or `x[:, -bound:]`; a dimension that `longer` names is among those that are cut."""
    cut = statement.value
    while isinstance(cut, ast.Call) and called(cut) in ("contiguous", "clone") and isinstance(cut.func, ast.Attribute):
        cut = cut.func.value
    if not isinstance(cut, ast.Subscript) or [ast.unparse(t) for t in statement.targets] != [ast.unparse(cut.value)]:
        return False
    indices = cut.slice.elts if isinstance(cut.slice, ast.Tuple) else [cut.slice]
    texts = [ast.unparse(index) for index in indices]
    cutting = [number for number, text in enumerate(texts) if text not in (":", "...")]
    if not cutting or any(texts[number] not in (f":{bound}", f"-{bound}:") for number in cutting):
        return False
    named = re.fullmatch(r"(.+)\.(?:size\((-?\d+)\)|shape\[(-?\d+)\])", ast.unparse(longer))
    if named is None or named[1] != ast.unparse(cut.value):
        return True
    dimension = int(named[2] or named[3])
    positions = {number - len(texts) if "..." in texts[:number] else number for number in cutting}
    return dimension in positions or (dimension < 0) != (min(positions) < 0)  # else the rank would have to be known
