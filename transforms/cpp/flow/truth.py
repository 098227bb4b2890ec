"""Sizes used as conditions."""

from __future__ import annotations

from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.events import Condition, ShortcutNumber
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import Type


def truth(flow: Flow, node: Node, value: Type) -> None:
    """`node` is used as a condition: a SymInt or SymFloat there is compared with 0, for neither converts to bool.

    Where that is a shortcut's, a guard is asked, of which a person has to approve.
    """
    if not (value.symbolic and value.kind in ("int", "float")):
        return
    target = node.bare
    if target.kind == "unary_expression" and target.token == "!":
        return  # done with its operand
    guards = flow.truths.get(target.start)
    flow.guarded_truths |= guards is not None and bool(value.origins)
    flow.announce(ShortcutNumber(value.origins, node, guards) if guards else Condition(value.origins, node))


def stands_in_operator(negated: Node) -> bool:
    """Whether a `!` is an operand of what binds as close as `==`, as in `!!n` and `b == !n`."""
    outer = negated.parent
    return (
        outer is not None
        and outer.kind.endswith("_expression")
        and outer.kind not in ("parenthesized_expression", "conditional_expression", "assignment_expression")
        and outer.token not in ("&&", "||")
    )


def operand(condition: Node) -> tuple[Node, Node | None]:
    """What is asked inside the parentheses of a condition, and the `!` right before that, or None."""
    target = condition.bare
    outer = target.parent
    return target, outer if outer is not None and outer.kind == "unary_expression" and outer.token == "!" else None
