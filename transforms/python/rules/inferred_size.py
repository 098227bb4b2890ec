"""The `-1` that stands for the dimensions before a tail of the same tensor's shape is written as their product.

    sizes = [-1] + list(x.shape[k:])      sizes = [math.prod(x.shape[:k])] + list(x.shape[k:])
    x = x.reshape(sizes)                  x = x.reshape(sizes)

What it does: the size is computed instead of inferred.

Why: to infer a size, `reshape` divides by the product of the others, and asks whether that is 0.

Fix safety: review. The size is the same; an empty tensor, whose size could not be inferred, is reshaped as well. Left
are sizes in a variable that anything else reads: there the `-1` may fit another tensor. In code that Dynamo traces the
size that is inferred serves as well.

References: aten/src/ATen/InferSize.h (infer_size_impl).
"""

from __future__ import annotations

import ast

import libcst as cst

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.inferring import inferred
from transforms.python.writing.nodes import call
from transforms.python.writing.place import Place, Rewrite

NAME = "inferred-size"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 50
EXAMPLES = (
    Example("import math\n\n\ndef f(x: Tensor):\n    return x.reshape(-1)\n", None, "all of it"),
    Example(
        "import math\n\n\ndef f(x: Tensor, y: Tensor):\n    return x.reshape([-1] + list(y.shape[1:]))\n",
        None,
        "the shape of another tensor",
    ),
    Example(
        "def f(x: Tensor):\n    return x.reshape([-1] + list(x.shape[1:]))\n", None, "a file without `import math`"
    ),
    Example(
        "import math\n\n\ndef f(x: Tensor, y: Tensor):\n    sizes = [-1] + list(x.shape[1:])\n"
        "    x = x.reshape(sizes)\n    return x, y.reshape(sizes)\n",
        None,
        "the sizes serve another tensor too",
    ),
    Example(
        "import math\n\n\ndef f(x: Tensor, k: int):\n    return x.reshape(-1, *x.shape[k:])\n",
        "import math\n\n\ndef f(x: Tensor, k: int):\n    return x.reshape(math.prod(x.shape[:k]), *x.shape[k:])\n",
    ),
    Example(
        "import math\n\n\ndef f(x: Tensor, k: int):\n"
        "    sizes = [-1] + list(x.shape[k:])\n    x = x.reshape(sizes)\n    return x\n",
        "import math\n\n\ndef f(x: Tensor, k: int):\n"
        "    sizes = [math.prod(x.shape[:k])] + list(x.shape[k:])\n    x = x.reshape(sizes)\n    return x\n",
    ),
)

MESSAGE = "a size is inferred that can be computed"


def rewrite(place: Place) -> Rewrite | None:
    """The product in place of the `-1`, or None for other sites."""
    node = place.site.node
    if place.site.kind != "inferred" or not isinstance(node, ast.Call):
        return None
    inference, function = inferred(node, place.nodes), place.product()
    if inference is None:
        return None
    shape = cst.ensure_type(place.tree(inference.tail), cst.Subscript)
    element = cst.SubscriptElement(cst.Slice(lower=None, upper=cst.parse_expression(ast.unparse(inference.start))))
    product = call(function, shape.with_changes(slice=[element]))
    return Rewrite(Level.REVIEW, MESSAGE, place.replaced(inference.unknown, product))
