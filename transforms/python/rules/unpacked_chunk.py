"""Chunks that are unpacked at once need not be counted.

    q, k, v = w.chunk(3)      q, k, v = torch._prims_common.sym_chunk(w, 3)

What it does: an unknown size is split into as many parts as there are variables, in the lengths that `chunk` gives;
that there are so many chunks is checked when the code runs. Known sizes outside of Dynamo, Tensors for sizes
(torch.jit.trace) and TorchScript call `chunk` as before. Code that tracing alone runs, and trees without a place for
the helper, are left.

Why: `chunk` asks for the size to count the chunks, and the number is written there already.

Fix safety: review. The chunks are the same, and still views.

References: aten/src/ATen/native/TensorShape.cpp (chunk), torch/_prims_common/__init__.py.
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.nodes import call
from transforms.python.writing.place import Place, Rewrite

NAME = "unpacked-chunk"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 55
EXAMPLES = (
    Example("def f(x: Tensor):\n    parts = x.chunk(2)\n    return parts\n", None, "any number of chunks"),
    Example("def f(x: Tensor):\n    a, *b = x.chunk(2)\n    return b\n", None, "any number of chunks"),
    Example("def f(x: Tensor):\n    a, b = x.chunk(3)\n    return a\n", None, "another number"),
    Example("def f(x: Tensor):\n    a, b = x.chunk(2)\n    return a\n", None, "code that tracing alone runs"),
)

MESSAGE = "chunks are counted whose number is known"


def rewrite(place: Place) -> Rewrite | None:
    """The call of the helper, or None for other sites."""
    node = place.site.node
    if place.site.kind != "chunks" or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    new = call(place.names("chunk"), place.tree(node.func.value), *map(place.tree, node.args))
    return Rewrite(Level.REVIEW, MESSAGE, place.replaced(node, new))
