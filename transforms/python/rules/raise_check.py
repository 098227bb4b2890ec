"""A branch on sizes that only raises becomes a check.

    if a.shape[0] != b.shape[0]:                 torch._check_value(
        raise ValueError(f"sizes differ: …")         a.shape[0] == b.shape[0], lambda: f"sizes differ: …"
                                                 )
    elif m != n:                                 elif not expect_true(m == n):
        raise ValueError("…")                        raise ValueError("…")

What it does: for sizes that are known the same exception is raised and the same guard is made; for unknown ones the
check is made when the code runs. The exception keeps its type: `_check` raises RuntimeError, `_check_value` ValueError,
`_check_index` IndexError, `_check_type` TypeError, `_check_not_implemented` NotImplementedError, and `_check_with` any.
A message that is made on the line before is made in the check, and one that asks something of what may be None stands
with its check behind `if w is not None`, where type checkers know it. Where no such call may stand, in an `elif`,
beside an `else`, where an operand behind `or` may itself raise, where there is no message, or one that may be no
string, reads a frame (`locals()`) or is read elsewhere (a global, in a `finally`), the branch stays and its condition
is expected to be false: `expect_true` says what is known, else yes, and then it is checked when the code runs.

Why: the branch needs an answer while tracing, and fails where there is none.

Fix safety: safe as a call, for review as an expectation, and where a size is compared with what is not known for a
number (numpy's truths no check takes). Code that eager, TorchScript or Inductor run too is written with the helpers of
torch._prims_common, which cost a bool nothing. Where Dynamo traces a function of the user's it is for review: compiled
code ends a check that fails in a RuntimeError of its own, eager in the same exception as before; the message may not
close over sizes (the handler of torch._check in torch/_dynamo/variables/torch.py). Left is what the function, a caller
that symbols reach, a function that it is passed to or a context manager may catch: the answer picks the path there.

References: torch/__init__.py (_check and its kin), torch/fx/experimental/symbolic_shapes.py (expect_true).
"""

from __future__ import annotations

import ast
import re
from contextlib import suppress

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.branches import is_elif, raises
from transforms.python.writing.checks import check_statement, closes_over, folded_raise, is_caught, refuse_message
from transforms.python.writing.logic import Undecided
from transforms.python.writing.nodes import code
from transforms.python.writing.place import Place, Rewrite

NAME = "raise-check"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.SAFE
PRECEDENCE = 100
EXAMPLES = (
    Example("def f(x: Tensor):\n    if x.ndim != 2:\n        raise ValueError('2D')\n    return x\n", None, "a rank"),
    Example(
        "def f(x: Tensor, y: Tensor):\n"
        "    if x.numel() != y.numel():\n"
        "        msg = f'{x.shape}'\n"
        "        raise ValueError(msg)\n"
        "    return x\n",
        "def f(x: Tensor, y: Tensor):\n"
        "    torch._check_value(x.numel() == y.numel(), lambda: f'{x.shape}')\n"
        "    return x\n",
        "a message that is made first is made in the check",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n"
        "    if x.shape[0] != y.shape[0]:\n"
        "        raise ValueError('sizes differ')\n"
        "    return x\n",
        "def f(x: Tensor, y: Tensor):\n"
        "    torch._check_value(x.shape[0] == y.shape[0], lambda: 'sizes differ')\n"
        "    return x\n",
    ),
    Example(
        "def f(x: Tensor):\n"
        "    m, n = x.shape\n"
        "    if x.size(0) < 2 or x.size(1) < 2:  # both\n"
        "        # two are needed\n"
        "        raise IndexError(f'too few: {x.shape}')\n"
        "    return x\n",
        "def f(x: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import sym_and\n\n"
        "    m, n = x.shape\n"
        "    # both\n"
        "    # two are needed\n"
        "    torch._check_index(\n"
        "        sym_and(x.size(0) >= 2, x.size(1) >= 2), lambda: f'too few: {x.shape}'\n"
        "    )\n"
        "    return x\n",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n"
        "    if x.size(0) < 2 or y.size(0) < 2:\n        raise IndexError('too few')\n    return x\n",
        "def f(x: Tensor, y: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import expect_true\n\n"
        "    if not expect_true(x.size(0) >= 2) or not expect_true(y.size(0) >= 2):\n"
        "        raise IndexError('too few')\n    return x\n",
        "y.size(0) may raise, so it is asked only where it was",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n"
        "    if x.numel() == y.numel():\n        x = x.view(y.shape)\n"
        "    else:\n        raise ValueError('sizes differ')\n    return x\n",
        "def f(x: Tensor, y: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import expect_true\n\n"
        "    if expect_true(x.numel() == y.numel()):\n        x = x.view(y.shape)\n"
        "    else:\n        raise ValueError('sizes differ')\n    return x\n",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n    if x.numel() == 0:\n        raise AssertionError\n    return x\n",
        "def f(x: Tensor, y: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import expect_true\n\n"
        "    if not expect_true(x.numel() != 0):\n        raise AssertionError\n    return x\n",
        "a check has a message",
    ),
)

MESSAGE = "a branch on sizes that only raises is a check"


def rewrite(place: Place) -> Rewrite | None:
    """The check or the expectation, or None where neither path of the branch ends in an exception."""
    branch = place.site.node
    if place.site.kind != "if" or not isinstance(branch, ast.If) or raises(branch.body) == raises(branch.orelse):
        return None
    if is_caught(place, branch):
        raise Undecided(
            "the function or a caller may catch what the branch raises, so the answer is needed while tracing"
        )
    try:
        return _rewrite(place, branch)
    except Undecided as undecided:
        refuse_message(place, branch, undecided)
        raise


def _rewrite(place: Place, branch: ast.If) -> Rewrite:
    test = place.tree(branch.test)
    if raises(branch.orelse):
        return Rewrite(Level.REVIEW, MESSAGE, place.replaced(branch.test, place.conditions.expected(test)))
    function, message = folded_raise(place, branch)
    whole = function and not branch.orelse and not is_elif(place, branch) and place.layout.indent(branch) is not None
    if whole and message is not None and not place.shared and not (place.inlined and closes_over(message)):
        with suppress(Undecided):  # an operand that may not be moved is asked by itself, below
            condition = place.conditions.negated(test)
            if not place.conditions.surely_bool(condition):
                raise Undecided("what is checked may be no bool")
            plain = not re.search(r"\bsym_(?:or|not)\(", code(condition))
            plain = plain and place.values.value(branch.test).numeric
            level = Level.SAFE if plain and not place.inlined else Level.REVIEW
            return Rewrite(level, MESSAGE, (check_statement(place, branch, function, condition, message),))
        place.names.used = set()
    return Rewrite(Level.REVIEW, MESSAGE, place.replaced(branch.test, place.conditions.refused(test)))
