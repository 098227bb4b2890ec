"""Among constructors of numbers that keep symbols, `complex` keeps a symbolic real as it is.

    if dtype.is_floating_point:      if dtype.is_floating_point:
        return sym_float                 return sym_float
    return lambda x: complex(x)      return lambda x: x if isinstance(x, (torch.SymInt, torch.SymFloat)) else complex(x)

What it does: there is no symbolic complex number. A real one serves where a complex one is expected: an operation on it
and a complex tensor has a complex result. A size is one too, and Inductor gives what it computes of sizes as a SymInt.

Why: `complex` needs the number itself: an unknown one fails, a known one is baked into the graph.

Fix safety: review. Python's own numbers become complex as before.

References: torch/__init__.py (SymInt, SymFloat, sym_float), torch/_inductor/ir.py (process_kernel).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "complex-number"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 80
EXAMPLES = (
    Example("def f(dtype: torch.dtype):\n    return lambda x: complex(x)\n", None, "no symbols among its numbers"),
    Example(
        "def f(dtype: torch.dtype):\n    if dtype.is_floating_point:\n        return sym_float\n"
        "    return lambda x: complex(x)\n",
        "def f(dtype: torch.dtype):\n    if dtype.is_floating_point:\n        return sym_float\n"
        "    return lambda x: x if isinstance(x, (torch.SymInt, torch.SymFloat)) else complex(x)\n",
    ),
)

MESSAGE = "a constructor of numbers fixes a symbolic one"


def rewrite(place: Place) -> Rewrite | None:
    """The conversion of all but symbolic numbers, or None for other sites."""
    node = place.site.node
    if place.site.kind != "constructor" or not isinstance(node, ast.Lambda) or place.shared:
        return None
    name = node.args.args[0].arg
    place.names.builtin("isinstance")
    torch = place.names.torch
    text = f"{name} if isinstance({name}, ({torch}.SymInt, {torch}.SymFloat)) else "
    start = place.layout.start(node.body)
    return Rewrite(Level.REVIEW, MESSAGE, (Change(start, start, text),))
