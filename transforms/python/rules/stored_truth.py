"""A truth about sizes that is stored is decided where it is made, and checked.

    same = x.ndim == 1 or x.shape == s    same = x.ndim == 1 or guard_or_false(sym_eq(x.shape, s))
                                          if not same:
                                              torch._check(x.ndim != 1 and torch.sym_not(sym_eq(x.shape, s)), …)

What it does: the variable holds a bool again; where it was decided for unknown sizes, a check says so.

Why: `and`, `or`, `not`, `in` and `==` on shapes need an answer at once.

Fix safety: review. Known sizes give the same value.

References: torch/fx/experimental/symbolic_shapes.py.
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.logic import Undecided
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "stored-truth"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 190
EXAMPLES = (
    Example("def f(x: Tensor):\n    flat = x.ndim == 1 and not x.is_complex()\n    return flat\n", None, "no size"),
    Example(
        "def f(x: Tensor, y: Tensor):\n    same = x.ndim == 1 or x.shape == y.shape\n    return x if same else y\n",
        "def f(x: Tensor, y: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_false, sym_eq\n\n"
        "    same = x.ndim == 1 or guard_or_false(sym_eq(x.shape, y.shape))\n"
        "    if not same:\n"
        "        torch._check(\n"
        "            x.ndim != 1 and torch.sym_not(sym_eq(x.shape, y.shape)),\n"
        "            lambda: (\n"
        '                "expected x.ndim != 1 and sym_not(sym_eq(x.shape, y.shape)), which was"\n'
        '                " assumed while tracing"\n'
        "            ),\n"
        "        )\n"
        "    return x if same else y\n",
    ),
)

MESSAGE = "a stored truth about sizes is decided at once"


def rewrite(place: Place) -> Rewrite | None:
    """The decided assignment with its check, or None for anything but an assignment to one name."""
    node = place.site.node
    if place.site.kind != "stored":
        return None
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        raise Undecided("what becomes of the truth is for its users to say")
    name = node.targets[0].id
    value = place.tree(node.value)
    conditions = place.conditions
    outcomes = {conditions.general(comparison) for comparison in conditions.special(value)}
    negated = "not " in place.text(node.value).replace("not in", "")
    if len(outcomes) != 1 or None in outcomes or negated:
        raise Undecided("what the truth is for sizes in general is not to be seen here")
    general = outcomes.pop()
    changes = place.replaced(node.value, conditions.guarded(value))
    indent = place.layout.indent(node)
    line = node.end_lineno or node.lineno
    if indent is None or place.layout.end(node) != place.layout.line_end(line):
        raise Undecided("the assignment does not stand on a line of its own")
    condition = conditions.symbolic(value) if general else conditions.negated(value)
    newline = place.layout.newline
    check = f"{indent}if {name if general else f'not {name}'}:{newline}" + place.check(condition, indent + "    ")
    offset = place.layout.line_end(line)
    pin = Change(offset, offset, newline + check.removesuffix(newline), 1000)
    return Rewrite(Level.REVIEW, MESSAGE, (*changes, pin), plain=(name,))
