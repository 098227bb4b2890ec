"""`int`, `float` and `math.sqrt` of a size become `torch.sym_int`, `torch.sym_float` and `torch.sym_sqrt`.

    n = int(x.size(0) * scale)      n = torch.sym_int(x.size(0) * scale)
    sign = bool(n > 0) - m          sign = torch.sym_ite(n > 0, 1, 0) - m
    more = int(n > 1)               more = torch.sym_ite(n > 1, 1, 0)
    k = n // 8 + (n % 8 != 0)       k = n // 8 + torch.sym_ite(n % 8 != 0, 1, 0)

What it does: the number stays symbolic. Both integers round towards zero. A truth that is made an integer, and one
that is added, subtracted or multiplied, is the number 1 or 0.

Why: `int` needs the number itself: an unknown size fails, a known one is baked into the graph.

Fix safety: review. The number is the same; the guard that fixed the size is gone. Left is the truth of a size beside
what is not known for a number: one of numpy's gives truths that `sym_ite` does not take. In a module's forward the
conversion is named: torch.compile keeps the size by itself there, torch.export, which runs the code itself unless it is
strict, fixes it, or stops for what is read from a Tensor (`int(x.max())`), and TorchScript, which may read the module
too, knows no `torch.sym_int`.

References: torch/__init__.py (sym_int, sym_float, sym_ite, sym_sqrt).
"""

from __future__ import annotations

import ast

import libcst as cst

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.imported import torch_name
from transforms.python.flow.nodes import called
from transforms.python.flow.values import BOOL
from transforms.python.writing.expressions import SYMBOLIC
from transforms.python.writing.logic import Undecided
from transforms.python.writing.nodes import call, code, parenthesized
from transforms.python.writing.place import Change, Place, Rewrite, left_to_export

NAME = "sym-cast"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 220
EXAMPLES = (
    Example("def f(x: Tensor):\n    return int(x.dim() / 2)\n", None, "ranks are no symbols"),
    Example(
        "def f(x: Tensor, scale: float):\n    return int(x.size(0) * scale)\n",
        "def f(x: Tensor, scale: float):\n    return torch.sym_int(x.size(0) * scale)\n",
    ),
    Example(
        "def f(x: Tensor):\n    return x / math.sqrt(x.size(-1))\n",
        "def f(x: Tensor):\n    return x / torch.sym_sqrt(x.size(-1))\n",
    ),
    Example("def f(x: Tensor):\n    return bool(x.size(0) > 1)\n", None, "no number"),
    Example(
        "def f(x: Tensor, n: int):\n    return n - bool(x.size(0) > 1)\n",
        "def f(x: Tensor, n: int):\n    return n - torch.sym_ite(x.size(0) > 1, 1, 0)\n",
    ),
    Example(
        "def f(x: Tensor):\n    return x.new_empty(1 + int(x.size(0) > 1))\n",
        "def f(x: Tensor):\n    return x.new_empty(1 + torch.sym_ite(x.size(0) > 1, 1, 0))\n",
    ),
    Example(
        "def f(x: Tensor):\n    n = x.size(0)\n    return x.new_empty(n // 8 + (n % 8 != 0))\n",
        "def f(x: Tensor):\n    n = x.size(0)\n    return x.new_empty(n // 8 + torch.sym_ite(n % 8 != 0, 1, 0))\n",
    ),
    Example("def f(x: Tensor):\n    return float(x.size(0) > 1)\n", None, "the truth is asked for all the same"),
)

MESSAGE = "the conversion fixes a size"


def rewrite(place: Place) -> Rewrite | None:
    """The symbolic conversion; None for `round`, `range` and a `bool` that is no number."""
    node = place.site.node
    if place.site.kind == "counting":
        return _operand(place, place.site.expression)
    if place.site.kind not in ("coercion", "root", "read") or not isinstance(node, ast.Call):
        return None
    if len(node.args) != 1 or node.keywords:
        return None
    if place.site.kind == "read":
        tensor = " ".join(code(parenthesized(place.tree(node.args[0]))).split())
        read = f"{SYMBOLIC[called(node)]}({tensor}.item())"
        return left_to_export("a number is read from a Tensor", f"{read} keeps it, in what TorchScript does not read")
    if place.values.value(node.args[0]).kind == BOOL:
        counts = called(node) == "int" or (called(node) == "bool" and _is_operand(place, node))
        if place.shared or not counts or not _is_comparison(node.args[0]):
            return None
        return Rewrite(Level.REVIEW, MESSAGE, place.replaced(node, _number(place, node.args[0])))
    function = SYMBOLIC.get(torch_name(node.func))
    if function is None:
        return None
    if place.exported:
        return left_to_export(MESSAGE, f"{function.replace('._', '.')} keeps it, in what TorchScript does not read")
    new = call(place.names(function), place.tree(node.args[0]))
    return Rewrite(Level.REVIEW, MESSAGE, place.replaced(node, new))


def _number(place: Place, truth: ast.expr) -> cst.Call:
    """1 where `truth` holds, else 0."""
    condition = place.conditions.truth(place.tree(truth))
    return call(place.names("torch.sym_ite"), condition, cst.Integer("1"), cst.Integer("0"))


def _operand(place: Place, truth: ast.expr) -> Rewrite:
    """A comparison that is an operand, which stands in parentheses, as a number, which needs none."""
    if place.shared:
        raise Undecided("code other than tracing runs this function too: torch.sym_ite is not for it")
    start, end = place.layout.start(truth), place.layout.end(truth)
    bare = place.layout.source[start - 1 : start] + place.layout.source[end : end + 1] == b"()"
    return Rewrite(Level.REVIEW, MESSAGE, (Change(start - bare, end + bare, code(_number(place, truth))),))


def _is_comparison(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) and len(node.ops) == 1


def _is_operand(place: Place, node: ast.Call) -> bool:
    """Whether a call is an operand of integer arithmetic."""
    return any(
        isinstance(holder, ast.BinOp)
        and isinstance(holder.op, (ast.Add, ast.Sub, ast.Mult))
        and node in (holder.left, holder.right)
        for holder in place.nodes
    )
