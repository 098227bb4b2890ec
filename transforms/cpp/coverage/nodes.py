"""Questions about the syntax of a kernel."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from transforms.cpp.coverage.values import Underivable
from transforms.cpp.reading.tree import Node
from transforms.schema.schema import Schema

_PARTS = "structured_binding_declarator"
_THROWN = {
    "std::invalid_argument": "_value", "std::domain_error": "_value", "std::length_error": "_value",
    "std::range_error": "_value", "std::out_of_range": "_index", "std::runtime_error": "", "std::logic_error": "",
    "std::underflow_error": "", "c10::Error": "", "c10::ValueError": "_value", "c10::IndexError": "_index",
    "c10::TypeError": "_type", "c10::NotImplementedError": "_not_implemented", "torch::TypeError": "_type",
}  # fmt: skip
"""The check that raises what a call from Python raises for an exception of C++ (pybind11's and torch's translators;
measured by throwing each in an operator of torch 2.13). No check raises OverflowError or MemoryError."""

ENDS = {"front": "0", "back": "-1"}
"""The methods of a list that give an element at one of its ends, and its index in Python."""


def thrown(statement: Node) -> str:
    """Which `torch._check` raises what a `throw` does in Python."""
    made = statement.children[0] if statement.children else statement
    kind = made.field("function") or made.field("type")
    if kind is None or kind.text not in _THROWN:
        raise Underivable(f"what Python raises for `{statement.excerpt}` is not known")
    return _THROWN[kind.text]


def keeps_sizes(method: str, schemas: Mapping[str, Sequence[Schema]]) -> bool:
    """Whether what an operator does in place leaves sizes and strides as they are.

    It does where the operator that is not in place gives a tensor of its own, or where nothing else is given to go by:
    `t_` is like `t`, a view, and `resize_` has no such operator (native_functions.yaml tags both `inplace_view`).
    """
    named = schemas.get(method, ())
    alike = [schema for schema in schemas.get(method.removesuffix("_"), ()) if not schema.outputs]
    if alike:
        return all(not item.annotation for schema in alike for item in schema.returns)
    return bool(named) and all(len(schema.arguments) == 1 for schema in named)


def statements_of(arm: Node | None) -> list[Node]:
    """The statements of an arm of an `if`, with braces or without."""
    if arm is None or arm.kind not in ("compound_statement", "else_clause"):
        return [arm] if arm is not None else []
    inner = arm.children
    return statements_of(inner[0]) if arm.kind == "else_clause" and len(inner) == 1 else list(inner)


def declared_names(node: Node) -> Iterator[str]:
    """The names that a declaration declares."""
    for declarator in node.children:
        target: Node | None = declarator
        while target is not None and target.kind.endswith("_declarator") and target.kind != _PARTS and target.children:
            target = target.field("declarator") or target.children[-1]
        if target is not None and target.kind == _PARTS:
            yield from (name.text for name in target.children)
        elif target is not None and target.kind == "identifier":
            yield target.text


def root_of(node: Node) -> str | None:
    """The name of what an expression is, or is a part of: `s` of `s[0]` and `s.back()`; None where it is a value."""
    match node.kind:
        case "identifier":
            return node.text
        case "parenthesized_expression" | "subscript_expression" | "pointer_expression":
            return root_of(node.children[0])
        case "call_expression":
            function = node.field("function")
            method = function.field("field") if function is not None else None
            if function is not None and method is not None and method.text in ("at", "back", "front", "value"):
                return root_of(function.children[0])
    return None


def element_of(node: Node) -> tuple[Node, Node | str] | None:
    """The list that an expression is an element of, and which: `1` of `s[1]`, -1 of `s.back()`; None for no element."""
    if node.kind == "subscript_expression":
        holder, indices = node.field("argument"), node.field("indices")
        at = indices.children if indices is not None else []
        return (holder, at[0]) if holder is not None and len(at) == 1 else None
    function = node.field("function") if node.kind == "call_expression" else None
    holder, method = (function.field(name) if function is not None else None for name in ("argument", "field"))
    return (holder, ENDS[method.text]) if holder is not None and method is not None and method.text in ENDS else None


def statement_around(node: Node) -> Node:
    """The statement that an expression stands in, or the head of a loop or branch that it stands in."""
    while node.parent is not None and node.parent.kind not in ("compound_statement", "function_definition"):
        if node.kind.endswith(("_statement", "declaration")):
            break
        node = node.parent
    return node


def in_turn(node: Node, block: Node) -> bool:
    """Whether a call is a statement that is read in turn, in `block` or in an arm of a branch."""
    current, parent = node, node.parent
    while parent is not None and current is not block:
        if parent.kind not in ("expression_statement", "compound_statement", "if_statement", "else_clause"):
            return False
        if parent.kind == "if_statement" and parent.field("condition") is current:
            return False
        current, parent = parent, parent.parent
    return current is block


def in_lambda(node: Node, top: Node) -> bool:
    """Whether a lambda stands between a node and one around it."""
    parent = node.parent
    while parent is not None and parent is not top:
        if parent.kind == "lambda_expression":
            return True
        parent = parent.parent
    return False


def conjuncts(node: Node) -> Iterator[Node]:
    """The conditions that all have to hold."""
    while node.kind == "parenthesized_expression":
        node = node.children[0]
    if node.kind == "binary_expression" and node.token == "&&":
        for child in node.children:
            yield from conjuncts(child)
    else:
        yield node


def literal_text(arguments: Sequence[Node]) -> str:
    """The literal text that a message begins with; the clause that a value would end is left out where it can be."""
    text = ""
    for argument in arguments:
        pieces = argument.children if argument.kind == "concatenated_string" else [argument]
        if any(piece.kind != "string_literal" for piece in pieces):
            text = text.rpartition(",")[0] or text
            break
        for piece in pieces:
            try:
                text += str(ast.literal_eval(piece.text))
            except (SyntaxError, ValueError):
                return text
    return text.strip().rstrip(":,").strip()
