"""A shortcut for empty inputs or for size 1 is not taken where the size is unknown.

    if x.numel() == 0:                   if guard_or_false(x.numel() == 0):
        return x.clone()                     return x.clone()

What it does: the general path serves unknown sizes. `== 0`, `== 1`, `<= 1` get `guard_or_false`; their negations
`!= 0`, `> 0`, `> 1` and plain truth get `guard_or_true`. A path for empty inputs is a shortcut; what is done for size 1
may be another thing, so there the general path has to be one that expands, reshapes or copies. A general path that
divides by a size serves 0 too once it divides by `torch.sym_max(size, 1)`. A number below 0 stands for "not given":
no size is one. Where a decomposition asks for a size on some devices alone, the path of the others serves it. Left are
branches that return a truth callers decide by, end a loop or one of its turns, or stop a recursion, and whose other
path asks for a maximum, or another thing that an empty tensor has not, checks something, or slices by the size from the
end. Only sizes, and their products, sums and quotients rounded up, are known to be 0 just for what is empty: left
is what asks it of another number (a difference, a remainder, what a helper gives or is passed) or which number below 0
that one is. A tensor that is empty may stand for none: left is what gives for it something made without it, or changes
others where it has elements (`if y.numel(): x = x + y`). What is computed of nothing and has elements must be known to
be what the shortcut gives, zeros most often: left is `x.mean()` behind `x.sum() * 0`. Both ways are followed to the end
of the function: left is what is seen to give another shape for the sizes that would have gone the other way. Where
Dynamo traces a program both ways must be seen to give the same shape and dtype, as an operator's have: left is a row of
zeros that stands for no rows, `x` before `x.double()`, `x.detach()`, `x * 2` (int64 of bools) or an unknown function.

Why: the branch needs an answer while tracing, and the other path would have done.

Fix safety: review. Known sizes are guarded as before.

References: torch/fx/experimental/symbolic_shapes.py (guard_or_false, guard_or_true).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.branches import decided, kinds, lean, on_every_device
from transforms.python.writing.logic import Undecided
from transforms.python.writing.neutral import serves_all
from transforms.python.writing.place import Change, Place, Rewrite
from transforms.python.writing.results import agreeing
from transforms.python.writing.serving import serving

NAME = "special-size-branch"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 160
EXAMPLES = (
    Example("def f(x: Tensor):\n    if x.ndim == len(x.shape):\n        return x\n    return x + 1\n", None, "no size"),
    Example(
        "def f(x: Tensor):\n    if x.numel() == 0:\n        return x.clone()\n    return x + 1\n",
        "def f(x: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_false\n\n"
        "    if guard_or_false(x.numel() == 0):\n        return x.clone()\n    return x + 1\n",
    ),
    Example(
        "def f(x: Tensor):\n    if x.numel() != 0 and x.ndim != 0:\n        x = x + 1\n    return x\n",
        "def f(x: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_true\n\n"
        "    if guard_or_true(x.numel() != 0) and x.ndim != 0:\n        x = x + 1\n    return x\n",
    ),
    Example(
        "def f(x: Tensor, k: int):\n    if x.numel() == 0:\n        return x.clone()\n    return x + k % x.size(0)\n",
        "def f(x: Tensor, k: int):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_false\n\n"
        "    if guard_or_false(x.numel() == 0):\n        return x.clone()\n"
        "    return x + k % torch.sym_max(x.size(0), 1)\n",
        "the general path divides by the size",
    ),
    Example(
        "def f(x: Tensor):\n    if x.size(0) == 1:\n        return x.squeeze(0)\n    return x.mean(0)\n",
        None,
        "size 1 may mean another thing",
    ),
    Example(
        "@register_decomposition(aten.f)\ndef f(x: Tensor, n: int):\n"
        "    if x.numel() == 0 or (x.is_cuda and x.size(0) == n):\n        return x.clone()\n"
        "    return x.view(n, -1).view(x.shape).clone()\n",
        "@register_decomposition(aten.f)\ndef f(x: Tensor, n: int):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_false\n\n"
        "    if guard_or_false(x.numel() == 0) or (x.is_cuda and guard_or_false(x.size(0) == n)):\n"
        "        return x.clone()\n    return x.view(n, -1).view(x.shape).clone()\n",
        "other devices take the general path",
    ),
    Example(
        "@register_meta(aten.f)\ndef f(x: Tensor, n: int):\n"
        "    if x.numel() == 0 or (x.is_cuda and x.size(0) == n):\n        return x.clone()\n"
        "    return x.view(n, -1).view(x.shape).clone()\n",
        None,
        "the kernel of that device may do another thing",
    ),
    Example(
        "@register_decomposition(aten.f)\ndef f(x: Tensor, y: Tensor):\n"
        "    if x.device == y.device and x.size(0) == y.size(0):\n        return x.clone()\n    return x + y\n",
        None,
        "no kind of device",
    ),
    Example(
        "def f(x: Tensor):\n    if x.numel() == 0:\n        return x.clone()\n    return x / x.amax()\n",
        None,
        "an empty tensor has no maximum",
    ),
    Example("def f(x: Tensor):\n    n = x.size(0) % 2\n    return x[1:] if n else x\n", None, "a remainder"),
    Example("def f(x: Tensor):\n    k = len(x) - 1\n    return x if k == 0 else x[k - 1]\n", None, "a difference"),
    Example("def f(x: Tensor, n: int):\n    k = n - len(x)\n    return x if k <= 0 else x[k:]\n", None, "an order"),
    Example("def f(x: Tensor, n: SymInt):\n    if n > 0:\n        x = x[:-n]\n    return x\n", None, "x[:-0] is empty"),
    Example(
        "def f(x: Tensor, y: Tensor):\n"
        "    if y.numel() > 0:\n        assert y.is_cuda\n        x = x + y\n    return x\n",
        None,
        "an empty tensor that stands for none is not checked",
    ),
    Example(
        "def f(x: Tensor):\n    if x.numel() == 0:\n        return True\n    return bool(x.all())\n",
        None,
        "callers decide by what is returned",
    ),
    Example(
        "def f(x: Tensor, s: list[SymInt]):\n    if s[0] == -1:\n        s[0] = x.size(0)\n    return s\n",
        "def f(x: Tensor, s: list[SymInt]):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_false\n\n"
        "    if guard_or_false(s[0] == -1):\n        s[0] = x.size(0)\n    return s\n",
        "a number that no size is",
    ),
)

MESSAGE = "a shortcut for special sizes asks for a size"


def rewrite(place: Place) -> Rewrite | None:
    """The decided branch or conditional expression, or None where sizes are compared with other things."""
    branch = place.site.node
    if not isinstance(branch, (ast.If, ast.IfExp)):
        return None
    test = place.tree(branch.test)
    shared = place.decomposes and lean(place, test) is False
    compared = kinds(place, on_every_device(place, test) if shared else test)
    if not compared <= {"empty", "one", "sentinel"}:
        return None
    if compared == {"sentinel"}:
        return Rewrite(Level.REVIEW, MESSAGE, place.replaced(branch.test, place.conditions.guarded(test)))
    general = lean(place, test)
    shortcut = isinstance(branch, ast.If) and compared == {"empty"} and general is not None
    same = general is not None and serves_all(place, branch, general)
    if not shortcut and not same:
        raise Undecided("whether the path for sizes in general serves this one too is not to be seen here")
    safe: tuple[Change, ...] = ()
    if isinstance(branch, ast.If):
        safe = serving(place, branch, general, shortcut)
    elif general is not None:
        agreeing(place, branch, general)
    return Rewrite(Level.REVIEW, MESSAGE, (*decided(place, branch, general if same else None), *safe), general=general)
