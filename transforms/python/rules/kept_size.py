"""A branch on what an object keeps for the size that it met last is left and named.

    if self.mask is None or self.mask.size(0) != n:      if torch.compiler.is_compiling() or self.mask is None or …:
        self.mask = torch.ones(n, n).tril()                  self.mask = torch.ones(n, n).tril()

What it does: nothing; as written on the right, what is compiled makes it anew and asks for nothing that is kept.

Why: each size that is kept is one that what is compiled asks for, as is each that does not fit: a table of rotary
embeddings that grows, or a mask that is made for each length, is compiled again with every size. What is made anew
costs little in a graph; in eager it is kept as before.

Fix safety: manual. That it is no state, which other code changes or which is made of what was kept before, and nothing
random, is not to be seen in one function: `symfix fix -- python PROGRAM` tries it, and offers it where a run shows that
what is compiled returns what eager does.

References: torch/compiler/__init__.py (is_compiling).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import all_nodes, blocks, dotted
from transforms.python.writing.place import Place, Rewrite

NAME = "kept-size"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.MANUAL
PRECEDENCE = 148
_HEAD = "@torch.compile\ndef f(self, x: Tensor):\n    n = x.size(0)\n"
EXAMPLES = (
    Example(
        _HEAD + "    if self.mask.size(0) != n:\n        self.mask = torch.ones(n, n)\n    return self.mask @ x\n",
        None,
        "named, not edited",
    ),
    Example(
        _HEAD + "    if self.rows.size(0) >= n:\n        return x + self.rows[:n]\n"
        "    self.rows = torch.arange(n)\n    return x + self.rows\n",
        None,
        "named, not edited",
    ),
)

MESSAGE = "what is kept for one size is asked for it"
REASON = (
    "each size that is kept is compiled apart: with `torch.compiler.is_compiling() or` before the condition it is made"
    " anew there, if it is no state; symfix fix -- python PROGRAM tries it"
)
KEYED = (
    "each size is a key of its own, and compiled apart: where torch.compiler.is_compiling(), make anew what is kept,"
    " and keep nothing"
)
FITS = REASON.replace("torch.compiler.is_compiling() or", "not torch.compiler.is_compiling() and")


def rewrite(place: Place) -> Rewrite | None:
    """The refusal, for a branch of what is compiled that fills an attribute which its condition reads."""
    branch = place.site.node
    if not place.inlined or not isinstance(branch, ast.If):
        return None
    read = {dotted(node) for node in all_nodes([branch.test]) if isinstance(node, ast.Attribute)}
    rest = branch.orelse or (_behind(place, branch) if isinstance(branch.body[-1], ast.Return) else [])
    looked_up = {dotted(part) for node in all_nodes([branch.test]) for part in _looked_up(node)}
    for filling, reason in ((rest, FITS), (branch.body, REASON)):  # what fits may be converted, and is kept
        assigned = _assigned(filling)
        if not looked_up.isdisjoint(name.removesuffix("[]") for name in assigned if name.endswith("[]")):
            reason = KEYED
        elif read.isdisjoint(assigned):
            continue
        return Rewrite(Level.MANUAL, MESSAGE, reason=reason, refusal=NAME)
    return None


def _looked_up(node: ast.AST) -> list[ast.expr]:
    """What a comparison looks something up in."""
    looks = isinstance(node, ast.Compare) and isinstance(node.ops[-1], (ast.In, ast.NotIn))
    return node.comparators[-1:] if isinstance(node, ast.Compare) and looks else []


def _assigned(statements: Iterable[ast.stmt]) -> set[str]:
    """The attributes of `self` that statements assign, with `[]` behind those of which they assign an item."""
    names: set[str] = set()
    for node in all_nodes(list(statements)):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = [part for target in targets for part in getattr(target, "elts", [target])]
            names |= {f"{dotted(part.value)}[]" if isinstance(part, ast.Subscript) else dotted(part) for part in parts}
    return {name for name in names if name.startswith("self.") and name.count(".") == 1}


def _behind(place: Place, branch: ast.If) -> list[ast.stmt]:
    """The statements behind a branch in its block."""
    holders = (node for node in (place.function, *place.nodes) if isinstance(node, ast.stmt))
    around = next((block for holder in holders for block in blocks(holder) if branch in block), list[ast.stmt]())
    return [statement for statement in around if statement.lineno > branch.lineno]
