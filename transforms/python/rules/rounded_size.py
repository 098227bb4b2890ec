"""A size that is rounded up where it leaves a remainder is a sum.

    if n % m != 0:                        n = n + (m - n % m) % m
        n = n + m - n % m
    k = n // 8 + 1 if n % 8 else n // 8   k = (n + 7) // 8

What it does: what is missing to the next multiple is 0 where there is no remainder, once it is taken modulo `m`. A
quotient is rounded up as `-(-n // m)` where `m` may be less than 0. What the variable was before, and nothing reads any
more, goes.

Why: the branch needs an answer while tracing. Export refuses a size that may or may not be a multiple of something;
torch.compile makes a graph for each.

Fix safety: review. All whole numbers give the same, and no name is needed that eager, TorchScript or an older torch
lacks.

References: torch/fx/experimental/symbolic_shapes.py; torch/_meta_registrations.py pads a bias to 16 by such a choice.
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.branches import is_elif
from transforms.python.writing.place import Change, Place, Rewrite
from transforms.python.writing.remainders import remainder, rounded
from transforms.python.writing.unread import unread_before

NAME = "rounded-size"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 125
EXAMPLES = (
    Example(
        "def f(x: Tensor, m: int):\n    n = x.size(0)\n    if n % m != 0:\n        n = n + m\n    return n\n",
        None,
        "it is rounded to nothing",
    ),
    Example(
        "def f(x: Tensor, m: int):\n    n = x.size(0)\n    rest = n % m\n    n = n + 1\n"
        "    return n + m - rest if rest else n\n",
        None,
        "the remainder is that of another size",
    ),
    Example(
        "def f(x: Tensor, m: int):\n    n = x.size(0)\n    if n % m:\n        n += m - n % m\n    return n\n",
        "def f(x: Tensor, m: int):\n    n = x.size(0)\n    n = n + (m - n % m) % m\n    return n\n",
    ),
    Example(
        "def f(x: Tensor, m: int):\n    n = x.size(0)\n    k = 0\n    if n % m:\n        k = m - n % m\n    return k\n",
        "def f(x: Tensor, m: int):\n    n = x.size(0)\n    k = (m - n % m) % m\n    return k\n",
    ),
    Example(
        "def f(x: Tensor):\n    n = x.size(0)\n    return n if n % 16 == 0 else n + 16 - n % 16\n",
        "def f(x: Tensor):\n    n = x.size(0)\n    return n + (16 - n % 16) % 16\n",
    ),
    Example(
        "def f(x: Tensor, m: int):\n    n = x.size(0)\n    return n // 8 + 1 if n % 8 != 0 else n // 8\n",
        "def f(x: Tensor, m: int):\n    n = x.size(0)\n    return (n + 7) // 8\n",
    ),
)

MESSAGE = "a branch rounds a size up"


def rewrite(place: Place) -> Rewrite | None:
    """The sum in place of the choice, or None for other branches."""
    branch = place.site.node
    if not isinstance(branch, (ast.If, ast.IfExp)):
        return None
    if isinstance(branch, ast.IfExp):
        target, values = "", (branch.body, branch.orelse)
    elif (chosen := _assigned(branch)) is not None and not is_elif(place, branch):
        target, values = f"{chosen[0]} = ", chosen[1:]
    else:
        return None
    found = remainder(place, branch.test)
    if found is None:
        return None
    rest, exact = values if found.truth else reversed(values)
    text = rounded(place, found, rest, exact)
    if not text:
        return None
    start, end = place.layout.start(branch), place.layout.end(branch)
    unread = unread_before(place, branch, target.partition(" ")[0], text) if isinstance(branch, ast.If) else ()
    if unread and unread[1] is branch:
        start, unread = place.layout.start(unread[0]), ()
    change = Change(start, end, target + text)
    if not unread:
        return Rewrite(Level.REVIEW, MESSAGE, (change,))
    dropped, following = map(place.layout.start, unread)
    return Rewrite(Level.REVIEW, MESSAGE, (Change(dropped, following, ""), change))


def _assigned(branch: ast.If) -> tuple[str, ast.expr, ast.expr] | None:
    """The variable that both ways of a branch do no more than assign, and its values; None for other branches.

    Without an `else` it keeps what it was.
    """
    name, value = _assignment(branch.body)
    unchanged = ast.copy_location(ast.Name(name, ast.Load()), branch)
    other, kept = _assignment(branch.orelse) if branch.orelse else (name, unchanged)
    return (name, value, kept) if name == other and value is not None and kept is not None else None


def _assignment(block: list[ast.stmt]) -> tuple[str, ast.expr | None]:
    match block:
        case [ast.Assign(targets=[ast.Name(id=name)], value=value)]:
            return name, value
        case [ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value)]:
            return name, ast.BinOp(ast.copy_location(ast.Name(name, ast.Load()), target), op, value)
    return "", None
