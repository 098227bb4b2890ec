"""A branch that only pads a tensor pads by nothing where there is nothing to pad.

    if pad > 0:                                     if torch.compiler.is_compiling() or pad > 0:
        x = F.pad(x, (0, pad))                          x = F.pad(x, (0, pad))
    if n % m != 0:                                  if torch.compiler.is_compiling() or n % m != 0:
        x = F.pad(x, (0, m - n % m))                    x = F.pad(x, (0, (m - n % m) % m))
    if n < m:                                       if torch.compiler.is_compiling():
        k = x.new_zeros(m - n, c)                       x = F.pad(x, (0, 0, 0, max(m - n, 0)))
        x = torch.cat([x, k])                       elif n < m:
                                                        k = x.new_zeros(m - n, c)
                                                        x = torch.cat([x, k])

What it does: wherever the code is compiled the tensor is padded, by 0 where eager pads not at all; eager branches as
before. In fakes and metas, which eager does not run, and in PyTorch itself, `guard_or_true` decides. That the amounts
are 0 there is tried with numbers in the place of the sizes: they stay as they are, or become what is missing to a
multiple (`(m - n % m) % m`), the remainder itself, or no less than 0. Blocks are taken to be wider than 0. What is
joined with the tensor has to be made of its own sizes, of which all are seen, its dtype and its device: nothing of
another dtype changes it too. Where it is compiled it is padded instead, as a tensor of 0, of 1 and of more rows is a
graph each. A variable that is 0 else, and read below, is given the amount that may be 0, and so is one that is several
amounts. Several tensors may be padded at once, by `map` or a comprehension, a length may grow by as much (`n = n +
pad`), and a branch may return what is padded where the next statement returns it as it is. Left are other paddings than
by a constant, or by what becomes no less than 0 and is not known for an int, branches that do more,
and tensors of which somebody may see that they were copied: what is written in place below, by whatever name or
function, where it shares memory with what is padded or was; what is stored; what a traced function returns to a caller
of its file that writes it (others get a copy of what is padded already). A call of what is not known is taken to write
what it is given where nobody takes its result; any other to write nothing, but where its class says `inplace=True` or
the tensor is read by another name later. Left in code that Dynamo traces is a padding that saves no graph too: what is
padded to `m` was sliced by `[:m]` above, or made for the size that it is compared with, or a function inside asks the
same again.

Why: one graph serves every size; the branch made one for the sizes that fit and one for the others, and failed where
the size is not known while tracing.

Fix safety: review. What fits is copied where it is compiled.

References: torch/compiler/__init__.py (is_compiling), torch/_refs/__init__.py (constant_pad_nd).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.asked_anyway import asked_anyway
from transforms.python.writing.compiled import asked_of, served
from transforms.python.writing.copies import copy_is_seen
from transforms.python.writing.joined import REASON as JOINED
from transforms.python.writing.joined import padded_instead
from transforms.python.writing.paddings import Padding, amount_changes, chosen_padding, forms, padding
from transforms.python.writing.place import Place, Rewrite

NAME = "padding-branch"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 145
EXAMPLES = (
    Example(
        "def f(x: Tensor, n: int):\n    if x.size(0) != n:\n        x = F.pad(x, (0, 1))\n    return x\n",
        None,
        "it is padded by 1 where nothing is missing",
    ),
    Example(
        "def f(x: Tensor, m: int):\n    pad = -x.size(0) % m\n    if pad > 0:\n"
        '        x = F.pad(x, (0, pad), "reflect")\n    return x\n',
        None,
        "what is reflected has to be long enough",
    ),
    Example(
        "def f(x: Tensor, m: int):\n    n = x.size(0)\n    if n % m != 0:\n        x = F.pad(x, (0, m - n % m))\n"
        "    return x.view(-1, m)\n",
        "def f(x: Tensor, m: int):\n    from torch.fx.experimental.symbolic_shapes import guard_or_true\n\n"
        "    n = x.size(0)\n    if guard_or_true(n % m != 0):\n        x = F.pad(x, (0, (m - n % m) % m))\n"
        "    return x.view(-1, m)\n",
    ),
    Example(
        "def f(x: Tensor, m: int):\n    n, c = x.shape\n    if n % m != 0:\n"
        "        x = torch.cat([x, torch.zeros(m - n % m, c)])\n    return x\n",
        None,
        "zeros of another dtype, or on another device, are joined by themselves where nothing is missing",
    ),
    Example(
        "def f(x: Tensor, m: int):\n    n, c = x.shape\n    if n % m != 0:\n"
        "        x = torch.cat([x, x.new_zeros(m - n % m, c)])\n    return x\n",
        "def f(x: Tensor, m: int):\n    from torch.fx.experimental.symbolic_shapes import guard_or_true\n\n"
        "    n, c = x.shape\n    if guard_or_true(n % m != 0):\n"
        "        x = torch.cat([x, x.new_zeros((m - n % m) % m, c)])\n    return x\n",
    ),
    Example(
        "def f(x: Tensor, y: Tensor):\n    if x.size(0) != y.size(0):\n"
        "        x = F.pad(x, (0, y.size(0) - x.size(0)))\n    return x\n",
        "def f(x: Tensor, y: Tensor):\n    from torch.fx.experimental.symbolic_shapes import guard_or_true\n\n"
        "    if guard_or_true(x.size(0) != y.size(0)):\n"
        "        x = F.pad(x, (0, y.size(0) - x.size(0)))\n    return x\n",
    ),
)

MESSAGE = "a branch only pads, by nothing where nothing is missing"


def rewrite(place: Place) -> Rewrite | None:
    """The branch whose padding serves every size, or None for branches that do anything else."""
    branch = place.site.node
    found, truth = _padding(place, branch)
    kept: ast.AST = branch
    if found is None and isinstance(branch, ast.If):
        found, truth, kept = _returned(place, branch)
    if found is None or not isinstance(branch, (ast.If, ast.IfExp)):
        return None
    asked = asked_of(place, branch.test, truth)
    amounts = forms(place, found, asked, truth)
    if amounts is None or copy_is_seen(place, [kept]):
        return None
    if place.inlined and (reason := asked_anyway(place, asked)):
        return Rewrite(Level.MANUAL, MESSAGE, reason=reason, refusal="asked-anyway")
    if place.inlined and found.joined:
        change = padded_instead(place, branch, asked, found, amounts[0]) if truth else None
        if change is None:
            return Rewrite(Level.MANUAL, MESSAGE, reason=JOINED, refusal="joined")
        return Rewrite(Level.REVIEW, MESSAGE, (change,), general=truth)
    changes = (*served(place, branch.test, truth, truth), *amount_changes(place, found.amounts, amounts))
    return Rewrite(Level.REVIEW, MESSAGE, changes, general=truth)


def _padding(place: Place, branch: ast.AST) -> tuple[Padding | None, bool]:
    """What a branch pads by, and which way it pads."""
    if isinstance(branch, ast.If):
        found = padding(place, branch.body, branch.orelse)
        return (found, True) if found else (padding(place, branch.orelse, branch.body), False)
    if isinstance(branch, ast.IfExp):
        found = chosen_padding(place, branch.body, branch.orelse)
        return (found, True) if found else (chosen_padding(place, branch.orelse, branch.body), False)
    return None, True


def _returned(place: Place, branch: ast.If) -> tuple[Padding | None, bool, ast.expr]:
    """What a branch returns padded, and what stands behind it returns as it is, or the other way round; which, and what
    is kept."""
    block = place.block_of(branch)
    behind = branch.orelse or block[block.index(branch) + 1 :][:1]
    match branch.body, behind:
        case [ast.Return(value=ast.expr() as there)], [ast.Return(value=ast.expr() as here)]:
            found = chosen_padding(place, there, here)
            return (found, True, here) if found else (chosen_padding(place, here, there), False, there)
    return None, True, branch.test
