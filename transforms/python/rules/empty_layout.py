"""An uninitialised tensor is made in its memory format instead of being converted to it.

    x.new_empty(s).to(memory_format=f)      torch.empty(s, dtype=x.dtype, device=x.device, memory_format=f)

What it does: the tensor has the strides of the format from the beginning.

Why: `to` first asks, in C++, whether the tensor is in the format already, which unknown sizes do not say: of tensors
of four and five dimensions, the others have one format.

Fix safety: review. Shape, dtype and device are the same. Where a dimension of size 1 makes a contiguous tensor count as
one in the format, `to` kept its strides; now they are those of the format, as kernels make them. Only for formats that
`suggest_memory_format` gives or that are named, since `preserve_format` makes no tensor. Left is
a dtype that may be None, which is the tensor's own to `new_empty` and the default one to `torch.empty`. Where no
mode answers for a subclass of Tensor, `new_empty` made one of it, and this makes a Tensor.

References: torch/_meta_registrations.py (the meta of pixel_shuffle does the same), c10/core/MemoryFormat.h.
"""

from __future__ import annotations

import ast
import re

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import dotted, named_parameters
from transforms.python.flow.parameters import none_by_default
from transforms.python.writing.logic import Undecided
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "empty-layout"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 70
EXAMPLES = (
    Example("def f(x: Tensor, y: Tensor):\n    return y.to(memory_format=torch.channels_last)\n", None, "holds data"),
    Example(
        "def f(x: Tensor, n: int):\n    return x.new_empty((n, n)).to(memory_format=torch.contiguous_format)\n",
        None,
        "two dimensions have one format",
    ),
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
FORMATS = re.compile(
    r"^(?:torch\.(?:contiguous_format|channels_last(?:_3d)?|legacy_contiguous_format)$|(?:\w+\.)*suggest_memory_format\()"
)


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
    given = allocation.keywords[0].value if allocation.keywords else None
    if given is not None and not _is_dtype(place, given):
        raise Undecided("the dtype may be None, which is the tensor's own")
    dtype = place.text(given) if given is not None else f"{tensor}.dtype"
    arguments = [sizes, f"dtype={dtype}", f"device={tensor}.device", f"memory_format={place.text(memory_format)}"]
    text = f"{place.names.torch}.empty({', '.join(arguments)})"
    layout = place.layout
    return Rewrite(Level.REVIEW, MESSAGE, (Change(layout.start(node), layout.end(node), text),))


def _is_dtype(place: Place, dtype: ast.expr) -> bool:
    """Whether a dtype is surely no None: a tensor's, one of torch's, or a parameter that is annotated as one."""
    if not isinstance(dtype, ast.Name):
        return isinstance(dtype, ast.Attribute) and (dtype.attr == "dtype" or dotted(dtype.value) == place.names.torch)
    arguments = place.function.args
    annotated = {p.arg: ast.unparse(p.annotation) for p in named_parameters(arguments) if p.annotation}
    given = dtype.id not in none_by_default(arguments)
    whole = given and re.fullmatch(r"(?:torch\.)?dtype", annotated.get(dtype.id, ""))
    values = place.assigned(dtype.id)
    return bool(values) and all(
        _is_dtype(place, v) if isinstance(v, ast.Attribute) else v is None and bool(whole) for v in values
    )
