"""A size in a set, or as the key of a dict, is left and named.

    assert len({x.size(0), y.size(0)}) == 1
    if len(set(t.size(0) for t in tensors)) > 1: …
    plan = PLANS.get(x.size(0))

What it does: nothing; what the set is for decides what takes its place, as `torch._check(x.size(0) == y.size(0))`.

Why: a symbol has no hash. A fake or a meta raises `TypeError: unhashable type`, and torch.compile makes the size a
constant.

Fix safety: manual.

References: torch/__init__.py (SymInt.__hash__).
"""

from __future__ import annotations

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.demands import LOOKUPS
from transforms.python.flow.nodes import called
from transforms.python.writing.place import Place, Rewrite

NAME = "hashed-size"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.MANUAL
PRECEDENCE = 235
EXAMPLES = (
    Example("def f(x: Tensor):\n    return {x.ndim, 1}\n", None, "a rank is no symbol"),
    Example("def f(x: Tensor):\n    return PLANS.get(x.size(0))\n", None, "named, not edited"),
    Example("def f(x: Tensor, y: Tensor):\n    return len({x.size(0), y.size(0)}) == 1\n", None, "named, not edited"),
)

REASON = "a symbol has no hash: compare the sizes with each other, or keep them in a list"
LOOKUP = "a symbol has no hash, and torch.compile would keep one graph for each size: look it up by what is no size"


def rewrite(place: Place) -> Rewrite | None:
    """The refusal, for sets and dicts of sizes."""
    if place.site.kind != "hashed":
        return None
    reason = LOOKUP if called(place.site.node) in LOOKUPS else REASON
    return Rewrite(Level.MANUAL, "a size is hashed", reason=reason, refusal="hashed-size")
