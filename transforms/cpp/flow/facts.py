"""What checks and branches say of numbers where a place in a function is reached."""

from __future__ import annotations

from collections.abc import Iterator

from transforms.cpp.flow.checks import CHECKS, MIRRORED, called, exits
from transforms.cpp.flow.definitions import Definitions
from transforms.cpp.reading.tree import Node

Fact = tuple[Node, str, Node | int]
"""`left > right`, with `>=`, `==` or `!=` as well."""
_BLOCKS = frozenset({"compound_statement", "case_statement", "else_clause"})
_LOOPS = frozenset({"while_statement", "for_statement"})
_IN_DEBUG = frozenset({"TORCH_INTERNAL_ASSERT_DEBUG_ONLY", "assert"})
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def facts_at(place: Node, found: Definitions) -> list[Fact]:
    """What holds at a place: nothing of it is stored anew behind where it was asked."""
    facts: list[Fact] = []
    inner, outer = place, place.parent
    while outer is not None:
        facts += _around(outer, inner)
        inner, outer = outer, outer.parent
    return [fact for fact in facts if _lasts(fact, found)]


def _lasts(fact: Fact, found: Definitions) -> bool:
    left, _, right = fact
    sides = (left, right) if isinstance(right, Node) else (left,)
    names = (part.text for side in sides for part in side.walk() if part.kind == "identifier")
    return all(found.last.get(name, -1) < left.start for name in names)


def _around(outer: Node, inner: Node) -> Iterator[Fact]:
    """What `outer` says where its child `inner` is come to."""
    condition = outer.field("condition")
    if outer.kind in _BLOCKS:
        for statement in outer.children:
            if statement.start >= inner.start:
                return
            yield from _behind(statement)
    elif outer.kind in ("if_statement", "conditional_expression") and condition is not None:
        if inner in (outer.field("consequence"), outer.field("alternative")):
            yield from said(condition, inner is outer.field("consequence"))
    elif outer.kind in _LOOPS and condition is not None and inner is outer.field("body"):
        yield from said(condition, True)
    elif outer.kind == "binary_expression" and outer.token in ("&&", "||") and inner is outer.field("right"):
        yield from said(outer.fields["left"], outer.token == "&&")


def _behind(statement: Node) -> Iterator[Fact]:
    """What holds behind a statement."""
    condition, taken = statement.field("condition"), statement.field("consequence")
    if statement.kind == "if_statement" and condition is not None and taken is not None and exits(taken):
        yield from said(condition, False)
    check = statement.children[0] if statement.kind == "expression_statement" and statement.children else None
    if check is None or check.kind != "call_expression" or called(check) not in CHECKS - _IN_DEBUG:
        return
    arguments = check.fields["arguments"].children
    asked = arguments[1:2] if called(check) == "TORCH_CHECK_WITH" else arguments[:1]
    for condition in asked:
        yield from said(condition, True)


def said(outer: Node, outcome: bool) -> Iterator[Fact]:
    """What a condition says where it has an outcome."""
    node = outer.bare
    if node.kind == "condition_clause" and node.children and node.field("initializer") is None:
        yield from said(node.field("value") or node.children[-1], outcome)
    elif node.kind == "unary_expression" and node.token == "!":
        yield from said(node.fields["argument"], not outcome)
    elif node.kind == "binary_expression" and node.token == ("&&" if outcome else "||"):
        for side in node.children:
            yield from said(side, outcome)
    elif node.kind == "binary_expression" and node.token in _OPPOSITE and len(node.children) == 2:
        left, right = node.children
        operator = node.token if outcome else _OPPOSITE[node.token]
        if operator in (">", ">=", "==", "!="):
            yield left.bare, operator, right.bare
        if MIRRORED[operator] in (">", ">=", "==", "!="):
            yield right.bare, MIRRORED[operator], left.bare
