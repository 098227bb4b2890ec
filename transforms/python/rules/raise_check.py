"""A branch on sizes that only raises becomes a check.

    if a.shape[0] != b.shape[0]:                 torch._check_value(
        raise ValueError(f"sizes differ: …")         a.shape[0] == b.shape[0], lambda: f"sizes differ: …"
                                                 )

What it does: for sizes that are known the same exception is raised and the same guard is made; for unknown ones the
check is made when the code runs. The exception keeps its type: `_check` raises RuntimeError, `_check_value` ValueError,
`_check_index` IndexError, `_check_type` TypeError, `_check_not_implemented` NotImplementedError, and `_check_with` any.

Why: the branch needs an answer while tracing, and fails where there is none.

Fix safety: safe. Where Dynamo traces the function, its message may not close over sizes (the handler of torch._check in
torch/_dynamo/variables/torch.py), so the branch stays for known sizes and a check is put behind it; that is for review.

References: torch/__init__.py (_check and its kin).
"""

from __future__ import annotations

import ast
import re

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.branches import is_elif, pinned, raises
from transforms.python.writing.checks import check_statement, exception_check
from transforms.python.writing.logic import code
from transforms.python.writing.place import Place, Rewrite

NAME = "raise-check"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.SAFE
PRECEDENCE = 100
EXAMPLES = (
    Example(
        "def f(x: Tensor, y: Tensor):\n    if x.ndim != 2:\n        raise ValueError('2D only')\n    return x\n",
        None,
        "ranks are no symbols",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n"
        "    if x.numel() != y.numel():\n"
        "        said = f'{x.shape}'\n"
        "        raise ValueError(said)\n"
        "    return x\n",
        "def f(x: Tensor, y: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_false\n\n"
        "    if guard_or_false(x.numel() != y.numel()):\n"
        "        said = f'{x.shape}'\n"
        "        raise ValueError(said)\n"
        "    torch._check_value(\n"
        "        x.numel() == y.numel(),\n"
        '        lambda: "expected x.numel() == y.numel(), which was assumed while tracing",\n'
        "    )\n"
        "    return x\n",
        "a message that is made first stays where it is",
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
        "def f(x: Tensor, y: Tensor):\n"
        "    if x.size(0) < 2 or y.size(0) < 2:  # both\n"
        "        # two are needed\n"
        "        raise IndexError(f'too few: {x.shape}')\n"
        "    return x\n",
        "def f(x: Tensor, y: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import sym_and\n\n"
        "    # both\n"
        "    # two are needed\n"
        "    torch._check_index(\n"
        "        sym_and(x.size(0) >= 2, y.size(0) >= 2),\n"
        "        lambda: f'too few: {x.shape}',\n"
        "    )\n"
        "    return x\n",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n    if x.numel() == 0:\n        raise AssertionError\n    return x\n",
        "def f(x: Tensor, y: Tensor):\n"
        '    torch._check_with(AssertionError, x.numel() != 0, lambda: "")\n'
        "    return x\n",
    ),
)

MESSAGE = "a branch on sizes that only raises is a check"


def rewrite(place: Place) -> Rewrite | None:
    """The check, or None where neither path of the branch ends in an exception."""
    branch = place.site.node
    if place.site.kind != "if" or not isinstance(branch, ast.If):
        return None
    test = place.tree(branch.test)
    if raises(branch.orelse) and not raises(branch.body):
        changes = place.replaced(branch.test, place.conditions.guarded(test, True))
        return Rewrite(Level.REVIEW, MESSAGE, (*changes, pinned(place, branch, test, True)))
    if not raises(branch.body):
        return None
    raised = branch.body[-1]
    function, message = exception_check(raised) if isinstance(raised, ast.Raise) else ("", None)
    clean = (
        function
        and len(branch.body) == 1
        and not branch.orelse
        and not is_elif(place, branch)
        and place.layout.indent(branch) is not None
    )
    if clean and not place.scripted and not (place.inlined and _closes_over(place, message)):
        condition = place.conditions.negated(test)
        plain = not re.search(r"\bsym_(?:or|not)\(", code(condition))
        level = Level.SAFE if plain and not place.inlined else Level.REVIEW
        return Rewrite(level, MESSAGE, (check_statement(place, branch, function, condition, message),))
    changes = place.replaced(branch.test, place.conditions.guarded(test, False))
    name = function.partition("(")[0] if function and not function.startswith("_check_with") else "_check"
    return Rewrite(Level.REVIEW, MESSAGE, (*changes, pinned(place, branch, test, False, name)))


def _closes_over(place: Place, message: ast.expr | None) -> bool:
    return message is not None and any(isinstance(node, ast.Name) for node in ast.walk(message))
