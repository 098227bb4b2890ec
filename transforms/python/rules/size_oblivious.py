"""Functions that are deprecated or gone are replaced by what says the same of unknown sizes.

    guard_size_oblivious(n == 0)      guard_or_false(n == 0)
    guard_size_oblivious(n != 1)      guard_or_true(n != 1)
    definitely_true(c)                guard_or_false(c)
    torch._check_is_size(n)           torch._check(n >= 0), nothing where that stands beside it with the same message

What it does: `guard_size_oblivious` took unknown sizes to be neither 0 nor 1; `guard_or_false` and `guard_or_true` say
which outcome to take. The polarity follows from the comparison.

Why: `guard_size_oblivious` and `_check_is_size` are deprecated in torch 2.13, `definitely_true` is gone. A torch that
has no `guard_or_false` yet, or does not deprecate `_check_is_size`, takes such a size to be neither 0 nor 1, which no
check does: there they are no findings.

Fix safety: review. Known sizes are guarded as before; unknown ones lose the size-oblivious reasoning. A text for a
message is left where Dynamo reads it.

References: torch/fx/experimental/symbolic_shapes.py, torch/__init__.py (_check_is_size).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import blocks, called
from transforms.python.writing.branches import outcome
from transforms.python.writing.logic import Undecided
from transforms.python.writing.messages import check_called, messages_of
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
        "def f(x: Tensor):\n    n = x.size(0)\n    torch._check_is_size(n, lambda: 'a')\n"
        "    torch._check(n >= 1, lambda: 'b')\n",
        "def f(x: Tensor):\n    n = x.size(0)\n    torch._check(n >= 0, lambda: 'a')\n"
        "    torch._check(n >= 1, lambda: 'b')\n",
        "each says what it said",
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

_CHECK = "_check_is_size"
DEPRECATED_CHECK = f"deprecated torch.{_CHECK}"
"""The word of a vocabulary whose torch deprecates that check."""
_PLAIN = (ast.Name, ast.Constant, ast.Compare, ast.cmpop, ast.expr_context)
MESSAGE = "the function is deprecated"


def successor(node: ast.AST) -> str:
    """The word that the vocabulary of a torch has where what is called is deprecated there."""
    return DEPRECATED_CHECK if called(node) == _CHECK else "guard_or_false"


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
    if name == _CHECK:
        if (line := _needless(place, node)) is not None:
            return Rewrite(Level.REVIEW, MESSAGE, (line,))
        check_called(place, node)
        assert isinstance(tree, cst.Call)
        bound = cst.Comparison(
            parenthesized(condition), [cst.ComparisonTarget(cst.GreaterThanEqual(), cst.Integer("0"))]
        )
        check = cst.parse_expression(code(tree.func).replace(_CHECK, "_check"))
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
    """The line of a check gone, where one beside it says as much in the same words: `torch._check(n >= 1)`."""
    inner = [block for holder in place.nodes if isinstance(holder, ast.stmt) for block in blocks(holder)]
    for block in (*inner, place.function.body):
        statement = next((s for s in block if isinstance(s, ast.Expr) and s.value is node), None)
        if statement is None:
            continue
        at = block.index(statement)
        if any(_same_check(node, neighbour) for neighbour in (*_run(block[:at][::-1]), *_run(block[at + 1 :]))):
            layout, row = place.layout, statement.lineno - 1
            first, last = layout.offsets[row], layout.offsets[row + 1]
            alone = layout.text(first, last).strip() == place.text(statement)
            return Change(first, last, "") if alone else None
    return None


def _run(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements up to the first that may raise something else: checks of names without a message go by."""
    for statement in statements:
        yield statement
        check = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(check, ast.Call) or called(check) not in ("_check", _CHECK):
            return
        if len(check.args) != 1 or check.keywords or not all(isinstance(n, _PLAIN) for n in ast.walk(check.args[0])):
            return


def _same_check(node: ast.Call, statement: ast.stmt) -> bool:
    """Whether a statement checks, with the same message, that a number is not negative."""
    check = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(check, ast.Call) or called(check) != "_check" or len(check.args) not in (1, 2):
        return False
    match check.args[0]:
        case ast.Compare(left=left, ops=[ast.GtE()], comparators=[ast.Constant(value=0 | 1)]):
            texts = [list(map(ast.unparse, messages_of(call))) for call in (check, node)]
            return ast.unparse(left) == ast.unparse(node.args[0]) and texts[0] == texts[1]
    return False
