"""Methods of Inductor's `sizevars` that a version no longer has are called by their new names.

    V.graph.sizevars.evaluate_static_shape(n)      V.graph.sizevars.guard_int(n)
    V.graph.sizevars.guard_equals(a, b)            V.graph.sizevars.check_equals_and_simplify(a, b)

What it does: the new method does what the old one did; a known size is guarded as before.

Why: a lowering written for an older release fails with AttributeError. `size_hint` has no successor that may decide
anything: `optimization_hint` is for heuristics only, so that a person has to choose.

Fix safety: review. Left is what a handler, `hasattr`, a version or another choice keeps for an older torch.

References: torch/_inductor/sizevars.py (SizeVarAllocator).
"""

from __future__ import annotations

import ast
import re

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.catching import TRY
from transforms.python.flow.nodes import called
from transforms.python.writing.checks import is_caught
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "sizevars-names"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 20
EXAMPLES = (
    Example("def f(n):\n    return V.graph.sizevars.size_hint(n)\n", None, "decide or estimate: a person knows"),
    Example(
        "def f(n):\n    sizes = V.graph.sizevars\n    if hasattr(sizes, 'guard_int'):\n"
        "        return sizes.guard_int(n)\n    else:\n        return V.graph.sizevars.evaluate_static_shape(n)\n",
        None,
        "for a torch without the new name",
    ),
    Example("def f(n):\n    return V.graph.sizevars.guard_int(n)\n", None, "the version has it"),
    Example(
        "def f(n, m):\n    V.graph.sizevars.guard_equals(n, m)\n    return V.graph.sizevars.evaluate_static_shape(n)\n",
        "def f(n, m):\n"
        "    V.graph.sizevars.check_equals_and_simplify(n, m)\n    return V.graph.sizevars.guard_int(n)\n",
    ),
)

MESSAGE = "this version of Inductor has no such method"
SUCCESSORS = {
    "evaluate_static_shape": "guard_int",
    "evaluate_static_shapes": "guard_int_seq",
    "guard_static_shape": "guard_int",
    "guard_equals": "check_equals_and_simplify",
    "guard_leq": "check_leq",
    "guard_lt": "check_lt",
}
HINT = "size_hint decided something or fed a heuristic: guard_int for the one, optimization_hint for the other"
VERSION = re.compile(r"(?i)hasattr|version|torch_?\d")
BOTH = "the code asks which methods or which torch there are, so the old name is for the torch that has it"


def rewrite(place: Place) -> Rewrite | None:
    """The call by its new name; a refusal for `size_hint`."""
    node = place.site.node
    if place.site.kind != "sizevars" or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    new = SUCCESSORS.get(called(node))
    if new is None:
        return Rewrite(Level.MANUAL, MESSAGE, reason=HINT, refusal="size-hint")
    if is_caught(place, node) or _chosen(place, node, new):
        return Rewrite(Level.MANUAL, MESSAGE, reason=BOTH, refusal="older-torch")
    place.names.used.add(f"sizevars.{new}")
    end = place.layout.end(node.func)
    return Rewrite(Level.REVIEW, MESSAGE, (Change(end - len(node.func.attr), end, new),))


def _chosen(place: Place, node: ast.Call, new: str) -> bool:
    """Whether a condition around a call asks for an attribute or a version, or a choice leads to its successor."""
    choices = (n for n in place.nodes if isinstance(n, (ast.If, ast.IfExp, *TRY)))
    for choice in choices:
        parts = list(ast.walk(choice))
        if any(new in (getattr(part, "attr", ""), getattr(part, "value", "")) for part in parts):
            return True
        asks = isinstance(choice, (ast.If, ast.IfExp)) and VERSION.search(ast.unparse(choice.test))
        if asks and any(part is node for part in parts):
            return True
    return False
