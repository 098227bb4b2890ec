"""What is spelled twice where `n -= k` becomes `n = n - k`: which targets may be evaluated twice."""

from __future__ import annotations

from collections.abc import Collection

from transforms.cpp.flow.checks import called
from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.sizes import method
from transforms.cpp.reach.vocabulary import ACCESSORS
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import is_written

_PLAIN = frozenset(
    {"identifier", "field_identifier", "qualified_identifier", "namespace_identifier", "number_literal", "this"}
    | {"field_expression", "subscript_expression", "subscript_argument_list", "parenthesized_expression"}
    | {"argument_list", "binary_expression", "unary_expression", "pointer_expression"}
    | {"template_function", "template_argument_list", "type_descriptor", "type_identifier", "primitive_type"}
)
"""What changes nothing where it is evaluated."""
_READING = frozenset({"at", "back", "begin", "data", "dim", "end", "front", "ndimension", "rbegin", "rend", "value"})
"""Methods of containers, optionals and tensors that change nothing, and give the same again."""


def may_repeat(flow: Flow, target: Node, operand: Node | None = None) -> bool:
    """Whether `target` is the same element twice, also where `operand` is evaluated between the two.

    Of `target op= operand` the operand comes first (C++ standard, "Assignment and compound assignment operators"); of
    `target = target op operand` either side of the operator may.
    """
    if not all(part.kind in _PLAIN or _reads(part) for part in target.walk()):
        return False
    if operand is None or target.kind == "identifier":
        return True
    names = {part.text for part in target.walk() if part.kind == "identifier"}
    return not any(_may_change(flow, part, names) for part in operand.walk())


def _reads(part: Node) -> bool:
    """Whether a part of a target is a call that only reads, `sizes.back()`, or a cast."""
    if part.kind != "call_expression":
        return False
    name = called(part)
    return name.startswith("static_cast<") or (_is_method(part) and _only_reads(method(part)))


def _is_method(call: Node) -> bool:
    function = call.field("function")
    return function is not None and function.kind == "field_expression"


def _only_reads(name: str) -> bool:
    return name in _READING or name in ACCESSORS or name.startswith("sym_")


def _may_change(flow: Flow, part: Node, names: Collection[str]) -> bool:
    """Whether a part of an operand may change one of the variables in `names`."""
    if part.kind in ("update_expression", "assignment_expression", "lambda_expression"):
        return _names(part, names)
    if part.kind != "call_expression":
        return False
    if _is_method(part):
        receiver = part.fields["function"].field("argument")
        return receiver is not None and _names(receiver, names) and not _only_reads(method(part))
    name = called(part)
    if flow.lookup(name) is not None:  # a lambda may have taken them by reference
        return True
    overloads = flow.vocabulary.functions.get(name, ())
    return any(
        _names(argument, names) and any(is_written(f.params[index].type) for f in overloads if index < len(f.params))
        for index, argument in enumerate(part.fields["arguments"].children)
    )


def _names(node: Node, names: Collection[str]) -> bool:
    return any(part.kind == "identifier" and part.text in names for part in node.walk())
