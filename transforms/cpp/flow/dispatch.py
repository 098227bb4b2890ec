"""Which function reads which kind of node; the modules of this package enter theirs here."""

from __future__ import annotations

from collections.abc import Callable

from transforms.cpp.flow.engine import Flow
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import UNKNOWN, Type

EXPRESSIONS: dict[str, Callable[[Flow, Node], Type]] = {}
STATEMENTS: dict[str, Callable[[Flow, Node], None]] = {}
_IGNORED = frozenset(
    {"using_declaration", "static_assert_declaration", "function_definition", "statement_identifier", "type_definition"}
    | {"struct_specifier", "class_specifier", "enum_specifier", "namespace_alias_definition", "attribute_declaration"}
    | {"attribute_specifier", "type_identifier", "friend_declaration", "empty_declaration", "primitive_type"}
)


def evaluate(flow: Flow, node: Node) -> Type:
    """The type of the expression `node`, after everything inside it was judged. Raises TooDeep."""
    flow.enter()
    value = EXPRESSIONS.get(node.kind, _evaluate_other)(flow, node)
    if flow.marks is not None:
        flow.hold_inside(node, value)
    flow.level -= 1
    return value


def _evaluate_other(flow: Flow, node: Node) -> Type:
    if node.kind.endswith("_statement") or node.kind in ("compound_statement", "declaration"):
        run(flow, node)
        return UNKNOWN
    if node.kind == "ERROR":
        flow.unreadable(node)
        return UNKNOWN
    for child in node.children:
        flow.sink(child, "unknown-use", f"is used in a {node.kind.replace('_', ' ')}", evaluate(flow, child))
    return UNKNOWN


def run(flow: Flow, node: Node) -> None:
    """Read one statement. Raises TooDeep."""
    flow.enter()
    STATEMENTS.get(node.kind, _run_other)(flow, node)
    flow.level -= 1


def _run_other(flow: Flow, node: Node) -> None:
    if node.kind == "ERROR":
        flow.unreadable(node)
    elif node.kind.endswith("statement") or node.kind in ("else_clause", "template_declaration"):
        for child in node.children:
            run(flow, child)
    elif node.kind.startswith("preproc_"):
        for child in node.children:
            if child is not node.field("condition") and child is not node.field("name"):
                run(flow, child)
    elif node.kind not in _IGNORED:
        evaluate(flow, node)
