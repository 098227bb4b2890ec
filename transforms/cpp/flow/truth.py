"""Sizes used as conditions, and compared in checks."""

from __future__ import annotations

from collections.abc import Sequence

from transforms.cpp.flow.dispatch import evaluate
from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.events import Condition, SizeCheck
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import Type

_DEFERRED = {"TORCH_CHECK": "TORCH_SYM_CHECK", "TORCH_INTERNAL_ASSERT": "TORCH_SYM_INTERNAL_ASSERT"}
"""The macros that have a twin for conditions that only the running graph can answer (c10/core/SymBool.h)."""
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})


def truth(flow: Flow, node: Node, value: Type) -> None:
    """`node` is used as a condition: a SymInt there is compared with 0, as it has no conversion to bool."""
    if not (value.symbolic and value.kind == "int"):
        return
    target = node
    while target.kind == "parenthesized_expression" and len(target.children) == 1:
        target = target.children[0]
    if not (target.kind == "unary_expression" and target.token == "!"):  # else: done with its operand
        flow.announce(Condition(value.origins, node))


def size_check(flow: Flow, macro: Node, arguments: Sequence[Node]) -> None:
    """Note a check with a message whose whole condition is one comparison of integers, where one is a SymInt."""
    twin, condition = _DEFERRED.get(macro.text, ""), arguments[0] if len(arguments) > 1 else None
    if flow.passive or condition is None or condition.kind != "binary_expression" or not flow.available(twin):
        return
    left, right, operator = condition.field("left"), condition.field("right"), condition.token
    if left is None or right is None or operator not in _COMPARISONS:
        return
    values = evaluate(flow, left), evaluate(flow, right)
    bare = condition.source[left.end : right.start].decode("utf-8", "replace").strip() == operator
    if bare and all(value.kind == "int" for value in values) and any(value.symbolic for value in values):
        origins = frozenset[int]().union(*(value.origins or () for value in values))
        flow.checks.append(SizeCheck(origins, macro, twin, operator, left, right, values[0].symbolic))
