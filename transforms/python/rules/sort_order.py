"""A list sorted by sizes or strides keeps its order where nothing is known against it, and the order is checked.

    dims.sort(key=lambda d: strides[d], reverse=True)
    →
    if len(dims) < 2 or not all(guard_or_true(strides[a] >= strides[b]) for a, b in zip(dims, dims[1:])):
        dims.sort(key=lambda d: strides[d], reverse=True)
    for a, b in zip(dims, dims[1:]):
        torch._check(sym_or(x.numel() == 0, strides[a] >= strides[b]), …)

What it does: a list that is in order needs no sorting, which is stable. Unknown sizes are taken to be in order, as the
strides of a contiguous tensor are, and what was assumed is checked when the code runs; not of an empty tensor, where no
order of strides is wrong, as none of them leads to an element. A list of one element is sorted as before, which asks
for its key and compares nothing.

Why: sorting compares every pair it looks at, and needs the answers.

Fix safety: review. Known sizes give the same list. Left is a list that gets several names, a key that does more than
look up sizes, as it is then asked for more than once an element, and an order that is itself a variable.

References: torch/fx/experimental/symbolic_shapes.py (guard_or_true), torch/_meta_registrations.py (_exec_fft).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import called
from transforms.python.writing.logic import Undecided
from transforms.python.writing.nodes import parse_expression
from transforms.python.writing.place import Change, Place, Rewrite
from transforms.python.writing.sorting import check_kept, key_of, order, sides, strided

NAME = "sort-order"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 40
EXAMPLES = (
    Example("def f(dims: list[int]):\n    dims.sort(key=lambda d: -d)\n    return dims\n", None, "no sizes"),
    Example(
        "def f(x: Tensor, dims: list[int]):\n    return g(sorted(dims, key=lambda d: x.stride(d)))\n",
        None,
        "part of a larger expression",
    ),
    Example(
        "def f(x: Tensor, dims: list[int]):\n"
        "    strides = x.stride()\n    dims.sort(key=lambda d: strides[d], reverse=True)\n    return dims\n",
        "def f(x: Tensor, dims: list[int]):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_true, sym_or\n\n"
        "    strides = x.stride()\n"
        "    if len(dims) < 2 or not all(\n"
        "        guard_or_true(strides[left] >= strides[right])\n"
        "        for left, right in zip(dims, dims[1:])\n"
        "    ):\n"
        "        dims.sort(key=lambda d: strides[d], reverse=True)\n"
        "    for left, right in zip(dims, dims[1:]):\n"
        "        torch._check(\n"
        "            sym_or(x.numel() == 0, strides[left] >= strides[right]),\n"
        '            lambda: "expected strides[left] >= strides[right]",\n'
        "        )\n"
        "    return dims\n",
    ),
    Example(
        "def f(x: Tensor, dims: list[int]):\n"
        "    order = sorted(\n        dims, key=lambda d: x.size(d)\n    )\n    return order\n",
        "def f(x: Tensor, dims: list[int]):\n"
        "    from torch.fx.experimental.symbolic_shapes import guard_or_true\n\n"
        "    order = list(dims)\n"
        "    if len(order) < 2 or not all(\n"
        "        guard_or_true(x.size(left) <= x.size(right))\n"
        "        for left, right in zip(order, order[1:])\n"
        "    ):\n"
        "        order = sorted(\n            order, key=lambda d: x.size(d)\n        )\n"
        "    for left, right in zip(order, order[1:]):\n"
        "        torch._check(\n"
        "            x.size(left) <= x.size(right),\n"
        '            lambda: "expected x.size(left) <= x.size(right)",\n'
        "        )\n"
        "    return order\n",
    ),
)

MESSAGE = "a list is sorted by sizes"


def rewrite(place: Place) -> Rewrite | None:
    """The statement that sorts, behind the question whether that is needed; None for other sites."""
    node = place.site.node
    if place.site.kind != "sort" or not isinstance(node, ast.Call):
        return None
    wanted = ast.Assign if called(node) == "sorted" else ast.Expr
    statement = next((s for s in place.nodes if isinstance(s, wanted) and s.value is node), None)
    indent = place.layout.indent(statement) if statement is not None else None
    if statement is None or indent is None or place.shared or place.inlined:
        raise Undecided("the sorting is part of a larger expression")
    target, unsorted = sides(statement, node)
    key, falling = order(place, node)
    check_kept(target, key.body)
    first, second = ("left", "right") if not {"left", "right"} & place.names_in_scope() else ("_left", "_right")
    condition = f"{key_of(place, key, first)} {'>=' if falling else '<='} {key_of(place, key, second)}"
    held, newline, layout = place.text(target), place.layout.newline, place.layout
    for builtin in ("sorted", "list", "zip", "all", "len"):
        place.names.builtin(builtin)
    pairs = f"for {first}, {second} in zip({held}, {held}[1:])"
    new_list = target is not unsorted
    head = f"{held} = list({place.text(unsorted)}){newline}{indent}" if new_list else ""
    guard = f"{place.names('guard_or_true')}({condition})"
    inner = f"{newline}{indent}    "
    head += f"if len({held}) < 2 or not all({inner}{guard}{inner}{pairs}{newline}{indent}):{inner}"
    last = statement.end_lineno or statement.lineno
    begin = layout.start(statement)
    deeper = [Change(layout.line_start(n), layout.line_start(n), "    ") for n in range(statement.lineno + 1, last + 1)]
    once = [Change(layout.start(unsorted), layout.end(unsorted), held)] if new_list else []
    check = place.check(parse_expression(condition), indent + "    ")
    if tensor := strided(place, key.body):
        check = check.replace(condition, f"{place.names('sym_or')}({tensor}.numel() == 0, {condition})", 1)
    end = layout.line_end(last)
    after = f"{newline}{indent}{pairs}:{newline}{check.removesuffix(newline)}"
    return Rewrite(Level.REVIEW, MESSAGE, (Change(begin, begin, head), *deeper, *once, Change(end, end, after)))
