"""Storing symbolic values: into variables, elements and members, and sequences that must agree with them."""

from __future__ import annotations

from transforms.cpp.flow import saved
from transforms.cpp.flow.dispatch import evaluate
from transforms.cpp.flow.engine import NOTHING, Flow
from transforms.cpp.flow.members import fill, member_slot
from transforms.cpp.flow.state import Variable
from transforms.cpp.flow.truth import truth
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import Type, symbolic_spelling


def coerce(flow: Flow, node: Node, origins: frozenset[int]) -> None:
    """The sequence `node` meets a symbolic one: make it symbolic as well, or let the symbolic one sink here."""
    pending = [node]
    while pending:
        pending += reversed(_coerced(flow, pending.pop(), origins))


def _coerced(flow: Flow, node: Node, origins: frozenset[int]) -> list[Node]:
    """Coerce `node` itself; the nodes inside it that have to be coerced as well."""
    node = node.bare
    if node.kind in ("initializer_list", "number_literal", "argument_list", "null"):
        return []
    if node.kind == "identifier" and node.text in ("nullopt", "NULL"):
        return []
    if node.kind == "qualified_identifier" and node.text.endswith("nullopt"):
        return []
    if node.kind == "conditional_expression":
        sides = (node.field(name) for name in ("consequence", "alternative"))
        return [side for side in sides if side is not None]
    value = evaluate(flow, node)
    if value.symbolic or value.kind in ("int", "bool", "unknown", "tensor", "other"):
        return []
    if node.kind in ("call_expression", "compound_literal_expression"):
        spelled = node.field("type") or node.field("function")
        arguments = node.field("arguments") or node.field("value")
        built = symbolic_spelling(spelled.text) if spelled is not None else None
        if built is not None and arguments is not None and spelled is not None:
            flow.retype(spelled, built, origins)
            return arguments.children
    if node.kind == "identifier":
        variable = flow.lookup(node.text)
        if variable is not None:
            flow.make_symbolic(variable, origins, node)
            return []
    flow.sink(node, "mixed", f"meets `{node.beginning(60)}`, which stays concrete", Type("ints", origins=origins))
    return []


def same_range(flow: Flow, node: Node, values: list[Type]) -> None:
    """The two ends of a range have one type: a symbolic one cannot end at a concrete one."""
    ends = [value for value in values if value.kind == "iter"]
    if any(end.symbolic for end in ends) and not all(end.symbolic for end in ends):
        flow.sink(node, "mixed", "begins or ends a range whose other end stays concrete", *ends)


def assign(flow: Flow, target: Node, value: Type, node: Node) -> None:
    """`target = value`, for a variable, an element, a member or what lies behind a pointer."""
    if target.kind == "parenthesized_expression" and target.children:
        target = target.children[0]
    slot = saved.saved_slot(flow, target)
    if slot is not None:
        saved.save(flow, slot, value, node)
        return
    if target.kind == "identifier":
        variable = flow.lookup(target.text)
        if variable is not None:
            store(flow, variable, value, node)
            return
    owner = owner_of(flow, target)
    if owner is not None and value.symbolic and value.kind == "int" and owner.type.kind in ("ints", "wrap", "iter"):
        flow.make_symbolic(owner, value.origins or NOTHING, node)
        return
    held = evaluate(flow, target)
    if value.symbolic and held.symbolic:
        fill(flow, target, value.origins)
    right = node.field("right")
    if right is not None and value.kind == held.kind == "ints" and held.symbolic and not value.symbolic:
        coerce(flow, right, held.origins or NOTHING)
    if not value.symbolic or held.symbolic or held.kind in ("tensor", "scalar", "string"):
        return
    if held.kind == "bool" and value.kind == "bool":
        return
    code = "member" if target.kind == "field_expression" else "stored"
    flow.sink(node, code, f"is stored in `{target.beginning(60)}`", value, slot=member_slot(flow, target))


def owner_of(flow: Flow, node: Node) -> Variable | None:
    """The local container an element belongs to: `v` in `v[i]`, `v.end()[-1]`, `v.back()`, `*v.begin()`."""
    while True:
        if node.kind == "identifier":
            variable = flow.lookup(node.text)
            return variable if variable is not None and variable.type.kind in ("ints", "wrap") else None
        inner = node.field("argument")
        if node.kind in ("subscript_expression", "field_expression", "pointer_expression") and inner is not None:
            node = inner
        elif node.kind == "call_expression":
            function = node.field("function")
            if function is None or function.kind != "field_expression":
                return None
            node = function
        elif node.kind == "binary_expression" or (node.kind == "parenthesized_expression" and node.children):
            node = node.children[0]
        else:
            return None


def is_reference(declarator: Node | None) -> bool:
    """Whether what is declared is another name of what it is bound to."""
    return declarator is not None and declarator.kind == "reference_declarator"


def bind(flow: Flow, reference: Variable, target: Node, value: Type) -> None:
    """What a reference to an integer is bound to has its type, and becomes symbolic with it."""
    if not reference.origins or value.symbolic or value.kind not in ("int", "unknown", "other"):
        return
    held = flow.lookup(target.text) if target.kind == "identifier" else owner_of(flow, target)
    if held is not None:
        flow.make_symbolic(held, reference.origins, target)
    else:
        reason = f"is stored in `{reference.name}`, a reference to an integer"
        flow.sink(target, "mixed", reason, reference.value)


def read_as_number(flow: Flow, name: str) -> bool:
    """Whether a method of the variable `name`, a Scalar, is called: `s.toLong()` of one with a symbol asks a guard."""
    accesses = (part.field("argument") for part in flow.root.walk() if part.kind == "field_expression")
    return any(receiver is not None and receiver.text == name for receiver in accesses)


def store(flow: Flow, variable: Variable, value: Type, node: Node) -> None:
    """`variable = value`: the variable becomes symbolic with the value, or the value may not be."""
    if not value.symbolic:
        return
    target = variable.type
    origins = value.origins or NOTHING
    pairs = {
        ("int", "int"),
        ("ints", "ints"),
        ("ints", "braces"),
        ("float", "float"),
        ("float", "int"),
        ("wrap", "wrap"),
    }
    pairs |= {("wrap", "ints"), ("wrap", "int"), ("int", "braces"), ("wrap", "braces"), ("unknown", value.kind)}
    if target.kind == "scalar" and read_as_number(flow, variable.name):
        flow.sink(node, "stored", f"is stored in `{variable.name}`, a Scalar that is asked for a number", value)
    elif target.kind == "bool" and value.kind == "int":
        truth(flow, node, value)
    elif target.kind in ("scalar", "string", "tensor") or value.kind in ("tensor", "list", "bool"):
        return
    elif (target.kind, value.kind) in pairs:
        flow.make_symbolic(variable, origins, node)
    elif not variable.deduced or (target.kind, value.kind) == ("int", "float"):
        flow.sink(node, "stored", f"is stored in `{variable.name}`, a `{target.name or target.kind}`", value)
