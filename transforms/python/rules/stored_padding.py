"""A truth that only branches which pad or crop read is the one that serves every size.

    padding = p > 0 or q > 0                padding = torch.compiler.is_compiling() or p > 0 or q > 0
    if padding:                             if padding:
        x = F.pad(x, (0, q, 0, p))              x = F.pad(x, (0, q, 0, p))
    x = x.view(n, h + p, w + q)             x = x.view(n, h + p, w + q)
    if padding:                             if padding:
        x = x[:, :h, :w]                        x = x[:, :h, :w]

What it does: where each branch that reads the variable is one that padding-branch or crop-branch decides, and pads by
nothing and crops to all of it where nothing is missing, all of them are taken wherever the code is compiled. In fakes
and metas, which eager does not run, and in PyTorch itself, `guard_or_true` decides. Left are variables that are set
more than once or that anything else reads, and branches whose amounts would have to be written anew.

Why: the variable is a bool, for which the sizes are asked where it is set.

Fix safety: review.

References: torch/compiler/__init__.py (is_compiling).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.sites import Site
from transforms.python.writing.asked_anyway import asked_anyway
from transforms.python.writing.compiled import asked_of, served
from transforms.python.writing.copies import copy_is_seen
from transforms.python.writing.crops import only_crops
from transforms.python.writing.paddings import amount_changes, forms, padding
from transforms.python.writing.place import Place, Rewrite
from transforms.python.writing.remainders import is_changed

NAME = "stored-padding"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 149
_PADDED = (
    "    h, w = x.shape\n    p, q = -h % m, -w % m\n    padding = {}\n    if padding:\n"
    "        x = F.pad(x, (0, q, 0, p))\n    x = (x * 2).view(h + p, w + q)\n"
)
_CROPPED = "    if padding:\n        x = x[:h, :w]\n    return x + 1\n"
_HEAD = "def f(x: Tensor, m: int):\n"
_GUARDED = f"{_HEAD}    from torch.fx.experimental.symbolic_shapes import guard_or_true\n\n"
EXAMPLES = (
    Example(
        f"{_HEAD}{_PADDED.format('p > 0 or q > 0')}    return x + 1, padding\n", None, "the truth itself is returned"
    ),
    Example(
        f"{_HEAD}{_PADDED.format('p > 0 or q > 0')}{_CROPPED}",
        f"{_GUARDED}{_PADDED.format('guard_or_true(p > 0) or guard_or_true(q > 0)')}{_CROPPED}",
    ),
)

MESSAGE = "a truth chooses whether to pad, by nothing where nothing is missing"


def rewrite(place: Place) -> Rewrite | None:
    """The truth that serves every size, or None for variables that anything else reads."""
    statement = place.site.node
    if place.site.kind != "stored" or not isinstance(statement, ast.Assign):
        return None
    test, target = statement.value, statement.targets[0]
    if len(statement.targets) > 1 or not isinstance(target, ast.Name) or test is not place.site.expression:
        return None
    branches = _branches(place, target.id, test)
    if not branches or not all(_serves(place, branch, test) for branch in branches):
        return None
    if place.inlined and (reason := asked_anyway(place, asked_of(place, test, True))):
        return Rewrite(Level.MANUAL, MESSAGE, reason=reason, refusal="asked-anyway")
    return Rewrite(Level.REVIEW, MESSAGE, served(place, test, True, True))


def _branches(place: Place, name: str, test: ast.expr) -> list[ast.If]:
    """The branches that ask for a variable that is set once; none where anything else reads it.

    None either where a variable of the truth is set more than once, so that it may hold something else there.
    """
    names = [node for node in ast.walk(place.function) if isinstance(node, ast.Name)]
    read = {name, *(node.id for node in ast.walk(test) if isinstance(node, ast.Name))}
    stored = [node.id for node in names if not isinstance(node.ctx, ast.Load) and node.id in read]
    branches = [n for n in place.nodes if isinstance(n, ast.If) and isinstance(n.test, ast.Name) and n.test.id == name]
    loads = sum(node.id == name and isinstance(node.ctx, ast.Load) for node in names)
    return branches if loads == len(branches) and len(stored) == len(set(stored)) and not place.in_loop else []


def _serves(place: Place, branch: ast.If, test: ast.expr) -> bool:
    """Whether a branch that is taken where `test` holds serves all sizes as it stands."""
    site = Site("if", branch, test, place.site.value)
    there = Place(site, place.function, place.nodes, place.values, place.layout, place.names, place.composite)
    if is_changed(there, test):
        return False
    found = padding(there, branch.body, branch.orelse)
    if found is None:
        return only_crops(there, branch, test)
    amounts = forms(there, found, asked_of(there, test, True), True)
    if amounts is None or found.joined or copy_is_seen(there, [branch]):
        return False
    return not list(amount_changes(there, found.amounts, amounts))
