"""An assertion on sizes becomes a check that raises AssertionError.

    assert x.shape[0] == n, "…"      torch._check_with(AssertionError, x.shape[0] == n, lambda: "…")

What it does: known sizes raise and guard as before; unknown ones are checked when the code runs.

Why: `assert` needs an answer while tracing.

Fix safety: safe; for review where the condition holds an `or`, whose guard is then one instead of two. Not offered
where Dynamo or TorchScript read the function: they know `assert` themselves.

References: torch/__init__.py (_check_with).
"""

from __future__ import annotations

import ast
import re

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.logic import code
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "assert-check"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.SAFE
PRECEDENCE = 110
EXAMPLES = (
    Example("def f(x: Tensor):\n    assert x.dim() == 2\n    return x\n", None, "ranks are no symbols"),
    Example(
        "def f(x: Tensor):\n    assert x.size(0) == 2, 'two'\n    return x\n",
        "def f(x: Tensor):\n    torch._check_with(AssertionError, x.size(0) == 2, lambda: 'two')\n    return x\n",
    ),
)

MESSAGE = "an assertion on sizes is a check"


def rewrite(place: Place) -> Rewrite | None:
    """The check in place of the assertion."""
    node = place.site.node
    if not isinstance(node, ast.Assert):
        return None
    if place.inlined or place.scripted:
        reason = "Dynamo turns assertions on sizes into checks by itself"
        return Rewrite(Level.MANUAL, MESSAGE, reason=reason, refusal="traced-assert")
    condition = code(place.conditions.symbolic(place.tree(node.test)))
    message = place.text(node.msg) if node.msg is not None else '""'
    text = f"{place.names.torch}._check_with(AssertionError, {condition}, lambda: {message})"
    level = Level.REVIEW if re.search(r"\bsym_(?:or|not)\(", condition) else Level.SAFE
    return Rewrite(level, MESSAGE, (Change(place.layout.start(node), place.layout.end(node), text),))
