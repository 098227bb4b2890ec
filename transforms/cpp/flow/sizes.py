"""Which numbers are sizes, as far as the source says so."""

from __future__ import annotations

from transforms.cpp.flow.checks import called
from transforms.cpp.flow.engine import Flow
from transforms.cpp.reading.tree import Node

_TARGETS = {"assignment_expression": "left", "update_expression": "argument"}
_COUNTS = frozenset({"numel", "size", "sym_numel", "sym_size", "multiply_integers"})


def is_size(flow: Flow, outer: Node, following: int = 10) -> bool:
    """Whether a number is how many elements there are, so that it is never below 0.

    A parameter, a difference or a stride may be.
    """
    node = outer.bare
    if node.kind == "call_expression":
        return method(node) in _COUNTS
    if node.kind == "subscript_expression":
        return _is_shape(flow, node.children[0], following)
    if node.kind == "binary_expression" and node.token == "*":
        return all(is_size(flow, child, following) for child in node.children)
    initial = unchanged_initial(flow, node) if following else None
    return initial is not None and is_size(flow, initial, following - 1)


def _is_shape(flow: Flow, node: Node, following: int) -> bool:
    if node.kind == "call_expression":
        return method(node) in ("sizes", "sym_sizes")
    initial = unchanged_initial(flow, node) if following else None
    return initial is not None and _is_shape(flow, initial, following - 1)


def unchanged_initial(flow: Flow, node: Node) -> Node | None:
    """What a variable is initialised with and never changed; None for a parameter."""
    variable = flow.lookup(node.text) if node.kind == "identifier" else None
    if variable is None or variable.initial is None:
        return None
    if flow.assigned is None:
        targets = (part.field(_TARGETS[part.kind]) for part in flow.root.walk() if part.kind in _TARGETS)
        flow.assigned = frozenset(target.text for target in targets if target is not None)
    return None if node.text in flow.assigned else variable.initial


def method(call: Node) -> str:
    """The name of what is called, without what it is called on; "" for the standard library."""
    standard = call.fields["function"].beginning(5) == "std::"
    return "" if standard else called(call).rpartition(".")[2]
