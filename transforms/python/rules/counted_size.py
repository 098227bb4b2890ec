"""A sum with a number that is read from a tensor is made in the tensor, so that the number read is the size.

    n = torch.sym_int(x.max().item()) + 1      →      n = (x.max().to(torch.int64) + 1).item()

What it does: the symbol of what is read is that of the sum, and a result of that size shows it.

Why: an operator that tracing runs in Python returns tensors alone. A symbol that is no size of theirs is lost, and
torch.compile stops: "Pending unbacked symbols {u0} not in returned outputs", of a tensor of the size u0 + 1.

Fix safety: review. Whole numbers give the same size. Only in what is registered for an operator (`py_impl`,
`register_decomposition`), which eager does not run. A number that is not finite, which `int` refuses, has no meaning.

References: torch/fx/experimental/symbolic_shapes.py (compute_unbacked_bindings), torch/_decomp/decompositions.py
(one_hot).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import named_parameters
from transforms.python.flow.sites import counted
from transforms.python.writing.nodes import code, parenthesized, parse_expression
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "counted-size"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 35
_HEAD = "@aten.f.default.py_impl(DispatchKey.CompositeImplicitAutograd)\ndef f(x: Tensor):\n"
EXAMPLES = (
    Example(
        "def f(x: Tensor):\n    n = torch.sym_int(x.max().item()) + 1\n    return x.new_zeros(n)\n",
        None,
        "no operator's",
    ),
    Example(f"{_HEAD}    n = x.max().item() + 1\n    return x.new_zeros(n)\n", None, "may be no whole number"),
    Example(
        f"{_HEAD}    n = torch.sym_int(x.max().item()) + 1\n    return x.new_zeros(n)\n",
        f"{_HEAD}    n = (x.max().to(torch.int64) + 1).item()\n    return x.new_zeros(n)\n",
    ),
    Example(
        f"{_HEAD.replace('Tensor', 'Tensor, n: int = -1')}    n = torch.sym_int(x.max().item()) + 1\n"
        "    return x.new_zeros(n)\n",
        f"{_HEAD.replace('Tensor', 'Tensor, n: int = -1')}    n = (x.max().to(torch.int64) + 1).item()"
        "  # type: ignore[assignment]\n    return x.new_zeros(n)\n",
        "a type checker knows of `item` that it may be any number",
    ),
)

MESSAGE = "the symbol of a number that is read is lost in a sum"


def rewrite(place: Place) -> Rewrite | None:
    """The sum in the tensor, or None for other sites."""
    sum_of = place.site.expression
    parts = counted(sum_of, place.values) if place.site.kind == "counted" else None
    if parts is None:
        return None
    tensor = code(parenthesized(parse_expression(place.text(parts.tensor))))
    text = f"({tensor}.to({place.names.torch}.int64) + {place.text(parts.number)}).item()"
    change = Change(place.layout.start(sum_of), place.layout.end(sum_of), text)
    return Rewrite(Level.REVIEW, MESSAGE, (change, *_comment(place, sum_of)))


def _comment(place: Place, read: ast.expr) -> Iterator[Change]:
    """What type checkers are told where the number, which may be any, becomes a parameter that is an `int`."""
    parameters = named_parameters(place.function.args)
    whole = {p.arg for p in parameters if isinstance(p.annotation, ast.Name) and p.annotation.id == "int"}
    assigned = (n for n in place.nodes if isinstance(n, ast.Assign) and n.value is read)
    end = place.layout.end(read)
    takes = any(isinstance(target, ast.Name) and target.id in whole for n in assigned for target in n.targets)
    if takes and end == place.layout.line_end(place.layout.line_of(end)):
        yield Change(end, end, "  # type: ignore[assignment]", 1)
