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
from transforms.python.flow.nodes import called
from transforms.python.writing.compiled import asked_of, served
from transforms.python.writing.copies import is_seen
from transforms.python.writing.numbers import FEWEST, Arithmetic, value_of
from transforms.python.writing.place import Place, Rewrite
from transforms.python.writing.trims import laid_out

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
    if not isinstance(branch, ast.If) or branch.orelse or len(branch.body) != 1:
        return None
    tensor, bounds = _cropped(branch.body[0])
    sizes = _sizes(place, branch, tensor) if bounds else []
    if not bounds or len(sizes) < len(bounds):
        return None
    pairs = [(size, bound) for size, bound in zip(sizes, bounds, strict=False) if bound is not None]
    if not _fits(place, asked_of(place, branch.test, True), pairs) or is_seen(place, branch):
        return None
    return Rewrite(Level.REVIEW, MESSAGE, served(place, branch.test, True, True), general=True)


def _cropped(statement: ast.stmt) -> tuple[str, list[ast.expr | None]]:
    """The tensor that `x = x[:, :h]` crops, and where each dimension ends, None where it stays; no ends for others."""
    value = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    value = laid_out(value) if value is not None else None
    if not isinstance(value, ast.Subscript) or not isinstance(value.value, ast.Name):
        return "", []
    slices = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
    bounds = [part.upper for part in slices if isinstance(part, ast.Slice) and part.lower is part.step is None]
    if _assigned(statement) != value.value.id or len(bounds) < len(slices) or not any(bounds):
        return "", []
    return value.value.id, bounds


def _assigned(statement: ast.stmt | None) -> str:
    """The only variable that a statement assigns, "" for other statements."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def _sizes(place: Place, branch: ast.If, tensor: str) -> list[ast.expr]:
    """The sizes of a tensor, as the statement above a branch viewed it; none where that is no view."""
    block = place.block_of(branch)
    above = block[block.index(branch) - 1] if branch is not block[0] else None
    made = above.value if isinstance(above, ast.Assign) and _assigned(above) == tensor else None
    if not isinstance(made, ast.Call) or called(made) not in ("view", "reshape") or made.keywords:
        return []
    listed = made.args[0] if len(made.args) == 1 else None
    sizes = listed.elts if isinstance(listed, (ast.Tuple, ast.List)) else made.args
    parts = [part for size in sizes for part in ast.walk(size)]  # its own sizes are others behind the view
    return [] if any(isinstance(p, ast.Starred) or getattr(p, "id", "") == tensor for p in parts) else sizes


def _fits(place: Place, asked: ast.expr, pairs: list[tuple[ast.expr, ast.expr]]) -> bool:
    """Whether no size is more than its bound where `asked` does not hold."""
    arithmetic = Arithmetic(place)
    condition = arithmetic.function(asked)
    functions = [(arithmetic.function(size), arithmetic.function(bound)) for size, bound in pairs]
    draws = list(arithmetic.draws()) if condition is not None else []
    passed = [drawn for drawn in draws if condition is not None and value_of(condition, drawn) in (0, False)]
    if min(len(passed), len(draws) - len(passed)) < FEWEST:
        return False
    for size, bound in functions:
        if size is None or bound is None:
            return False
        values = [(value_of(size, drawn), value_of(bound, drawn)) for drawn in passed]
        if any(n is None or m is None or n > m for n, m in values) or max(n for n, _ in values) < 0:
            return False  # what is -1 is a size that view computes
    return True
