"""A branch on sizes that only warns does not warn where the sizes are unknown.

    if target.size() != input.size():        if not guard_or_true(sym_eq(target.size(), input.size())):
        warnings.warn("…")                       warnings.warn("…")

What it does: nothing is computed in the branch but the message, so unknown sizes pass it by.

Why: a warning is no reason to fail.

Fix safety: review. Known sizes warn as before; for unknown ones the warning is lost.

References: torch/fx/experimental/symbolic_shapes.py.
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.branches import only
from transforms.python.writing.place import Place, Rewrite

NAME = "warning-branch"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 150
EXAMPLES = (
    Example("def f(x: Tensor):\n    if x.ndim > 2:\n        warnings.warn('w')\n", None, "ranks are no symbols"),
    Example(
        "def f(x: Tensor, y: Tensor):\n    if x.size() != y.size():\n        warnings.warn('differ')\n",
        "def f(x: Tensor, y: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_true, sym_eq\n\n"
        "    if not guard_or_true(sym_eq(x.size(), y.size())):\n"
        "        warnings.warn('differ')\n",
    ),
    Example(
        "def f(x: Tensor):\n    if x.numel() != 0:\n        text = f'{x.shape}'\n        warnings.warn(text)\n",
        "def f(x: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_false\n\n"
        "    if guard_or_false(x.numel() != 0):\n        text = f'{x.shape}'\n        warnings.warn(text)\n",
        "the message is made first",
    ),
)

MESSAGE = "a branch on sizes only warns"


def rewrite(place: Place) -> Rewrite | None:
    """The branch that unknown sizes do not take, or None where it does more than warn."""
    branch = place.site.node
    if place.site.kind != "if" or not isinstance(branch, ast.If) or branch.orelse or not _only_warns(place, branch):
        return None
    new = place.conditions.guarded(place.tree(branch.test), False)
    return Rewrite(Level.REVIEW, MESSAGE, place.replaced(branch.test, new))


def _only_warns(place: Place, branch: ast.If) -> bool:
    """Whether a branch does nothing but warn, and make a message that nothing else reads."""
    first = next((index for index, s in enumerate(branch.body) if not isinstance(s, ast.Assign)), len(branch.body))
    targets = [target for s in branch.body[:first] if isinstance(s, ast.Assign) for target in s.targets]
    messages = {target.id for target in targets if isinstance(target, ast.Name)}
    inside = {id(node) for node in ast.walk(branch)}
    return (
        only(branch.body[first:], "warn")
        and all(isinstance(target, ast.Name) for target in targets)
        and not any(
            isinstance(node, ast.Name) and node.id in messages and id(node) not in inside for node in place.nodes
        )
    )
