"""A branch that only crops a tensor to the sizes it asks about keeps all of it where nothing sticks out.

    x = x.view(b, hp, wp, -1)                       x = x.view(b, hp, wp, -1)
    if hp > h or wp > w:                            if torch.compiler.is_compiling() or hp > h or wp > w:
        x = x[:, :h, :w, :].contiguous()                x = x[:, :h, :w, :].contiguous()

What it does: wherever the code is compiled the tensor is sliced, to all of it where eager slices not at all; eager
branches as before. In fakes and metas, which eager does not run, and in PyTorch itself, `guard_or_true` decides. The
sizes that the tensor has are those of the `view` or `reshape` that made it, which are taken to be no -1; that they are
no more than the bounds where the branch passes it by is tried with numbers in their place. Left are other tensors, as
the slice asks by itself which of an input's size and its bound is more; branches that do anything else; slices that
begin elsewhere or take steps; and tensors of which somebody may see that they became a view or a copy, as for
padding-branch.

Why: such a branch undoes a padding. It fails where the size is not known while tracing; where the size is dynamic it
makes a graph for the sizes that fit and one for the others, after padding-branch has made one of two. What is computed
with the slice may still ask whether it is contiguous, for as many graphs: of the windows of segment-anything, three
are left of four.

Fix safety: review. What is `contiguous()` where eager keeps it is copied only if it was not.

References: torch/compiler/__init__.py (is_compiling), torch/_subclasses/fake_impls.py (_compute_slice_index).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.compiled import served
from transforms.python.writing.crops import only_crops
from transforms.python.writing.place import Place, Rewrite

NAME = "crop-branch"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 146
EXAMPLES = (
    Example(
        "def f(x: Tensor, h: int):\n    if x.size(1) > h:\n        x = x[:, :h]\n    return x\n",
        None,
        "the slice asks which is more",
    ),
    Example(
        "def f(x: Tensor, y: Tensor, n: int):\n    h = y.size(0)\n    x = x.view(n, h + 1)\n    if h > n:\n"
        "        x = x[:, :n]\n    return x + 1\n",
        None,
        "where h is n, the last column is cut off",
    ),
    Example(
        "def f(x: Tensor, y: Tensor, hp: int):\n    h = y.size(0)\n    x = x.view(-1, hp)\n    if hp > h:\n"
        "        x = x[:, :h].contiguous()\n    return x + 1\n",
        "def f(x: Tensor, y: Tensor, hp: int):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_true\n\n"
        "    h = y.size(0)\n    x = x.view(-1, hp)\n    if guard_or_true(hp > h):\n"
        "        x = x[:, :h].contiguous()\n    return x + 1\n",
    ),
)

MESSAGE = "a branch only crops, to all of the tensor where nothing sticks out"


def rewrite(place: Place) -> Rewrite | None:
    """The branch whose slice serves every size, or None for branches that do anything else."""
    branch = place.site.node
    if not isinstance(branch, ast.If) or not only_crops(place, branch, branch.test):
        return None
    return Rewrite(Level.REVIEW, MESSAGE, served(place, branch.test, True, True), general=True)
