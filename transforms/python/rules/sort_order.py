"""A list sorted by sizes or strides keeps its order where nothing is known against it, and the order is checked.

    dims.sort(key=lambda d: strides[d], reverse=True)
    →
    if not all(guard_or_true(strides[a] >= strides[b]) for a, b in zip(dims, dims[1:])):
        dims.sort(key=lambda d: strides[d], reverse=True)
    for a, b in zip(dims, dims[1:]):
        torch._check(sym_or(x.numel() == 0, strides[a] >= strides[b]), …)

What it does: a list that is in order needs no sorting, which is stable. Unknown sizes are taken to be in order, as the
strides of a contiguous tensor are, and what was assumed is checked when the code runs; not of an empty tensor, where no
order of strides is wrong, as none of them leads to an element.

Why: sorting compares every pair it looks at, and needs the answers.

Fix safety: review. Known sizes give the same list.

References: torch/fx/experimental/symbolic_shapes.py (guard_or_true), torch/_meta_registrations.py (_exec_fft).
"""

from __future__ import annotations

import ast
import re

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.logic import Undecided
from transforms.python.writing.nodes import parse_expression
from transforms.python.writing.place import Change, Place, Rewrite

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
        "    if not all(\n"
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
        "    if not all(\n"
        "        guard_or_true(x.size(left) <= x.size(right))\n"
        "        for left, right in zip(order, order[1:])\n"
        "    ):\n"
        "        order = sorted(\n            dims, key=lambda d: x.size(d)\n        )\n"
        "    for left, right in zip(order, order[1:]):\n"
        "        torch._check(\n"
        "            x.size(left) <= x.size(right),\n"
        '            lambda: "expected x.size(left) <= x.size(right)",\n'
        "        )\n"
        "    return order\n",
    ),
)

MESSAGE = "a list is sorted by sizes"
SIMPLE = (ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Constant, ast.expr_context, ast.UnaryOp, ast.USub)


def rewrite(place: Place) -> Rewrite | None:
    """The statement that sorts, behind the question whether that is needed; None for other sites."""
    node = place.site.node
    if place.site.kind != "sort" or not isinstance(node, ast.Call):
        return None
    statement = next((s for s in place.nodes if isinstance(s, (ast.Expr, ast.Assign)) and s.value is node), None)
    indent = place.layout.indent(statement) if statement is not None else None
    if statement is None or indent is None or place.shared or place.inlined:
        raise Undecided("the sorting is part of a larger expression")
    unsorted = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0]
    target = statement.targets[0] if isinstance(statement, ast.Assign) else unsorted
    same = ast.unparse(target) == ast.unparse(unsorted)
    if not all(isinstance(part, SIMPLE) for side in (target, unsorted) for part in ast.walk(side)):
        raise Undecided("what is sorted is computed in the same expression")
    if not same and {n.id for n in ast.walk(unsorted) if isinstance(n, ast.Name)} & _names(target):
        raise Undecided("what is sorted is overwritten")
    first, second = ("left", "right") if not {"left", "right"} & _names_in_scope(place) else ("_left", "_right")
    key = next(keyword.value for keyword in node.keywords if keyword.arg == "key")
    assert isinstance(key, ast.Lambda)
    falling = any(isinstance(k.value, ast.Constant) and k.value.value for k in node.keywords if k.arg == "reverse")
    keys = [re.sub(rf"(?<![\w.]){key.args.args[0].arg}\b", name, place.text(key.body)) for name in (first, second)]
    condition = f"{keys[0]} {'>=' if falling else '<='} {keys[1]}"
    held, newline, layout = place.text(target), place.layout.newline, place.layout
    pairs = f"for {first}, {second} in zip({held}, {held}[1:])"
    head = "" if same else f"{held} = list({place.text(unsorted)}){newline}{indent}"
    guard = f"{place.names('guard_or_true')}({condition})"
    inner = f"{newline}{indent}    "
    head += f"if not all({inner}{guard}{inner}{pairs}{newline}{indent}):{inner}"
    last = statement.end_lineno or statement.lineno
    begin = layout.start(statement)
    deeper = [Change(layout.line_start(n), layout.line_start(n), "    ") for n in range(statement.lineno + 1, last + 1)]
    check = place.check(parse_expression(condition), indent + "    ")
    if tensor := _strided(place, key.body):
        check = check.replace(condition, f"{place.names('sym_or')}({tensor}.numel() == 0, {condition})", 1)
    end = layout.line_end(last)
    after = f"{newline}{indent}{pairs}:{newline}{check.removesuffix(newline)}"
    return Rewrite(Level.REVIEW, MESSAGE, (Change(begin, begin, head), *deeper, Change(end, end, after)))


def _strided(place: Place, key: ast.expr) -> str:
    """The variable whose strides a list is sorted by, "" where it is sorted by something else."""
    owner = key.value if isinstance(key, ast.Subscript) else key
    line = key.lineno
    if isinstance(owner, ast.Name):
        held = [n for n in place.nodes if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == owner.id]
        owner, line = (
            (held[0].value, held[0].lineno) if len(held) == 1 == len(place.assigned(owner.id)) else (key, line)
        )
    if not isinstance(owner, ast.Call) or not isinstance(owner.func, ast.Attribute) or owner.func.attr != "stride":
        return ""
    tensor = owner.func.value
    stores = (n.lineno for n in place.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
              and isinstance(tensor, ast.Name) and n.id == tensor.id)  # fmt: skip
    other = not isinstance(tensor, ast.Name) or any(line <= stored < key.lineno for stored in stores)
    return "" if other else ast.unparse(tensor)


def _names(node: ast.expr) -> set[str]:
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}


def _names_in_scope(place: Place) -> set[str]:
    return {node.id for node in place.nodes if isinstance(node, ast.Name)} | place.values.variables.keys()
