"""Functions that are deprecated or gone are replaced by what says the same of unknown sizes.

    guard_size_oblivious(n == 0)      guard_or_false(n == 0)
    guard_size_oblivious(n != 1)      guard_or_true(n != 1)
    definitely_true(c)                guard_or_false(c)
    torch._check_is_size(n)           torch._check(n >= 0), nothing where that stands beside it

What it does: `guard_size_oblivious` took unknown sizes to be neither 0 nor 1; `guard_or_false` and `guard_or_true` say
which outcome to take. The polarity follows from the comparison.

Why: `guard_size_oblivious` and `_check_is_size` are deprecated in torch 2.13, `definitely_true` is gone. A torch with
`_check_is_size` and does not deprecate it takes the size to be neither 0 nor 1, which no check does: there it is left.

Fix safety: review. Known sizes are guarded as before; unknown ones lose the size-oblivious reasoning.

References: torch/fx/experimental/symbolic_shapes.py, torch/__init__.py (_check_is_size).
"""

from __future__ import annotations

import ast
import itertools

import libcst as cst

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import called
from transforms.python.writing.branches import outcome
from transforms.python.writing.logic import Undecided
from transforms.python.writing.nodes import call, code, parenthesized
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "size-oblivious"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 90
EXAMPLES = (
    Example("def f(x: Tensor):\n    torch._check_is_size(x.size(0), max=5)\n", None, "an upper bound"),
    Example(
        "def f(x: Tensor):\n    n = x.size(0)\n    torch._check_is_size(n)\n",
        "def f(x: Tensor):\n    n = x.size(0)\n    torch._check(n >= 0)\n",
    ),
    Example(
        "def f(x: Tensor):\n    n = x.size(0)\n    torch._check_is_size(n)\n    torch._check(n >= 1)\n",
        "def f(x: Tensor):\n    n = x.size(0)\n    torch._check(n >= 1)\n",
        "one check says it",
    ),
    Example(
        "def f(x: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_size_oblivious\n\n"
        "    return guard_size_oblivious(x.size(0) != 1)\n",
        "def f(x: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_true\n\n"
        "    return guard_or_true(x.size(0) != 1)\n",
    ),
)

MESSAGE = "the function is deprecated"


def rewrite(place: Place) -> Rewrite | None:
    """The call of what took its place. Raises Undecided where the polarity is not to be seen."""
    node = place.site.node
    if place.site.kind != "deprecated" or not isinstance(node, ast.Call):
        return None
    name = called(node)
    if not node.args or any(keyword.arg == "max" for keyword in node.keywords):
        raise Undecided("an upper bound belongs to a check of its own")
    tree = place.tree(node)
    condition = place.tree(node.args[0])
    if name == "_check_is_size":
        place.names.used.add("deprecated torch._check_is_size")
        if (line := _needless(place, node)) is not None:
            return Rewrite(Level.REVIEW, MESSAGE, (line,))
        assert isinstance(tree, cst.Call)
        bound = cst.Comparison(
            parenthesized(condition), [cst.ComparisonTarget(cst.GreaterThanEqual(), cst.Integer("0"))]
        )
        check = cst.parse_expression(code(tree.func).replace("_check_is_size", "_check"))
        new = tree.with_changes(func=check, args=[tree.args[0].with_changes(value=bound), *tree.args[1:]])
    elif name == "definitely_true":
        new = call(place.names("guard_or_false"), condition)
    elif name == "definitely_false":
        new = call(place.names("guard_or_false"), call(place.names("torch.sym_not"), condition))
    else:
        general = outcome(place, condition)
        if general is None:
            raise Undecided(f"whether {code(condition)} holds in general is not to be seen here")
        new = call(place.names("guard_or_true" if general else "guard_or_false"), place.conditions.symbolic(condition))
    return Rewrite(Level.REVIEW, MESSAGE, place.replaced(node, new))


def _needless(place: Place, node: ast.Call) -> Change | None:
    """The line of a check gone, where one beside it says as much: `torch._check(n >= 1)`."""
    blocks = (getattr(holder, name, ()) for holder in place.nodes for name in ("body", "orelse", "finalbody"))
    blocks = (block for block in (*blocks, place.function.body) if isinstance(block, list))
    for block in blocks:
        statement = next((s for s in block if isinstance(s, ast.Expr) and s.value is node), None)
        if statement is None:
            continue
        beside = [list(checks) for is_check, checks in itertools.groupby(block, _is_check) if is_check]
        if any(
            statement in checks and any(_is_bound(c, ast.unparse(node.args[0])) for c in checks) for checks in beside
        ):
            layout, row = place.layout, statement.lineno - 1
            first, last = layout.offsets[row], layout.offsets[row + 1]
            alone = layout.text(first, last).strip() == place.text(statement)
            return Change(first, last, "") if alone else None
    return None


def _is_check(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and called(statement.value).startswith("_check")


def _is_bound(statement: ast.stmt, number: str) -> bool:
    """Whether a statement checks that a number is not negative."""
    if not isinstance(statement, ast.Expr) or called(statement.value) != "_check":
        return False
    match statement.value:
        case ast.Call(args=[ast.Compare(left=left, ops=[ast.GtE()], comparators=[ast.Constant(value=0 | 1)]), *_]):
            return ast.unparse(left) == number
    return False
