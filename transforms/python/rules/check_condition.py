"""The condition of a check or guard is written without coercions.

    torch._check(a.shape == b.shape and c == d, …)    torch._check(sym_and(sym_eq(a.shape, b.shape), c == d), …)

What it does: `and`, `or`, `not`, chained comparisons, `in`, `all`, `any` and `==` on whole shapes turn sizes into bools
before the check sees them. `sym_and`, `sym_or`, `torch.sym_not` and `sym_eq` do not. What stands before the first size
keeps its short circuit. Where an operand behind it may raise, call or assign, each operand of an `and` gets a check of
its own, so that what was evaluated, and in which order, stays.

Why: a check can be left for the time the code runs, a coercion cannot.

Fix safety: safe for conjunctions, whose guards stay the same. For review where `or` or `not` is involved: known sizes
are then guarded by one disjunction instead of the side that held. And where a size is compared with what is not known
for a number: one of numpy's gives truths that `sym_and` does not take. Left are shapes beside a tuple of what is not
known for ints, which `sym_eq` does not take.

References: torch/fx/experimental/symbolic_shapes.py.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from contextlib import suppress

import libcst as cst

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import dotted
from transforms.python.writing.logic import Undecided
from transforms.python.writing.nodes import bare, code, flattened
from transforms.python.writing.place import Change, Place, Rewrite

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
        "def f(x: Tensor):\n    m, n = x.shape\n    torch._check(x.shape[0] == 2 and x.shape[1] == 3)\n",
        "def f(x: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import sym_and\n\n"
        "    m, n = x.shape\n    torch._check(sym_and(x.shape[0] == 2, x.shape[1] == 3))\n",
        "the shape has two sizes",
    ),
    Example(
        "def f(x: Tensor):\n    torch._check(x.shape[0] == 2 and x.shape[1] == 3)\n",
        "def f(x: Tensor):\n    torch._check(x.shape[0] == 2)\n    torch._check(x.shape[1] == 3)\n",
        "x.shape[1] may raise where the first size is another",
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
    """The condition in its symbolic form, as several checks where an operand may not be moved."""
    if place.site.kind not in ("check", "guard"):
        return None
    if place.site.kind == "check" and isinstance(place.site.node, ast.Call):
        place.names.check_torchs(dotted(place.site.node.func))
    expression = place.site.expression
    tree = place.tree(expression)
    plain = place.values.value(expression).numeric and not place.inlined
    try:
        new = place.conditions.symbolic(tree)
        if place.conditions.surely_bool(tree) and not place.conditions.surely_bool(new):
            raise Undecided("what is checked would be no bool")
    except Undecided:
        changes = _apart(place, tree)
        if not changes:
            raise
        return Rewrite(Level.SAFE if plain else Level.REVIEW, MESSAGE, changes)
    conjunction = place.site.kind == "check" and not re.search(r"\bsym_(?:or|not)\(", code(new))
    level = Level.SAFE if conjunction and plain else Level.REVIEW
    return Rewrite(level, MESSAGE, place.replaced(expression, new))


def _apart(place: Place, tree: cst.BaseExpression) -> tuple[Change, ...]:
    """Two checks, of the operands of `and` in their order, in place of the statement; nothing where two do not do."""
    statement = next((s for s in place.nodes if isinstance(s, ast.Expr) and s.value is place.site.node), None)
    if statement is None or not isinstance(tree, cst.BooleanOperation) or not isinstance(tree.operator, cst.And):
        return ()
    layout, place.names.used = place.layout, set()
    indent = layout.indent(statement)
    operands, _ = flattened(tree, cst.And)
    if indent is None or any(isinstance(o, cst.BooleanOperation) for o in operands):
        return ()
    start, end = layout.start(statement), layout.end(statement)
    before = layout.text(start, layout.start(place.site.expression))
    after = layout.text(layout.end(place.site.expression), end)
    conditions = _grouped(place, operands)
    if len(conditions) != 2 or not all(map(place.conditions.surely_bool, conditions)):
        return ()  # one message many times over is nothing to read
    checks = f"{layout.newline}{indent}".join(f"{before}{code(bare(condition))}{after}" for condition in conditions)
    return (Change(start, end, checks),)


def _grouped(place: Place, operands: Sequence[cst.BaseExpression]) -> list[cst.BaseExpression]:
    """The symbolic forms of operands, as many joined as may be moved together."""
    groups: list[tuple[cst.BaseExpression, cst.BaseExpression]] = []  # as written, and in its symbolic form
    for operand in operands:
        if groups:
            joined = cst.BooleanOperation(groups[-1][0], cst.And(), operand)
            with suppress(Undecided):
                groups[-1] = (joined, place.conditions.symbolic(joined))
                continue
        groups.append((operand, place.conditions.symbolic(operand)))
    return [symbolic for _, symbolic in groups]
