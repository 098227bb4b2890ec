"""An uninitialised tensor is made in its memory format instead of being converted to it.

    x.new_empty(s).to(memory_format=f)      torch.empty(s, dtype=x.dtype, device=x.device, memory_format=f)

What it does: the tensor has the strides of the format from the beginning.

Why: `to` first asks, in C++, whether the tensor is in the format already, which unknown sizes do not say.

Fix safety: review. Shape, dtype and device are the same. Where a dimension of size 1 makes a contiguous tensor count as
one in the format, `to` kept its strides; now they are those of the format, as kernels make them. Only for formats that
`suggest_memory_format` gives or that are named, since `preserve_format` makes no tensor.

References: torch/_meta_registrations.py (the meta of pixel_shuffle does the same), c10/core/MemoryFormat.h.
"""

from __future__ import annotations

import ast
import re

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.logic import Undecided
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "empty-layout"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 70
EXAMPLES = (
    Example("def f(x: Tensor, y: Tensor):\n    return y.to(memory_format=torch.channels_last)\n", None, "holds data"),
    Example(
        "def f(x: Tensor, f):\n    return x.new_empty(x.shape).to(memory_format=f)\n",
        None,
        "may be torch.preserve_format",
    ),
    Example(
        "def f(x: Tensor):\n    f = utils.suggest_memory_format(x)\n"
        "    return x.new_empty(x.shape).to(memory_format=f)\n",
        "def f(x: Tensor):\n    f = utils.suggest_memory_format(x)\n"
        "    return torch.empty(x.shape, dtype=x.dtype, device=x.device, memory_format=f)\n",
    ),
    Example(
        "def f(x: Tensor, sizes: list[int]):\n"
        "    return x.new_empty(sizes, dtype=torch.int64).to(\n"
        "        memory_format=utils.suggest_memory_format(x)\n    )\n",
        "def f(x: Tensor, sizes: list[int]):\n"
        "    return torch.empty(\n        sizes,\n        dtype=torch.int64,\n        device=x.device,\n"
        "        memory_format=utils.suggest_memory_format(x),\n    )\n",
    ),
)

MESSAGE = "an uninitialised tensor is converted to a memory format"
FORMATS = re.compile(r"^(?:torch\.(?:contiguous_format|channels_last(?:_3d)?)$|(?:\w+\.)*suggest_memory_format\()")


def rewrite(place: Place) -> Rewrite | None:
    """The call of `torch.empty`, or None for other sites."""
    node = place.site.node
    if place.site.kind != "layout" or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    allocation = node.func.value
    assert isinstance(allocation, ast.Call)
    assert isinstance(allocation.func, ast.Attribute)
    tensor, sizes = place.text(allocation.func.value), place.text(allocation.args[0])
    memory_format = node.keywords[0].value
    if not re.fullmatch(r"\w+", tensor) or place.inlined or place.shared:
        raise Undecided("the tensor that gives dtype and device is computed in the same expression")
    formats = [memory_format] if not isinstance(memory_format, ast.Name) else place.assigned(memory_format.id)
    if not formats or not all(
        candidate is not None and FORMATS.search(ast.unparse(candidate)) for candidate in formats
    ):
        raise Undecided("the memory format may be preserve_format, in which no tensor is made")
    dtype = next((place.text(keyword.value) for keyword in allocation.keywords), f"{tensor}.dtype")
    arguments = [sizes, f"dtype={dtype}", f"device={tensor}.device", f"memory_format={place.text(memory_format)}"]
    text = f"{place.names.torch}.empty({', '.join(arguments)})"
    layout = place.layout
    return Rewrite(Level.REVIEW, MESSAGE, (Change(layout.start(node), layout.end(node), text),))
