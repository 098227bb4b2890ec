"""A branch on sizes that only checks becomes checks that say when they apply.

    if step > 0:                          torch._check(sym_or(torch.sym_not(step > 0), end >= start), lambda: "…")
        torch._check(end >= start, …)     torch._check(sym_or(torch.sym_not(step < 0), end <= start), lambda: "…")
    elif step < 0:
        torch._check(end <= start, …)

What it does: "if a then b" is "not a, or b", which can be left for the time the code runs. An `elif` applies where no
condition before it held; what its own condition excludes is not said twice. An assertion keeps its exception.

Why: the branch needs an answer while tracing, and neither path does anything but check.

Fix safety: review. For known sizes the same checks fail with the same messages. What the branch held back is then
evaluated always, so it may neither raise nor call; a condition that may be a NaN is negated as a whole.

References: torch/fx/experimental/symbolic_shapes.py (sym_or), torch/__init__.py (_check, sym_not).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.values import INT
from transforms.python.writing.branches import is_elif
from transforms.python.writing.checks import checked_unless, condition_of, is_caught
from transforms.python.writing.nodes import call, code
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "conditional-check"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 115
EXAMPLES = (
    Example(
        "def f(x: Tensor, n: int):\n    if x.ndim == 2:\n        torch._check(x.size(0) == n)\n    return x\n",
        None,
        "ranks are no symbols",
    ),
    Example(
        "def f(x: Tensor):\n    n = len(x)\n    if n > 2:\n        torch._check(n < 9)\n        x = -x\n    return x\n",
        None,
        "the branch does more",
    ),
    Example(
        "def f(x: Tensor):\n    m, n = x.shape\n    if m > n:\n        torch._check(n > 2, lambda: '')\n    return x\n",
        "def f(x: Tensor):\n    from torch.fx.experimental.symbolic_shapes import sym_or\n\n"
        "    m, n = x.shape\n    torch._check(sym_or(m <= n, n > 2), lambda: '')\n    return x\n",
    ),
    Example(
        "def f(x: Tensor):\n    m, n = x.shape\n    if m > n:\n        torch._check(n > 2)\n"
        "    elif m < n:\n        torch._check(m > 2)\n    else:\n        torch._check(m == 4)\n    return x\n",
        "def f(x: Tensor):\n    from torch.fx.experimental.symbolic_shapes import sym_or\n\n"
        "    m, n = x.shape\n    torch._check(sym_or(m <= n, n > 2))\n    torch._check(sym_or(m >= n, m > 2))\n"
        "    torch._check(sym_or(m > n, m < n, m == 4))\n    return x\n",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n    if y.numel() > 0:\n"
        "        assert y.ndim == 1 and y.size(0) == 4, f'{y.shape}'\n"
        "        assert y.dtype == x.dtype\n    return x\n",
        "def f(x: Tensor, y: Tensor):\n    from torch.fx.experimental.symbolic_shapes import expect_true, sym_or\n\n"
        "    torch._check_with(\n        AssertionError,\n"
        "        sym_or(y.numel() <= 0, y.ndim == 1 and y.size(0) == 4),\n        lambda: f'{y.shape}',\n    )\n"
        "    assert expect_true(sym_or(y.numel() <= 0, y.dtype == x.dtype))\n    return x\n",
        "an empty tensor may stand for none",
    ),
)

MESSAGE = "a branch on sizes that only checks is a check"
# What excludes what: where the left is true of two sides, the right is false of them.
_EXCLUDES = {">": ("<", "<=", "=="), "<": (">", ">=", "=="), "==": ("!=", "<", ">"), "!=": ("==",)}


def rewrite(place: Place) -> Rewrite | None:
    """The checks in place of the branch, or None where it does anything else."""
    branch = place.site.node
    if place.site.kind != "if" or not isinstance(branch, ast.If) or place.shared or is_elif(place, branch):
        return None
    indent = place.layout.indent(branch)
    if indent is None or "#" in place.text(branch) or not _only_checks(branch) or is_caught(place, branch):
        return None
    lines = [checked_unless(place, unless, check) for unless, path in _paths(place, branch, ()) for check in path]
    text = f"{place.layout.newline}{indent}".join(lines)
    change = Change(place.layout.start(branch), place.layout.end(branch), text)
    return Rewrite(Level.REVIEW, MESSAGE, (change,))


def _paths(
    place: Place, branch: ast.If, before: tuple[cst.BaseExpression, ...]
) -> Iterator[tuple[list[cst.BaseExpression], Sequence[ast.stmt]]]:
    """Each path with the conditions one of which is true where it is not taken."""
    test = place.tree(branch.test)
    yield [*(held for held in before if not _excludes(held, test)), _negated(place, test)], branch.body
    if len(branch.orelse) == 1 and isinstance(branch.orelse[0], ast.If):
        yield from _paths(place, branch.orelse[0], (*before, test))
    elif branch.orelse:
        yield [*before, test], branch.orelse


def _only_checks(branch: ast.If) -> bool:
    chained = len(branch.orelse) == 1 and isinstance(branch.orelse[0], ast.If)
    checks = branch.body if chained else [*branch.body, *branch.orelse]
    return all(condition_of(statement) is not None for statement in checks) and (
        not chained or _only_checks(branch.orelse[0])  # type: ignore[arg-type]
    )


def _negated(place: Place, test: cst.BaseExpression) -> cst.BaseExpression:
    """The contrary of a condition, which for a number that may be a NaN is no other comparison."""
    sides = [test.left, *(target.comparator for target in test.comparisons)] if isinstance(test, cst.Comparison) else []
    operator = test.comparisons[0].operator if isinstance(test, cst.Comparison) and len(sides) == 2 else None
    whole = bool(sides) and all(place.conditions.value(s).kind == INT or isinstance(s, cst.Integer) for s in sides)
    if whole or isinstance(operator, (cst.Equal, cst.NotEqual)):
        return place.conditions.pushed_not(test)
    return call(place.names("torch.sym_not"), place.conditions.symbolic(test))


def _excludes(held: cst.BaseExpression, test: cst.BaseExpression) -> bool:
    """Whether one comparison is false wherever the other, of the same sides, is true."""
    if not isinstance(held, cst.Comparison) or not isinstance(test, cst.Comparison):
        return False
    (left, operator, right), (other, contrary, last) = (_sides(comparison) for comparison in (held, test))
    return (left, right) == (other, last) and contrary in _EXCLUDES.get(operator, ())


def _sides(node: cst.Comparison) -> tuple[str, str, str]:
    if len(node.comparisons) != 1:
        return code(node), "", ""
    target = node.comparisons[0]
    return code(node.left), code(target.operator).strip(), code(target.comparator)
