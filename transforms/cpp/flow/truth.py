"""Sizes used as conditions."""

from __future__ import annotations

from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.events import Condition
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import Type


def truth(flow: Flow, node: Node, value: Type) -> None:
    """`node` is used as a condition: a SymInt there is compared with 0, as it has no conversion to bool."""
    if not (value.symbolic and value.kind == "int"):
        return
    target = node
    while target.kind == "parenthesized_expression" and len(target.children) == 1:
        target = target.children[0]
    if not (target.kind == "unary_expression" and target.token == "!"):  # else: done with its operand
        flow.announce(Condition(value.origins, node))
