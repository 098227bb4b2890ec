"""A branch on which of two sizes is larger, whose work is nothing once amounts are clamped, serves unknown sizes too.

    if size < n:                              if guard_or_true(size < n):
        pads[i] = n - size                        pads[i] = torch.sym_max(n - size, 0)
    if size > n:                              if guard_or_true(size > n):
        x = x.narrow(d, 0, n)                     x = x.narrow(d, 0, torch.sym_min(n, size))

What it does: unknown sizes take the branch. An amount to pad by is 0 where there is nothing to pad, and a dimension
narrowed to the smaller of its own size and the wanted one stays as it is where it is smaller. A flag that the branch
sets may only choose between a tensor and that tensor expanded, reshaped or padded. Left are branches that do anything
else: that call, or set elements of a list that something else has too but what pads by it; and sizes beside what is not
known for an int, of which `torch.sym_max` and `torch.sym_min` may make a float.

Why: neither `size < n` nor its opposite is the general case, but one path can serve both.

Fix safety: review. Known sizes branch and guard as before, and give the same numbers. Unknown ones are padded or
narrowed by nothing, which may copy a tensor that was passed on.

References: torch/fx/experimental/symbolic_shapes.py (guard_or_true), torch/__init__.py (sym_max, sym_min).
"""

from __future__ import annotations

import ast

import libcst as cst

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import called
from transforms.python.writing.branches import is_elif
from transforms.python.writing.clamps import begins_as_zeros, chooses_padding, is_extent, same
from transforms.python.writing.evaluation import evaluated_before
from transforms.python.writing.nodes import call
from transforms.python.writing.place import Change, Place, Rewrite
from transforms.python.writing.present import present_tensors

NAME = "clamped-branch"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 140
EXAMPLES = (
    Example(
        "def f(x: Tensor, n: int):\n    if x.size(0) > n:\n        x = x.narrow(0, 1, n)\n    return x\n",
        None,
        "what is cut off differs",
    ),
    Example(
        "def f(x: Tensor, n: int):\n    if x.size(0) > n:\n        x = x.narrow(1, 0, n)\n    return x\n",
        None,
        "another dimension",
    ),
    Example(
        "def f(x: Tensor, n: int):\n    pads = [1, 1]\n    if x.size(0) < n:\n"
        "        pads[0] = n - x.size(0)\n    return pads\n",
        None,
        "the amount was 1 before",
    ),
    Example(
        "def f(x: Tensor, n: int):\n    s = x.shape\n    x = torch.cat([x, x])\n    if s[0] > n:\n"
        "        x = x.narrow(0, 0, n)\n    return x\n",
        None,
        "the tensor has grown since",
    ),
    Example(
        "def f(x: Tensor, n: int):\n    grown = False\n    if x.size(0) < n:\n"
        "        grown = True\n    return x + 1 if grown else x\n",
        None,
        "the flag says more than that there is something to pad",
    ),
    Example(
        "def f(x: Tensor, n: int):\n    if x.size(0) > n:\n        x = x.narrow(0, 0, n)\n    return x\n",
        "def f(x: Tensor, n: int):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_true\n\n"
        "    if guard_or_true(x.size(0) > n):\n"
        "        x = x.narrow(0, 0, torch.sym_min(n, x.size(0)))\n    return x\n",
    ),
    Example(
        "def f(x: Tensor, n: int):\n    pads = [0] * 2\n    grown = False\n    if x.size(-1) < n:\n"
        "        grown = True\n        pads[1] = n - x.size(-1)\n"
        "    return torch.constant_pad_nd(x, pads) if grown else x\n",
        "def f(x: Tensor, n: int):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_true\n\n"
        "    pads = [0] * 2\n    grown = False\n    if guard_or_true(x.size(-1) < n):\n"
        "        grown = True\n        pads[1] = torch.sym_max(n - x.size(-1), 0)\n"
        "    return torch.constant_pad_nd(x, pads) if grown else x\n",
    ),
)

MESSAGE = "a branch pads or narrows by the difference of two sizes"


def rewrite(place: Place) -> Rewrite | None:
    """The branch that unknown sizes take with clamped amounts; None where its body does anything else."""
    branch = place.site.node
    if not isinstance(branch, ast.If) or branch.orelse or place.shared or is_elif(place, branch):
        return None
    test = branch.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    if not isinstance(test.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        return None
    sides = [test.left, test.comparators[0]]
    if any(isinstance(side, ast.Constant) for side in sides):
        return None
    if not all(place.whole(side) for side in sides):
        return None  # torch.sym_max and torch.sym_min make a float of an int beside one, and take nothing of numpy's
    small, large = sides if isinstance(test.ops[0], (ast.Lt, ast.LtE)) else reversed(sides)
    clamped = [_clamped(place, branch, statement, small, large) for statement in branch.body]
    if None in clamped or not any(clamped):
        return None
    changes = [change for statement_changes in clamped if statement_changes for change in statement_changes]
    guarded = place.conditions.guarded(place.tree(test), True)
    return Rewrite(Level.REVIEW, MESSAGE, (*place.replaced(test, guarded), *changes))


def _clamped(
    place: Place, branch: ast.If, statement: ast.stmt, small: ast.expr, large: ast.expr
) -> tuple[Change, ...] | None:
    """The changes after which a statement does nothing where `small` is not the smaller; None where it would."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        difference = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Sub)
        if not difference or not same(value.left, large) or not same(value.right, small):  # type: ignore[attr-defined]
            return None
        if not begins_as_zeros(place, target.value.id):
            return None
        zero = cst.Integer("0")
        return place.replaced(value, call(place.names("torch.sym_max"), place.tree(value), zero))
    if not isinstance(target, ast.Name):
        return None
    if isinstance(value, ast.Constant) and value.value is True:
        return () if chooses_padding(place, target.id) else None
    if isinstance(value, ast.Call) and called(value) == "narrow" and len(value.args) == 3 and not value.keywords:
        receiver = value.func.value if isinstance(value.func, ast.Attribute) else value
        start, length = value.args[1:]
        zero_start = isinstance(start, ast.Constant) and start.value == 0
        if not (zero_start and isinstance(receiver, ast.Name) and receiver.id == target.id and same(length, small)):
            return None
        if not is_extent(place, large, receiver.id, value.args[0]):
            return None
        return place.replaced(length, call(place.names("torch.sym_min"), place.tree(length), place.tree(large)))
    inside = {id(node) for sibling in branch.body for node in ast.walk(sibling)}
    used = [node for node in place.nodes if isinstance(node, ast.Name) and node.id == target.id]
    if place.values.value(value).symbolic or not all(id(node) in inside for node in used):
        return None
    evaluated = evaluated_before(place.function, statement)
    return () if evaluated.may_move(value, present_tensors(place.function)) else None
