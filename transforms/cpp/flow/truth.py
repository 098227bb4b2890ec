"""Sizes used as conditions, and compared in checks."""

from __future__ import annotations

from collections.abc import Sequence

from transforms.cpp.flow.dispatch import evaluate
from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.events import Comparison, Condition, Junction, SizeCheck
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import Type

_DEFERRED = {"TORCH_CHECK": "TORCH_SYM_CHECK", "TORCH_INTERNAL_ASSERT": "TORCH_SYM_INTERNAL_ASSERT"}
"""The macros that have a twin for conditions that only the running graph can answer (c10/core/SymBool.h)."""
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_OPERANDS = ("left", "right", "argument")


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
    """Note a check with a message whose whole condition is made of comparisons of integers that hold a SymInt."""
    twin = _DEFERRED.get(macro.text, "")
    if flow.passive or len(arguments) < 2 or not flow.available(twin):
        return
    origins: set[int] = set()
    condition = _condition(flow, arguments[0], origins)
    if condition is not None:
        flow.checks.append(SizeCheck(frozenset(origins), macro, twin, condition))


def _condition(flow: Flow, outer: Node, origins: set[int]) -> Comparison | Junction | None:
    """What `outer` asks of sizes, whose origins are added to `origins`; None where no graph can answer."""
    node = outer
    if node.kind == "parenthesized_expression" and len(node.children) == 1:
        node = node.children[0]
    left, right = node.field("left"), node.field("right")
    if node.kind != "binary_expression" or left is None or right is None:
        return None
    if _between(left, right).strip() != node.token:
        return None  # a comment
    if node.token in ("&&", "||"):
        return _junction(flow, outer, node.token, left, right, origins)
    if node.token not in _COMPARISONS:
        return None
    values = evaluate(flow, left), evaluate(flow, right)
    if not all(value.kind == "int" for value in values) or not any(value.symbolic for value in values):
        return None
    origins.update(*(value.origins or () for value in values))
    return Comparison(outer, node.token, left, right, values[0].symbolic)


def _junction(flow: Flow, outer: Node, operator: str, left: Node, right: Node, origins: set[int]) -> Junction | None:
    last = _condition(flow, right, origins)
    first = _condition(flow, left, origins)
    if last is None:
        return None
    if first is None:
        # As it was: what follows a bool is asked only where that does not decide.
        decided = evaluate(flow, left).kind == "bool" and not _asks(flow, left)
        return Junction(outer, operator, left, last) if decided and flow.available("SymBool") else None
    concrete = isinstance(first, Junction) and isinstance(first.left, Node) and first.node.kind == "binary_expression"
    # `a.sym_and(b)` asks both, so `b` may be nothing that `a` protects.
    return Junction(outer, operator, first, last) if not concrete and _harmless(right) else None


def _asks(flow: Flow, node: Node) -> bool:
    """Whether `node` asks something of a size that may be a symbol, or holds a SymBool: `n.sym_eq(1)`."""
    return any(
        (part.kind == "field_identifier" and part.text.startswith("sym_"))
        or any(evaluate(flow, side).symbolic for side in map(part.field, _OPERANDS) if side is not None)
        for part in node.walk()
        if part.kind in ("binary_expression", "unary_expression", "field_identifier")
    )


def _harmless(node: Node) -> bool:
    """Whether any value of the variables may be put into `node`: numbers, sums and products of them, compared."""
    return all(
        part.kind in ("identifier", "number_literal", "parenthesized_expression")
        or (part.kind == "binary_expression" and part.token in ("+", "-", "*", *_COMPARISONS))
        for part in node.walk()
    )


def _between(left: Node, right: Node) -> str:
    return left.source[left.end : right.start].decode("utf-8", "replace")
