"""`out=` in a compiled function becomes the functional call and `copy_`.

    torch.linalg.norm(x, out=buffer)              buffer.copy_(torch.linalg.norm(x))
    torch.topk(x, k, out=(values, indices))       for buffer, result in zip((values, indices), torch.topk(x, k)):
                                                      buffer.copy_(result)

What it does: the buffers hold the same numbers and the expression gives the buffer, as before.

Why: the `out=` variants of these operators compare the buffer's size with a number, so that a compiled function is
compiled again for every size (pytorch/pytorch issue 135859).

Fix safety: review. `out=` resizes a buffer of another shape, `copy_` does not: where the buffer is made empty in the
function, or the result's own type is used, the call is left. So it is where the buffer may be None, and where it is not
to be seen whether the call gives one result or several. The buffer must not need a gradient in either form.

References: `_resize_output_check` in aten/src/ATen/native/Resize.cpp.
"""

from __future__ import annotations

import ast

import libcst as cst

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import called
from transforms.python.flow.parameters import may_be_left_out
from transforms.python.writing.nodes import code, parenthesized
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "out-variant"
MODE = Mode.LEAK
LEVEL = Level.REVIEW
PRECEDENCE = 30
HEAD = "import torch\n\n\n@torch.compile\ndef f(x, k: int, values, indices):\n"
EXAMPLES = (
    Example("@torch.compile\ndef f(x):\n    return torch.linalg.norm(x, out=None)\n", None, "no buffer"),
    Example(HEAD + "    torch.add(x, x, out=values)\n    return values\n", None, "does not compile again"),
    Example(
        HEAD + "    values = torch.empty(0)\n    torch.linalg.norm(x, out=values)\n    return values\n",
        None,
        "the resize is relied on",
    ),
    Example(HEAD + "    return torch.topk(x, k, out=(values, indices))\n", None, "a named tuple is returned"),
    Example(HEAD + "    return torch.max(x, k, out=values)\n", None, "of two tensors, or a pair along a dimension"),
    Example(
        HEAD + "    return torch.linalg.norm(x, dim=0, out=values)\n",
        HEAD + "    return values.copy_(torch.linalg.norm(x, dim=0))\n",
    ),
    Example(
        HEAD + "    torch.topk(x, k, out=(values, indices))\n    return values\n",
        HEAD
        + "    for buffer, result in zip((values, indices), torch.topk(x, k)):\n        buffer.copy_(result)\n"
        + "    return values\n",
    ),
)

MESSAGE = "an out= variant is compiled again for every size"
SEVERAL = frozenset(
    {"topk", "sort", "kthvalue", "median", "mode", "cummax", "cummin", "cholesky_ex", "eig", "eigh", "inv_ex", "qr",
     "ldl_factor", "ldl_factor_ex", "lstsq", "lu", "lu_factor", "lu_factor_ex", "slogdet", "solve_ex", "svd"}
)  # fmt: skip
"""The operators of flow.sites.OUT_VARIANTS that give a named tuple; max and min do along a dimension."""
EMPTY = frozenset({"empty", "zeros", "new_empty", "new_zeros", "tensor", "new_tensor"})


def rewrite(place: Place) -> Rewrite | None:
    """The call without `out=`, copied into the buffers."""
    node = place.site.node
    if place.site.kind != "out" or not isinstance(node, ast.Call):
        return None
    out = next(keyword.value for keyword in node.keywords if keyword.arg == "out")
    buffers = out.elts if isinstance(out, (ast.Tuple, ast.List)) else [out]
    if any(isinstance(buffer, ast.Constant) for buffer in buffers):
        return Rewrite(Level.MANUAL, MESSAGE, reason="out=None gives no buffer", refusal="no-buffer")
    if any(_may_be_none(place, buffer) for buffer in buffers):
        reason = "the buffer may be None, and then the call gives a tensor of its own"
        return Rewrite(Level.MANUAL, MESSAGE, reason=reason, refusal="no-buffer")
    if any(_made_empty(place, buffer) for buffer in buffers):
        reason = "the buffer is made empty, so the call is relied on to resize it"
        return Rewrite(Level.MANUAL, MESSAGE, reason=reason, refusal="resized-buffer")
    several = isinstance(out, (ast.Tuple, ast.List)) or _gives_several(place, node)
    if several is None:
        reason = "whether the call gives one result or several is not to be seen"
        return Rewrite(Level.MANUAL, MESSAGE, reason=reason, refusal="named-tuple")
    tree = cst.ensure_type(place.tree(node), cst.Call)
    arguments = [argument for argument in tree.args if argument.keyword is None or argument.keyword.value != "out"]
    arguments[-1] = arguments[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    functional = tree.with_changes(args=arguments)
    if not several:
        buffer = code(parenthesized(place.tree(out)))
        text = f"{buffer}.copy_({code(functional)})"
        return Rewrite(Level.REVIEW, MESSAGE, (Change(place.layout.start(node), place.layout.end(node), text),))
    statement = next(
        (candidate for candidate in place.nodes if isinstance(candidate, ast.Expr) and candidate.value is node), None
    )
    indent = place.layout.indent(statement) if statement is not None else None
    if statement is None or indent is None:
        reason = "the result is a named tuple of the buffers, which copy_ does not give"
        return Rewrite(Level.MANUAL, MESSAGE, reason=reason, refusal="named-tuple")
    taken = {"buffer", "result"} & place.names_in_scope()
    buffer_name, result_name = ("_buffer", "_result") if taken else ("buffer", "result")
    newline = place.layout.newline
    place.names.builtin("zip")
    header = f"for {buffer_name}, {result_name} in zip({place.text(out)}, {code(functional)}):"
    text = f"{header}{newline}{indent}    {buffer_name}.copy_({result_name})"
    return Rewrite(Level.REVIEW, MESSAGE, (Change(place.layout.start(node), place.layout.end(node), text),))


def _gives_several(place: Place, node: ast.Call) -> bool | None:
    """Whether a call gives a named tuple, by its operator; None where that depends on what it is given."""
    name = called(node)
    if name not in ("max", "min"):
        return name in SEVERAL
    dimensions = [*node.args[1:], *(keyword.value for keyword in node.keywords if keyword.arg in ("dim", "other"))]
    if not dimensions or place.values.surely_tensor(dimensions[0]):
        return False
    return True if isinstance(dimensions[0], (ast.Constant, ast.UnaryOp)) else None


def _may_be_none(place: Place, buffer: ast.expr) -> bool:
    """Whether a variable is a parameter that may be left out, or is assigned None."""
    assigned = place.assigned(buffer.id) if isinstance(buffer, ast.Name) else ()
    return may_be_left_out(place.function.args, place.nodes, buffer) or any(
        isinstance(value, ast.Constant) and value.value is None for value in assigned
    )


def _made_empty(place: Place, buffer: ast.expr) -> bool:
    """Whether a buffer is assigned `torch.empty(0)` or the like in the function."""
    for node in place.nodes:
        if isinstance(node, ast.Assign) and any(ast.dump(t) == ast.dump(_stored(buffer)) for t in node.targets):
            value = node.value
            if isinstance(value, ast.Call) and called(value) in EMPTY:
                first = value.args[0] if value.args else None
                sizes = first.elts if isinstance(first, (ast.Tuple, ast.List)) else [first]
                if not sizes or any(isinstance(s, ast.Constant) and s.value == 0 for s in sizes):
                    return True
    return False


def _stored(buffer: ast.expr) -> ast.expr:
    return ast.Name(buffer.id, ast.Store()) if isinstance(buffer, ast.Name) else buffer
