"""`resize_` to as many elements as there are becomes new strides over the same memory.

    x.resize_(s, memory_format=torch.contiguous_format)
    →
    if guard_or_true(sym_and(x.numel() == math.prod(s), x.untyped_storage().nbytes() >= …)):
        torch._check(x.numel() == math.prod(s), …)
        torch._check(x.untyped_storage().nbytes() >= (x.storage_offset() + x.numel()) * x.element_size(), …)
        x.as_strided_(s, utils.make_contiguous_strides_for(s))
    else:
        x.resize_(s, memory_format=torch.contiguous_format)

What it does: unknown sizes are taken to need no more memory, which is checked when the code runs.

Why: `resize_` asks, in C++, how much memory a tensor of the new size takes.

Fix safety: review. Known sizes give the same tensor, which must have the memory: that of an expanded one is made as
before. Left is a size that may be one number. Only in code that runs under fake tensors, and where the file
imports `math` and `torch._prims_common`.

References: torch/_prims_common/__init__.py (make_contiguous_strides_for), aten/src/ATen/native/Resize.h.
"""

from __future__ import annotations

import ast
import re

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import named_parameters
from transforms.python.writing.logic import Undecided
from transforms.python.writing.nodes import parse_expression
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "resized-in-place"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 60
EXAMPLES = (
    Example("def f(x: Tensor, y: Tensor):\n    x.resize_(y.shape)\n", None, "may keep its strides"),
    Example(
        "import math\n\nimport torch._prims_common as utils\n\n\n"
        "def f(x: Tensor, y: Tensor):\n    x.resize_(y.size(), memory_format=torch.channels_last)\n",
        None,
        "another layout",
    ),
    Example(
        "import math\n\nimport torch._prims_common as utils\n\n\n"
        "def f(x: Tensor, s: list[int]):\n    x.resize_(s, memory_format=torch.contiguous_format)\n    return x\n",
        "import math\n\nimport torch._prims_common as utils\n\n\n"
        "def f(x: Tensor, s: list[int]):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_true, sym_and\n\n"
        "    if guard_or_true(\n"
        "        sym_and(\n"
        "            x.numel() == math.prod(s),\n"
        "            x.untyped_storage().nbytes()\n"
        "            >= (x.storage_offset() + x.numel()) * x.element_size(),\n"
        "        )\n"
        "    ):\n"
        "        torch._check(\n"
        '            x.numel() == math.prod(s), lambda: "expected x.numel() == math.prod(s)"\n'
        "        )\n"
        "        torch._check(\n"
        "            x.untyped_storage().nbytes()\n"
        "            >= (x.storage_offset() + x.numel()) * x.element_size(),\n"
        "            lambda: (\n"
        '                "expected x.untyped_storage().nbytes() >= (x.storage_offset() +"\n'
        '                " x.numel()) * x.element_size()"\n'
        "            ),\n"
        "        )\n"
        "        x.as_strided_(s, utils.make_contiguous_strides_for(s))\n"
        "    else:\n"
        "        x.resize_(s, memory_format=torch.contiguous_format)\n"
        "    return x\n",
    ),
)

SEVERAL = re.compile(r"^(?:typing\.)?(?:[Ll]ist|[Tt]uple|Sequence)\[|\bSize$|^ShapeType$")
MESSAGE = "a tensor is resized in place"


def rewrite(place: Place) -> Rewrite | None:
    """The branch in place of the statement, or None for other sites."""
    node = place.site.node
    if place.site.kind != "resize" or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    common, math, layout = place.names.module("torch._prims_common"), place.names.module("math"), place.layout
    statement = next(
        (candidate for candidate in place.nodes if isinstance(candidate, ast.Expr) and candidate.value is node), None
    )
    indent = layout.indent(statement) if statement is not None else None
    if statement is None or indent is None or place.inlined or place.shared or layout.newline in place.text(node):
        raise Undecided("the call is part of a larger expression")
    if not common or not math:
        raise Undecided("the file does not import torch._prims_common and math")
    tensor, sizes = place.text(node.func.value), place.text(node.args[0])
    if not re.fullmatch(r"[\w.]+", tensor) or not re.fullmatch(r"[\w.]+", sizes):
        raise Undecided("the tensor or its new size is computed in the same expression")
    if not _are_several(place, node.args[0]):
        raise Undecided("whether the new size is a sequence is not to be seen")
    newline, inner = layout.newline, indent + "    "
    same = f"{tensor}.numel() == {math}.prod({sizes})"
    end = f"({tensor}.storage_offset() + {tensor}.numel()) * {tensor}.element_size()"
    enough = f"{tensor}.untyped_storage().nbytes() >= {end}"
    text = f"if {place.names('guard_or_true')}({place.names('sym_and')}({same}, {enough})):{newline}"
    text += "".join(place.check(parse_expression(condition), inner) for condition in (same, enough))
    text += f"{inner}{tensor}.as_strided_({sizes}, {common}.make_contiguous_strides_for({sizes})){newline}"
    text += f"{indent}else:{newline}{inner}"
    start = layout.start(statement)
    return Rewrite(Level.REVIEW, MESSAGE, (Change(start, start, text),))


def _are_several(place: Place, sizes: ast.expr) -> bool:
    """Whether the new size is a sequence, by what it holds or by its annotation."""
    if place.values.value(sizes).shapelike:
        return True
    given = [p for p in named_parameters(place.function.args) if isinstance(sizes, ast.Name) and p.arg == sizes.id]
    annotations = [ast.unparse(p.annotation) for p in given if p.annotation and place.assigned(p.arg) == [None]]
    return any(SEVERAL.search(annotation) and not re.search(r"\||Union", annotation) for annotation in annotations)
