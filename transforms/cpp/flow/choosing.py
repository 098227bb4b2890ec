"""Choices by sizes that need no answer: between numbers a constant apart, and between orders of one product."""

from __future__ import annotations

from collections.abc import Sequence

from transforms.cpp.flow.checks import called
from transforms.cpp.flow.conditions import read
from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.events import ChosenOrder, ChosenSize, Comparison
from transforms.cpp.reading.tree import Node

_ASSOCIATIVE = frozenset({"mm", "bmm"})
"""`(a b) c` is `a (b c)`. `matmul` is none of them: it takes vectors too, on either side."""


def chosen_size(flow: Flow, choice: Node) -> None:
    """Note `c ? n + 1 : n`, of which all but the condition is a variable and numbers, where `c` compares sizes."""
    condition, yes, no = (choice.fields[name] for name in ("condition", "consequence", "alternative"))
    if flow.passive or not flow.available("toSymInt"):
        return
    origins: set[int] = set()
    comparison = read(flow, condition, origins)
    step = _step(yes.bare, no.bare)
    backward = None if step is not None else _step(no.bare, yes.bare)
    amount = step if backward is None else backward
    if isinstance(comparison, Comparison) and not comparison.shapes and amount is not None:
        base = no.bare if backward is None else no.bare.fields["left"]
        event = ChosenSize(frozenset(origins), choice, comparison, backward is not None, amount, base)
        if event not in flow.questions:
            flow.questions.append(event)


def _step(more: Node, base: Node) -> str | None:
    """What `more` adds to the variable `base`, as in `base - 2`; None where it is something else."""
    left, right = more.field("left"), more.field("right")
    if base.kind != "identifier" or left is None or right is None or more.token not in ("+", "-"):
        return None
    added = right.kind == "number_literal" and right.text.isdecimal() and left.bare.text == base.text
    return f"{'-' * (more.token == '-')}{right.text}" if added else None


def chosen_order(flow: Flow, condition: Node, arms: Sequence[Sequence[Node]], guard: str) -> None:
    """Note an `if` on sizes whose two paths are one product of matrices, multiplied in another order."""
    first, second = ([_normal(statement) for statement in arm] for arm in arms)
    if not first or first != second:
        return
    origins: set[int] = set()
    comparison = read(flow, condition, origins)
    if isinstance(comparison, Comparison) and not comparison.shapes:
        flow.questions.append(ChosenOrder(frozenset(origins), comparison, guard))


def _normal(node: Node) -> str:
    """The text of a node with the operands of each product in a row, however they are put together."""
    name, written = _product(node)
    if name:
        arguments = node.fields["arguments"].children
        factors = [factor for argument in arguments[written:] for factor in _factors(argument, name)]
        return f"{name}({', '.join([*map(_normal, arguments[:written]), *factors])})"
    if not node.children:
        return node.text
    at, text = node.start, ""
    for child in node.children:
        text += node.source[at : child.start].decode("utf-8", "replace").strip() + _normal(child)
        at = child.end
    return text + node.source[at : node.end].decode("utf-8", "replace").strip()


def _factors(node: Node, name: str) -> list[str]:
    """What `node` multiplies with the operator `name`, in order; itself where it is no such product."""
    if _product(node) != (name, False):
        return [_normal(node)]
    return [factor for argument in node.fields["arguments"].children for factor in _factors(argument, name)]


def _product(node: Node) -> tuple[str, bool]:
    """The operator that a product is made with, "" where it is none, and whether it is written to an output."""
    if node.kind != "call_expression" or node.fields["function"].kind == "field_expression":
        return "", False
    name, count = called(node), len(node.fields["arguments"].children)
    written = name.endswith("_out") and count == 3
    name = name.removesuffix("_out") if written else name
    return (name, written) if name in _ASSOCIATIVE and count == 2 + written else ("", False)
