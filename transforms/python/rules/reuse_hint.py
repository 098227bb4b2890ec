"""How often a value is read, which a lowering of Inductor only estimates, is asked without a guard.

    x.mark_reuse(sizevars.guarding_hint_or_throw(n))      x.mark_reuse(sizevars.optimization_hint(n))

What it does: where a hint only tells `mark_reuse` how often, or whether to call it, `optimization_hint` gives it, which
is the same number for known sizes and an estimate for unknown ones.

Why: `guarding_hint_or_throw` is for decisions that are guarded, and refuses an unknown size; `mark_reuse` decides
nothing but whether a value is kept or computed again.

Fix safety: review. Left is what unknown sizes do not come to.

References: torch/_inductor/sizevars.py (optimization_hint), torch/_inductor/ir.py (mark_reuse).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import called
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "reuse-hint"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 27
_HEAD = "from torch._inductor.lowering import register_lowering\n@register_lowering(aten.f)\ndef f(x, n):\n"
EXAMPLES = (
    Example(
        f"{_HEAD}    n = V.graph.sizevars.guarding_hint_or_throw(n)\n    return [x] * n\n",
        None,
        "the number is needed",
    ),
    Example(
        f"{_HEAD}    if not free_unbacked_symbols(n):\n"
        "        x.mark_reuse(V.graph.sizevars.guarding_hint_or_throw(n))\n    return x\n",
        None,
        "unknown sizes do not come here",
    ),
    Example(
        f"{_HEAD}    x.mark_reuse(V.graph.sizevars.guarding_hint_or_throw(n))\n    return x\n",
        f"{_HEAD}    x.mark_reuse(V.graph.sizevars.optimization_hint(n))\n    return x\n",
    ),
)

MESSAGE = "an unknown size has no hint to guard on"
ESTIMATE = "optimization_hint"
_HELD = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.keyword)
_UNKNOWN = frozenset({"free_unbacked_symbols", "has_free_unbacked_symbols"})


def rewrite(place: Place) -> Rewrite | None:
    """The call by the other name; nothing is said where more than an estimate is asked."""
    node = place.site.node
    if place.site.kind != "hinted" or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if not place.names.sympy or _known(place, node) or not _only_estimates(place, node):
        return Rewrite(Level.MANUAL, MESSAGE)  # nothing is said of it
    place.names.used.add(f"sizevars.{ESTIMATE}")
    end = place.layout.end(node.func)
    return Rewrite(Level.REVIEW, MESSAGE, (Change(end - len(node.func.attr), end, ESTIMATE),))


def _known(place: Place, node: ast.AST) -> bool:
    """Whether a branch around asks for unknown sizes first."""
    holder = place.around(node)
    while holder is not None:
        if isinstance(holder, ast.If) and any(
            isinstance(part, ast.Call) and called(part) in _UNKNOWN for part in ast.walk(holder.test)
        ):
            return True
        holder = place.around(holder)
    return False


def _only_estimates(place: Place, node: ast.AST) -> bool:
    """Whether a value is only computed with for `mark_reuse`, or for whether to call it."""
    part, holder = node, place.around(node)
    while isinstance(holder, _HELD):
        part, holder = holder, place.around(holder)
    if isinstance(holder, ast.Call):
        return called(holder) == "mark_reuse" and part is not holder.func
    return (
        isinstance(holder, ast.If)
        and part is holder.test
        and not holder.orelse
        and all(
            isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and called(s.value) == "mark_reuse"
            for s in holder.body
        )
    )
