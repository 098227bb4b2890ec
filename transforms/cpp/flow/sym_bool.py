"""What a condition asks of sizes, spelled as a SymBool: the nodes that stay, and the text between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transforms.cpp.flow.conditions import between
from transforms.cpp.flow.events import Comparison, Junction, Replacement
from transforms.cpp.reading.tree import Node

Spelled = Iterator[str | Node]
EXPECTED = ".expect_true(__FILE__, __LINE__)"
"""Asks a SymBool for what is expected of it: an answer where there is a hint, else True, which the graph checks."""
OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_METHODS = {"==": "sym_eq", "!=": "sym_ne", "<": "sym_lt", "<=": "sym_le", ">": "sym_gt", ">=": "sym_ge"}
POSTFIX = frozenset({"identifier", "call_expression", "field_expression", "subscript_expression"})
"""The kinds of expression that a method can be called on without parentheses around them."""


def spelled(condition: Comparison | Junction) -> Spelled:
    """The condition as a SymBool, in order, inside the parentheses that it has."""
    enclosed = condition.node.kind == "parenthesized_expression"
    yield "(" * enclosed
    yield from compared(condition, condition.operator) if isinstance(condition, Comparison) else _joined(condition)
    yield ")" * enclosed


def compared(comparison: Comparison, operator: str) -> Spelled:
    """The two sides of a comparison, compared by `operator`."""
    left, right = comparison.left, comparison.right
    if comparison.shapes:
        yield "sym_equals("
        yield left
        yield ", "
        yield right
        yield ")" if operator == "==" else ").sym_not()"
        return
    opening = "" if comparison.symbolic_left else "c10::SymInt"
    bare = comparison.symbolic_left and left.kind in (*POSTFIX, "parenthesized_expression")
    yield "" if bare else f"{opening}("
    yield left
    yield f"{'' if bare else ')'}.{_METHODS[operator]}("
    yield right
    yield ")"


def _joined(junction: Junction) -> Spelled:
    left, right, either = junction.left, junction.right, junction.operator == "||"
    if isinstance(left, Node):
        yield left
        text = between(left, right.node)
        text = text if text.strip() == junction.operator else f" {junction.operator} "  # a comment, which is kept
        yield text.replace(junction.operator, "? c10::SymBool(true) :" if either else "?")
        yield from spelled(right)
        yield "" if either else " : c10::SymBool(false)"
    else:
        yield from spelled(left)
        yield f".{'sym_or' if either else 'sym_and'}("
        yield from spelled(right)
        yield ")"


def replaced(whole: Node, parts: Iterable[str | Node], message: str) -> Iterator[Replacement]:
    """The edits after which `whole` reads as `parts`, whose nodes stand in it, in order, and stay."""
    end, text = whole.start, ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        if text or part.start > end:
            yield Replacement(end, part.start, text, message)
        end, text = part.end, ""
    yield Replacement(end, whole.end, text, message)
