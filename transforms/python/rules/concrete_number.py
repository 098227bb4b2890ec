"""What takes a plain number of Python, or compares sizes by itself, is named where a size comes to it.

    pads = [0] * x.size(0)                  torch.linspace(0, 1, x.size(0))
    first = list(x.shape).index(1)          torch.tril_indices(x.size(0), 3)
    last = x[:, y.size(0) - 1]              F.avg_pool2d(x, x.shape[-2:])

What it does: nothing; what the number is for decides what takes its place.

Why: the length of a list is a number when it is made. Over fake tensors an unknown size raises there; torch.compile
makes a known one a constant, and compiles anew for each. So it is where the schema of an operator has `int` for an
argument, as for sizes of windows and of pools, `num_classes` of one_hot or `size` of Tensor.unfold. What Dynamo keeps
symbolic, as `torch.tensor(x.size(0))`, is named in fakes and metas alone, and so is an index alone (`x[n]`).

Fix safety: manual.

References: torch/__init__.py (SymInt), torch/_dynamo/variables/lists.py, aten/src/ATen/native/native_functions.yaml,
torch/csrc/autograd/python_variable_indexing.cpp.
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import called
from transforms.python.flow.plain_arguments import plain_arguments
from transforms.python.writing.place import Place, Rewrite, left_to_export

NAME = "concrete-number"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.MANUAL
PRECEDENCE = 236
EXAMPLES = (
    Example("def f(x: Tensor):\n    return x.view([1] * x.ndim)\n", None, "a rank is no symbol"),
    Example("def f(x: Tensor):\n    return [0] * x.size(0)\n", None, "named, not edited"),
    Example("def f(x: Tensor):\n    return F.max_pool1d(x, x.size(2))\n", None, "x.amax(2, True) asks for none"),
    Example("def f(x: Tensor):\n    return list(x.shape).index(1)\n", None, "each size is asked whether it is 1"),
    Example("def f(x: Tensor, y: Tensor):\n    return x[..., len(y)]\n", None, "x.select(-1, y.size(0)) asks for none"),
)

_INSTEAD = {
    "steps of linspace": "start + (end - start) * torch.arange(steps) / (steps - 1), which is close, takes a size"
}
"""What takes the place of a function with the argument, where anything is known to."""
COMPARED = "each size is compared: decide with guard_or_false, or write one path for all sizes"


def _taken(place: Place) -> tuple[str, str]:
    """(which argument of a schema of torch's the number is given for, else which function; what that takes)."""
    node = place.site.node
    for argument in plain_arguments(node, place.values) if isinstance(node, ast.Call) else ():
        if argument.given is place.site.expression:
            taken = "plain numbers" if argument.several else "a plain number"
            return f"{argument.name} of {called(node)}", taken
    return called(node), "plain numbers"


def rewrite(place: Place) -> Rewrite | None:
    """The refusal, for numbers and comparisons that no branch makes."""
    node = place.site.node
    if place.site.kind == "compared":
        return Rewrite(Level.MANUAL, "sizes are compared", reason=COMPARED, refusal="undecided")
    if place.site.kind != "number":
        return None
    if place.exported and called(node) == "map":
        return left_to_export("sizes become plain numbers", "map torch.sym_int or torch.sym_float, where it is needed")
    if isinstance(node, ast.Subscript):
        reason = "an index is a plain number: select, which gives the same view, and a slice take the size itself"
    elif isinstance(node, ast.BinOp):
        reason = "the length of a list or text is a plain number: use tensor operations on the whole dimension"
    else:
        taking, taken = _taken(place)
        instead = _INSTEAD.get(taking, "write it with tensor operations, or pass what is no size")
        reason = f"{taking} takes {taken}: {instead}"
    return Rewrite(Level.MANUAL, "a size becomes a plain number", reason=reason, refusal="concrete-number")
