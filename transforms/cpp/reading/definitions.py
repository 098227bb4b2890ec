"""Finds a function of the facts in the tree of its file: its definition, its declarator, the types that it spells."""

from __future__ import annotations

from collections.abc import Iterable

from tree_sitter import Node

from transforms.cpp.reading.facts import PART, Function

_PARAMETERS = ("parameter_declaration", "optional_parameter_declaration")


def find_definition(root: Node, function: Function) -> Node | None:
    """The node of a function's definition: the one whose body opens at `function.body`."""
    node = _around_body(root, function)
    body = node.child_by_field_name("body") if node is not None else None
    if body is not None and body.type == "try_statement":
        body = body.child_by_field_name("body")
    return node if body is not None and body.start_byte == function.body else None


def find_declarator(root: Node, function: Function) -> Node | None:
    """The function_declarator of a definition or declaration."""
    if function.body >= 0:
        node = _around_body(root, function)
        return _declarator_below(node.child_by_field_name("declarator"), function.name) if node is not None else None
    node = root.descendant_for_byte_range(function.start, function.start + 1)
    while node is not None and node.end_byte < function.end - 1:
        node = node.parent
    return _declarator_below(node, function.name)


def spelled_types(declarator: Node, indexes: Iterable[int]) -> list[Node] | None:
    """The types of the parameters at `indexes`, in order; -1 is the result, and what is lower a part of it.

    None where one is not to be seen.
    """
    parameters = declarator.child_by_field_name("parameters")
    if parameters is None:
        return None
    owners = [child for child in parameters.named_children if child.type in _PARAMETERS]
    types = []
    for index in sorted(indexes):
        owner = _result_of(declarator) if index < 0 else owners[index] if index < len(owners) else None
        spelled = owner.child_by_field_name("type") if owner is not None else None
        if spelled is not None and index <= PART:
            spelled = _argument(spelled, PART - index)
        if spelled is None:
            return None
        types.append(spelled)
    return types


def _result_of(declarator: Node) -> Node | None:
    """What the type of the result is written in: the declaration, or what stands behind `->`."""
    trailing = next((child for child in declarator.named_children if child.type == "trailing_return_type"), None)
    return trailing.named_children[0] if trailing is not None else _declaration_around(declarator)


def _argument(spelled: Node, index: int) -> Node | None:
    """The argument of the outermost template of a type."""
    pending = [spelled]
    while pending:
        node = pending.pop(0)
        if node.type == "template_argument_list":
            arguments = [child for child in node.named_children if child.type != "comment"]
            return arguments[index] if index < len(arguments) else None
        pending += node.named_children
    return None


def _around_body(root: Node, function: Function) -> Node | None:
    node: Node | None = root.descendant_for_byte_range(function.body, function.body + 1)
    while node is not None and not (node.type == "function_definition" and node.start_byte < function.body):
        node = node.parent
    return node


def _declarator_below(node: Node | None, name: str) -> Node | None:
    pending = [node] if node is not None else []
    while pending:
        current = pending.pop()
        if current.type == "function_declarator":
            declared = current.child_by_field_name("declarator")
            text = declared.text if declared is not None else None
            if text is not None and text.decode("utf-8", "replace").split("::")[-1] == name:
                return current
        pending.extend(reversed(current.named_children))
    return None


def _declaration_around(declarator: Node) -> Node | None:
    """The definition or declaration that spells the result's type."""
    node: Node | None = declarator.parent
    while node is not None and node.child_by_field_name("type") is None:
        node = node.parent
    return node
