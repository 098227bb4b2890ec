"""What numpy computes of sizes is computed by `math` and builtins, which Dynamo keeps symbolic.

    x.reshape(-1, np.prod(x.shape[2:]))         x.reshape(-1, math.prod(x.shape[2:]))
    rows = int(np.ceil(x.size(0) / m))          rows = math.ceil(x.size(0) / m)
    scores = scores / np.sqrt(q.size(-1))       scores = scores / math.sqrt(q.size(-1))

What it does: `np.prod` of a shape, `np.ceil`, `np.floor` and `np.round` that become an int, `np.sqrt` of what is not
below 0, and `np.maximum` and `np.minimum` of two ints give the same numbers. They are Python's then and not numpy's, so
that they are left where somebody may see the difference: by a method, a type, or a division by 0, of which numpy warns
and which Python refuses; and where they are returned, stored, or given to a function that is not torch's. `np.prod` of
no sizes at all is 1.0, which torch takes for no size, and `math.prod` 1. Where a file does not import math, it does
now. All else that numpy computes of sizes is named, and what it computed before of other things (`self.hop_length =
np.prod(rates)`) where a size is computed with it.

Why: Dynamo makes an array of the size, and with it a constant: torch 2.13 compiles again for each size, and fails where
the size is not known. What is computed with math it compiles once.

Fix safety: review.

References: torch/_dynamo/variables/misc.py (NumpyVariable), torch/_numpy.
"""

from __future__ import annotations

import ast
import re

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import called, dotted
from transforms.python.flow.values import FLOAT, INT
from transforms.python.writing.logic import Undecided
from transforms.python.writing.place import Change, Place, Rewrite
from transforms.python.writing.ranks import dimension_of, shape_owner, turn_of
from transforms.python.writing.taken import Takers

NAME = "numpy-number"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 207
EXAMPLES = (
    Example(
        "import numpy as np\n\n\n@torch.compile\ndef f(x: Tensor, layer):\n"
        "    return x.new_zeros(tuple(2 * np.array(x.shape)))\n",
        None,
        "an array",
    ),
    Example(
        "import numpy as np\n\n\n@torch.compile\ndef f(x: Tensor, layer):\n    return layer(x, np.prod(x.shape))\n",
        None,
        "what the layer does with the number is not known",
    ),
    Example(
        "import math\n\nimport numpy as np\n\n\n@torch.compile\ndef f(x: Tensor, layer):\n"
        "    return x.reshape(-1, np.prod(x.shape[2:])) + np.pi\n",
        "import math\n\nimport numpy as np\n\n\n@torch.compile\ndef f(x: Tensor, layer):\n"
        "    return x.reshape(-1, math.prod(x.shape[2:])) + np.pi\n",
    ),
)

MESSAGE = "numpy makes a number of a size"
_NOT_KEPT = "Dynamo compiles again for each size that numpy computes with: "
_ROUNDING = {"ceil": "math.ceil", "floor": "math.floor", "round": "round"}
_CHOOSING = {"maximum": "max", "minimum": "min"}


def rewrite(place: Place) -> Rewrite | None:
    """The call of math, or of a builtin, in its place; None for other sites."""
    node = place.site.node
    if place.site.kind != "array":
        return None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        array = place.text(place.site.expression)
        raise Undecided(
            f"`{array}` is numpy's, and Dynamo makes an array of a size that is computed with it: give it a number of"
            " Python's, as int(…) makes one, or a Tensor"
        )
    if place.names.module("numpy") != dotted(node.func.value):
        raise Undecided("whether this is numpy, which compiles again for each size, is not to be seen")
    if re.search(r"\bhasattr\(math\b", place.text(place.function)):
        raise Undecided(_NOT_KEPT + "this may be for a Python whose math has less")
    takers = Takers(place)
    around = place.around(node)
    converts = isinstance(around, ast.Call) and dotted(around.func) == "int" and around.args == [node]
    function, whole = _function(place, node, takers.converted(node), takers)
    given = ", ".join(map(place.text, node.args))
    replaced = around if converts and whole and isinstance(around, ast.Call) else node
    start, end = place.layout.start(replaced), place.layout.end(replaced)
    if "\n" in place.text(node) and replaced is node and not node.keywords:
        start, end = place.layout.start(node.func), place.layout.end(node.func)
        return Rewrite(Level.REVIEW, MESSAGE, (Change(start, end, function),))
    if "\n" in place.text(replaced):
        if not {"#", "'", '"'}.isdisjoint(place.text(replaced)):
            raise Undecided(_NOT_KEPT + "there are comments in the call")
        given = re.sub(r"(?<=[(\[{]) | (?=[)\]}])", "", " ".join(given.split()))
    return Rewrite(Level.REVIEW, MESSAGE, (Change(start, end, f"{function}({given})"),))


def _function(place: Place, node: ast.Call, becomes_int: bool, takers: Takers) -> tuple[str, bool]:
    """What takes numpy's place, and whether it gives an int. Raises Undecided where nothing does."""
    name, values = called(node), [place.values.value(argument) for argument in node.args]
    dtypes = [dotted(keyword.value) for keyword in node.keywords if keyword.arg == "dtype"]
    alone = len(node.args) == 1 and not node.keywords
    if name == "prod" and len(values) == 1 and len(dtypes) == len(node.keywords):
        ints = all(dtype in ("int", "np.int64", "numpy.int64") for dtype in dtypes)
        if values[0].shapelike and (values[0].integers or (becomes_int and values[0].numeric)) and ints:
            _require(becomes_int or takers.are_content(node))
            return f"{place.names.standard('math')}.prod", values[0].integers
    elif name in _ROUNDING and alone and becomes_int and values[0].kind in (INT, FLOAT):
        module, _, function = _ROUNDING[name].rpartition(".")
        return f"{place.names.standard(module)}.{function}" if module else place.names.builtin(function), True
    elif name == "sqrt" and alone and _is_not_negative(place, node.args[0]):
        _require(becomes_int or takers.are_content(node))
        return f"{place.names.standard('math')}.sqrt", False
    elif name in _CHOOSING and len(values) == 2 and not node.keywords and all(value.integers for value in values):
        _require(becomes_int or takers.are_content(node))
        return place.names.builtin(_CHOOSING[name]), True
    raise Undecided(_NOT_KEPT + "use math, builtins or tensor operations")


def _require(content: bool) -> None:
    if not content:
        raise Undecided(_NOT_KEPT + "use math, if no one needs a number of numpy's")


def _is_not_negative(place: Place, node: ast.expr) -> bool:
    """Whether a number is a size, or a product, a sum or a quotient of some and of constants."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float)) and node.value > 0
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mult, ast.Div, ast.FloorDiv)):
        return _is_not_negative(place, node.left) and _is_not_negative(place, node.right)
    return place.values.value(node).integers and _is_size(place, node)


def _is_size(place: Place, node: ast.expr) -> bool:
    """Whether an expression is read from a tensor's shape as it stands, by itself or by a variable."""
    if isinstance(node, ast.Name):
        (given, *others) = place.assigned(node.id) or [None, None]
        if given is None and not others:
            return any(isinstance(other, ast.Assign) and _unpacks(other, node.id) for other in place.nodes)
        return given is not None and not others and _is_size(place, given)
    return bool(dimension_of(node) or turn_of(node)) or (isinstance(node, ast.Call) and called(node) == "numel")


def _unpacks(assignment: ast.Assign, name: str) -> bool:
    """Whether a shape is unpacked into a variable, among others."""
    target = assignment.targets[0]
    names = [part.id for part in target.elts if isinstance(part, ast.Name)] if isinstance(target, ast.Tuple) else []
    return name in names and not isinstance(assignment.value, ast.Name) and bool(shape_owner(assignment.value))
