"""What is stored under each name of a function, wherever that stands: a closed list, and unknown what is not in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from transforms.cpp.flow.checks import CHECKS, FAILURES, called
from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.numbers import UNSIGNED
from transforms.cpp.flow.sizes import method
from transforms.cpp.flow.statements import declared_name
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import is_written, parse_type

Stored = Node | int | None
"""An expression, a number that what is stored is no smaller than, or something unknown."""
_GROWING = frozenset({"+=", "*=", "/=", "%="})
"""Assignments that leave a number not negative which was not, where the operand is not."""
_READING = frozenset(
    {"begin", "end", "cbegin", "cend", "size", "empty", "vec", "slice", "back", "front", "at", "equals"}
)
_ITERATORS = frozenset({"begin", "end", "rbegin", "rend", "data"})
_APPENDING = frozenset({"push_back", "emplace_back"})
_FOLDING = frozenset({"accumulate", "reduce", "multiply_integers"})
_WRITING = frozenset({"swap", "tie", "exchange", "iter_swap", "ref", "forward_as_tuple"})
"""Functions of the standard library that change numbers given to them, or let others do so."""


@dataclass(slots=True)
class Definitions:
    """By name: what is stored in a variable, what in an element of it, and where that is done last."""

    of: dict[str, list[Stored]] = field(default_factory=dict)
    elements: dict[str, list[Stored]] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)

    def note(self, name: str, stored: Stored, place: Node) -> None:
        """`stored` is stored under a name."""
        self.of.setdefault(name, []).append(stored)
        self.last[name] = max(self.last.get(name, -1), place.start)

    def note_element(self, name: str, stored: Stored, place: Node) -> None:
        """`stored` is stored in an element of what has a name."""
        self.elements.setdefault(name, []).append(stored)
        self.last[name] = max(self.last.get(name, -1), place.start)


def definitions(flow: Flow) -> Definitions:
    """Those of a function, lambdas in it included; a name that two variables have is taken for one."""
    found = Definitions()
    tensors = {variable.name for variable in flow.variables.values() if variable.type.kind == "tensor"}
    tensors -= {variable.name for variable in flow.variables.values() if variable.type.kind != "tensor"}
    for node in flow.root.walk():
        if node.kind in ("init_declarator", "declaration"):
            _declared(found, node)
        elif node.kind in ("parameter_declaration", "optional_parameter_declaration", "variadic_parameter_declaration"):
            _parameter(found, node)
        elif node.kind == "for_range_loop":
            _loop(found, node)
        elif node.kind in ("structured_binding_declarator", "lambda_capture_initializer"):
            for name in _identifiers(node if node.kind.startswith("structured") else node.children[0]):
                found.note(name, None, node)
        elif node.kind == "assignment_expression":
            _assigned(found, node)
        elif node.kind == "update_expression":
            _target(found, node.field("argument"), 0 if node.token == "++" else None, node)
        elif node.kind == "pointer_expression" and node.token == "&":
            _target(found, node.field("argument"), None, node)
        elif node.kind == "binary_expression" and node.token == ">>":
            _target(found, node.field("right"), None, node)
        elif node.kind == "call_expression":
            _given(flow, found, node, tensors)
    _behind_iterators(found)
    return found


def _behind_iterators(found: Definitions) -> None:
    """What is stored where an iterator points to is stored in an element of the sequence that it is of."""
    for name in found.of.keys() & found.elements.keys():
        for value in (stored for stored in found.of[name] if isinstance(stored, Node)):
            for part in (part for part in value.walk() if part.kind == "call_expression"):
                owner = part.fields["function"].field("argument") if method(part) in _ITERATORS else None
                if owner is not None and owner.kind == "identifier":
                    found.note_element(owner.text, None, part)
                    found.last[owner.text] = max(found.last[owner.text], found.last[name])


def _identifiers(node: Node) -> Iterator[str]:
    return (part.text for part in node.walk() if part.kind == "identifier")


def _unsigned(declaration: Node | None) -> bool:
    spelled = declaration.field("type") if declaration is not None else None
    return spelled is not None and parse_type(spelled.text).name in UNSIGNED


def _declared(found: Definitions, node: Node) -> None:
    declaration = node.parent if node.kind == "init_declarator" else node
    declarator, value = node.field("declarator"), node.field("value")
    if declarator is None or value is None or declarator.kind == "structured_binding_declarator":
        return
    if value.kind in ("argument_list", "initializer_list") and len(value.children) == 1:
        value = value.children[0]
    name, suffix, _ = declared_name(declarator)
    found.note(name, None if suffix else 0 if _unsigned(declaration) else value, node)
    constant = declaration is not None and any(child.text == "const" for child in declaration.children)
    if declarator.kind == "reference_declarator" and not constant:  # another name of what it is bound to
        found.note(name, None, node)
        _target(found, value, None, node)


def _parameter(found: Definitions, node: Node) -> None:
    name, suffix, _ = declared_name(node.field("declarator"))
    if name:
        found.note(name, 0 if _unsigned(node) and not suffix else None, node)


def _loop(found: Definitions, node: Node) -> None:
    declarator, right = node.field("declarator"), node.field("right")
    name = declared_name(declarator)[0] if declarator is not None else ""
    if not name:
        return
    counted = right is not None and right.kind == "call_expression" and called(right) == "irange"
    if declarator is not None and declarator.kind == "reference_declarator" and right is not None and not counted:
        constant = any(child.text == "const" for child in node.children)
        owners = () if constant else _identifiers(right)  # each turn has another name for one of its elements
        for owner in owners:
            found.note_element(owner, None, node)
    first = right.fields["arguments"].children if right is not None and counted else []
    found.note(name, first[0] if len(first) > 1 else 0 if counted else None, node)


def _assigned(found: Definitions, node: Node) -> None:
    left, right = node.field("left"), node.field("right")
    if left is None or right is None:
        return
    followed = node.token == "=" or node.token in _GROWING
    if left.kind == "call_expression" and called(left) in ("tie", "forward_as_tuple"):
        for name in _identifiers(left.fields["arguments"]):
            found.note(name, None, node)
    else:
        _target(found, left, right if followed else None, node)


def _target(found: Definitions, target: Node | None, stored: Stored, place: Node) -> None:
    """What is stored in a variable, or in the element of one that a target names."""
    node = target.bare if target is not None else None
    if node is None:
        return
    if node.kind == "identifier":
        found.note(node.text, stored, place)
        return
    element = stored if node.kind == "subscript_expression" else None
    while (owner := node.field("argument") or node.field("function")) is not None:  # not what stands in a subscript
        node = owner.bare
    for name in _identifiers(node):
        found.note_element(name, element, place)


def _given(flow: Flow, found: Definitions, call: Node, tensors: Collection[str]) -> None:
    """Variables that a call may change."""
    function, arguments = call.field("function"), call.field("arguments")
    if function is None or arguments is None:
        return
    receiver = function.field("argument") if function.kind == "field_expression" else None
    if receiver is not None and receiver.kind == "identifier":
        name = method(call)
        appended = arguments.children[0] if name in _APPENDING and len(arguments.children) == 1 else None
        if name not in _READING and not (receiver.text in tensors and not name.endswith("_")):
            found.note_element(receiver.text, appended, call)
    name = called(call).split("<")[0]
    for index, argument in enumerate(arguments.children):
        if argument.kind == "identifier" and _may_write(flow, found, function, name, index):
            found.note(argument.text, None, call)
            found.note_element(argument.text, None, call)
        iterated = argument.field("function") if argument.kind == "call_expression" else None
        owner = iterated.field("argument") if iterated is not None else None
        moved = owner is not None and method(argument) in ("begin", "end", "data") and name not in _FOLDING
        if owner is not None and owner.kind == "identifier" and moved:
            found.note_element(owner.text, None, call)


def _may_write(flow: Flow, found: Definitions, function: Node, name: str, index: int) -> bool:
    """Whether a function may change what it is given as argument `index`."""
    if name in CHECKS or name in FAILURES or name in flow.vocabulary.schemas:
        return False
    if function.kind == "identifier" and name in found.of:
        owners = [
            stored for stored in found.of[name] if isinstance(stored, Node) and stored.kind == "lambda_expression"
        ]
        parameters = [[p.text for p in owner.walk() if p.kind == "parameter_declaration"] for owner in owners]
        return not owners or any(index < len(given) and _is_reference(given[index]) for given in parameters)
    overloads = flow.vocabulary.functions.get(name.rpartition(".")[2].rpartition("->")[2], ())
    if overloads:
        return any(index < len(f.params) and is_written(f.params[index].type) for f in overloads)
    if function.text.startswith(("std::", "c10::", "at::", "torch::")):
        return name in _WRITING
    cast = name in ("static_cast", "irange", "min", "max") or flow.type_of(name).kind not in ("other", "unknown")
    return function.kind != "field_expression" and not cast


def _is_reference(parameter: str) -> bool:
    """Whether a parameter of a lambda, as written, is a reference that it may write through."""
    return "&" in parameter and "const" not in parameter.split()
