"""A check that a guess says to make is left to what the size turns out to be.

    if guard_or_true(x.numel() != 0):      torch._check(sym_or(x.numel() == 0, x.dtype == torch.long), lambda: "…")
        torch._check(x.dtype == …)

What it does: what is asked of all but empty tensors, save of their sizes, is checked with "or it is empty", which can
be left for the time the code runs. Other checks of the branch stay where they are.

Why: `guard_or_true` takes an unknown size for not 0, and the branch then refuses what empty tensors may be.

Fix safety: review. For known sizes the same checks fail with the same messages. Only where the branch does nothing but
check, and where what is checked can be evaluated always.

References: torch/fx/experimental/symbolic_shapes.py (guard_or_true, sym_or), torch/_meta_registrations.py (gather).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.guesses import not_empty
from transforms.python.flow.sites import guessed_checks
from transforms.python.writing.checks import checked_unless
from transforms.python.writing.logic import Undecided
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "guessed-check"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 45
_GUARD = "    from torch.fx.experimental.symbolic_shapes import guard_or_false\n\n"
_BOTH = "    from torch.fx.experimental.symbolic_shapes import guard_or_false, sym_or\n\n"
EXAMPLES = (
    Example(
        f"def f(x: Tensor):\n{_GUARD}    if not guard_or_false(x.numel() == 0):\n"
        "        torch._check(x.size(0) > 2)\n    return x\n",
        None,
        "a size is checked",
    ),
    Example(
        f"def f(x: Tensor):\n{_GUARD}    if not guard_or_false(x.numel() == 0):\n"
        "        torch._check(x.dtype == torch.long)\n        x = x.mH\n    return x\n",
        None,
        "the branch does more",
    ),
    Example(
        f"def f(x: Tensor):\n{_GUARD}    if guard_or_false(x.numel() == 0):\n"
        "        torch._check(x.dtype == torch.long)\n    return x\n",
        None,
        "unknown sizes pass by",
    ),
    Example(
        f"def f(x: Tensor, i: Tensor):\n{_GUARD}    empty = guard_or_false(i.numel() == 0)\n    i = i[1:]\n"
        "    if not empty:\n        torch._check(i.dtype == torch.long)\n    return x\n",
        None,
        "another tensor by then",
    ),
    Example(
        f"def f(x: Tensor, i: Tensor):\n{_GUARD}    empty = guard_or_false(i.numel() == 0)\n    if not empty:\n"
        "        torch._check(i.dtype == torch.long, lambda: 'no index')\n        check_sizes(x, i)\n    return x\n",
        f"def f(x: Tensor, i: Tensor):\n{_BOTH}    empty = guard_or_false(i.numel() == 0)\n"
        "    torch._check(sym_or(i.numel() == 0, i.dtype == torch.long), lambda: 'no index')\n    if not empty:\n"
        "        check_sizes(x, i)\n    return x\n",
    ),
    Example(
        "def f(x: Tensor):\n    from torch.fx.experimental.symbolic_shapes import guard_or_true\n\n"
        "    if guard_or_true(x.numel() > 0):\n        torch._check(x.dtype == torch.long)\n    return x\n",
        "def f(x: Tensor):\n    from torch.fx.experimental.symbolic_shapes import sym_or\n\n"
        "    torch._check(sym_or(x.numel() <= 0, x.dtype == torch.long))\n    return x\n",
    ),
)

MESSAGE = "a check of what is not empty refuses what may be"


def rewrite(place: Place) -> Rewrite | None:
    """The checks above the branch, or None for other sites."""
    branch, layout = place.site.node, place.layout
    if place.site.kind != "guessed" or not isinstance(branch, ast.If):
        return None
    guess, checks = not_empty(branch.test, place.nodes), guessed_checks(branch, place.nodes, place.values)
    indent = layout.indent(branch)
    if place.shared or indent is None or guess is None or "#" in place.text(branch):
        raise Undecided("the check does not stand by itself")
    condition = place.tree(guess.condition)
    empty = place.conditions.pushed_not(condition) if guess.holds else condition
    lines = [checked_unless(place, [empty], statement) for statement in branch.body[: len(checks)]]
    text = f"{layout.newline}{indent}".join(lines)
    start, rest = layout.start(branch), branch.body[len(checks) :]
    if not rest:
        return Rewrite(Level.REVIEW, MESSAGE, (Change(start, layout.end(branch), text),))
    first, kept = layout.start(branch.body[0]), layout.start(rest[0])
    changes = (Change(start, start, f"{text}{layout.newline}{indent}"), Change(first, kept, ""))
    return Rewrite(Level.REVIEW, MESSAGE, changes)
