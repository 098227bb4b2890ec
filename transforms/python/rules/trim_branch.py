"""A branch that only cuts a rest off the end of a tensor cuts off nothing where there is none.

    rest = x.size(1) % m                        rest = x.size(1) % m
    if rest > 0:                                if torch.compiler.is_compiling() or rest > 0:
        x = x[:, :-rest]                            x = x.narrow(1, 0, x.size(1) // m * m)

What it does: wherever the code is compiled the tensor is narrowed, by nothing where eager keeps it; eager branches as
before. `x[:, :-0]` would be empty, so that the length is written: what m divides of it, or `x.size(1) - rest`. `max`
stands where the amount or the length may be below 0, as a slice ends at the first element then; whether they may is
tried with numbers in place of the sizes. Blocks are taken to be wider than 0. In fakes and metas, which eager does not
run, and in PyTorch itself, `guard_or_true` decides. Left are slices that begin elsewhere or take steps, branches that
do anything else, what is not known to be a tensor, and tensors of which somebody may see that they became a view or a
copy, as for padding-branch.

Why: such a branch undoes a padding, or drops what a division leaves. It fails where the size is not known while
tracing, and a padding before it is left with it. No slice is written, since the size of what that gives is a new symbol
where sizes are not known, and not the expression that narrow is given: torch 2.13 would refuse, when it runs, what is
viewed by it.

Fix safety: review.

References: torch/compiler/__init__.py (is_compiling), torch/_subclasses/fake_impls.py (slice_forward),
aten/src/ATen/native/TensorShape.cpp (narrow_symint).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import called, variables_in
from transforms.python.writing.asked_anyway import asked_anyway
from transforms.python.writing.compiled import asked_of, served
from transforms.python.writing.copies import is_seen
from transforms.python.writing.paddings import Padding, forms
from transforms.python.writing.place import Change, Place, Rewrite
from transforms.python.writing.trims import are_cut_off, length, trims_of

NAME = "trim-branch"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 147
EXAMPLES = (
    Example(
        "def f(x: Tensor, m: int):\n    if x.size(1) > m:\n        x = x[:, :-m]\n    return x\n",
        None,
        "where it is passed by, m is not 0",
    ),
    Example(
        "def f(x: Tensor, m: int):\n    rest = x.size(1) % m\n    if rest > 0:\n        x = x[:, 1:-rest]\n"
        "    return x\n",
        None,
        "more is cut off",
    ),
    Example(
        "def f(x: Tensor, m: int):\n    rest = x.size(1) % m\n    if rest > 0:\n        x = x[:, :-rest]\n"
        "    return x.view(x.size(0), -1, m)\n",
        "def f(x: Tensor, m: int):\n    from torch.fx.experimental.symbolic_shapes import guard_or_true\n\n"
        "    rest = x.size(1) % m\n    if guard_or_true(rest > 0):\n        x = x.narrow(1, 0, x.size(1) // m * m)\n"
        "    return x.view(x.size(0), -1, m)\n",
    ),
)

MESSAGE = "a branch only cuts a rest off, nothing where there is none"


def rewrite(place: Place) -> Rewrite | None:
    """The branch whose narrowing serves every size, or None for branches that do anything else."""
    branch = place.site.node
    if not isinstance(branch, (ast.If, ast.IfExp)) or not (trims := trims_of(place, branch)):
        return None
    read = [variables_in(later.amount) for later in trims[1:]]
    tensors = {trim.tensor for trim in trims}
    if len(tensors) < len(trims) or not all(map(tensors.isdisjoint, read)):
        return None  # what is read behind a cut is another number than the condition has
    asked = asked_of(place, branch.test, True)
    amounts = forms(place, Padding([trim.amount for trim in trims], {}), asked, True)
    if amounts is None or not are_cut_off(place, asked, amounts) or is_seen(place, branch):
        return None
    if place.inlined and (reason := asked_anyway(place, asked)):
        return Rewrite(Level.MANUAL, MESSAGE, reason=reason, refusal="asked-anyway")
    changes = [*served(place, branch.test, True, True)]
    for trim, amount in zip(trims, amounts, strict=True):
        kept = length(place, branch, trim, amount)
        if any(called(part) == "max" for part in ast.walk(kept)):
            if not place.inlined:
                return None  # torch.sym_max is for numbers that are known to be integers
            place.names.builtin("max")
        text = f"{trim.tensor}.narrow({trim.dimension}, 0, {ast.unparse(kept)})"
        changes.append(Change(place.layout.start(trim.slice), place.layout.end(trim.slice), text))
    return Rewrite(Level.REVIEW, MESSAGE, tuple(changes), general=True)
