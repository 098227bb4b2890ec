"""A branch that pads what is short and cuts what is long pads by nothing and cuts off nothing where the length fits.

    if n > x.size(1):                               if torch.compiler.is_compiling() or n > x.size(1):
        x = F.pad(x, (0, 0, 0, n - x.size(1)))          x = F.pad(x, (0, 0, 0, max(n - x.size(1), 0)))[:, :n]
    else:                                           else:
        x = x[:, :n]                                    x = x[:, :n]

What it does: wherever the code is compiled the tensor is padded, by no less than 0, and what is padded is cut; eager
branches as before. In PyTorch itself `guard_or_true` decides. Either way may come first, lengths that fit may go by
both, what fits may be returned, and the end be kept: `x[-n:]`. That one path gives what the others do is tried with
numbers in the place of the sizes: nothing is padded where the tensor is cut, and nothing is cut off where it is padded,
or fits. The dimension that is cut has to be that of a size which the branch compares. Left are paddings other than by a
constant; slices that begin elsewhere, take steps, or read what the path changes; branches that do more; what Dynamo
does not trace; and tensors of which somebody may see that they were copied, as for padding-branch.

Why: one graph pads and cuts. The branch fails where the size is not known while tracing; where it is dynamic there is a
graph for what is short, one for what is long, and often one for what fits. What is computed with the slice of another
dimension than the first may still ask whether it is contiguous, for two graphs in place of three.

Fix safety: review. What is long is copied where it is compiled, before it is cut.

References: torch/compiler/__init__.py (is_compiling), torch/_refs/__init__.py (constant_pad_nd).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.compiled import asked_of, served
from transforms.python.writing.copies import copy_is_seen
from transforms.python.writing.fitting import Fitting, amounts, fitting
from transforms.python.writing.paddings import amount_changes
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "length-branch"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 144
EXAMPLES = (
    Example(
        "@torch.compile\ndef f(x: Tensor, n: int):\n    if x.size(0) < n:\n        x = F.pad(x, (0, n))\n"
        "    else:\n        x = x[:n]\n    return x + 1\n",
        None,
        "what is padded is longer than n",
    ),
    Example(
        "@torch.compile\ndef f(x: Tensor, n: int):\n    if x.size(0) < n:\n        x = F.pad(x, (0, n - x.size(0)))\n"
        "    elif x.size(0) > n:\n        x = x[:n]\n    return x + 1\n",
        "@torch.compile\ndef f(x: Tensor, n: int):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_true\n\n"
        "    if guard_or_true(x.size(0) < n):\n        x = F.pad(x, (0, max(n - x.size(0), 0)))[:n]\n"
        "    elif x.size(0) > n:\n        x = x[:n]\n    return x + 1\n",
    ),
)

MESSAGE = "a branch pads what is short and cuts what is long"


def rewrite(place: Place) -> Rewrite | None:
    """The branch whose padding, cut to the length, serves every size; None for branches that do anything else."""
    branch = place.site.node
    if not isinstance(branch, ast.If) or not place.inlined:
        return None
    found = fitting(place, branch)
    if found is None or any(asked_of(place, test, truth) is not test for test, truth in found.ways):
        return None
    new = amounts(place, found)
    if new is None or copy_is_seen(place, [found.kept]):
        return None
    changes = [change for test, truth in found.ways for change in served(place, test, truth, truth)]
    changes += [*amount_changes(place, found.amounts, new), _cut(place, found)]
    return Rewrite(Level.REVIEW, MESSAGE, tuple(changes), general=found.ways[0][1])


def _cut(place: Place, found: Fitting) -> Change:
    """The slice of the one path, written behind the padding of the other."""
    end, layout = place.layout.end(found.padded), place.layout
    text = layout.source[layout.end(found.cut.value) : layout.end(found.last)].decode()
    return Change(end, end, text)
