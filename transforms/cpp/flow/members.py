"""Data members of the structs of one source file: slots that become symbolic with what is stored in them."""

from __future__ import annotations

import re

from transforms.cpp.flow.dispatch import evaluate
from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.numbers import constant
from transforms.cpp.reading.facts import Slot
from transforms.cpp.reading.records import is_header
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import UNKNOWN, Type

MEMBER = -2
"""The index of a slot that is a data member."""
_MEMBERS = -1_000_000_000_000
_KINDS = ("int", "ints", "wrap")


def member_origin(start: int) -> int:
    """The origin of a settled member's value, named at byte `start`."""
    return _MEMBERS - start


def behind(kind: Type, arrow: bool) -> Type:
    """What a member access sees: `->` looks through optionals, pointers and MaybeOwned."""
    if kind.kind == "wrap" and (arrow or kind.name == "reference_wrapper"):
        inner = kind.args[0]
        return inner.with_origins(kind.origins) if kind.symbolic and inner.kind in ("int", "ints") else inner
    return UNKNOWN if kind.kind == "wrap" and not arrow else kind


def member(flow: Flow, node: Node, value: Type) -> Type:
    """The member that `node`, `a.b` or `a->b`, names of `value`."""
    name = node.field("field")
    if name is None:
        return UNKNOWN
    owner = behind(value, node.token == "->")
    if owner.kind == "tuple" and name.text in ("first", "second") and len(owner.args) == 2:
        return owner.args[name.text == "second"]
    parent = _class(owner)
    if owner.kind == "unknown" or flow.is_template_parameter(owner):
        flow.conflicts |= {slot for slot in _settled(flow) if slot.member.endswith(f"::{name.text}")}
    return _held(flow, parent, name)


def qualified(flow: Flow, node: Node) -> Type:
    """The type of a number that is named `Class::kBlock` or `space::kBlock`; unknown where it is none."""
    scope, _, name = node.packed.rpartition("::")
    parent = scope.rpartition("::")[2]
    spelled = flow.vocabulary.members.get((parent, name))
    if spelled is None:
        return constant(node.source, name)
    flow.conflicts |= flow.asked.settled_among([_slot(flow, parent, name)])  # `&Class::member`, a pointer of its type
    kind = flow.type_of(spelled)
    return kind if kind.kind in ("int", "float", "bool") and not kind.symbolic else UNKNOWN


def taken_apart(flow: Flow, kind: Type) -> None:
    """A struct is bound to names for its members, which are not followed: the members keep their types."""
    parent = _class(kind)
    flow.conflicts |= {slot for slot in _settled(flow) if parent and slot.member.startswith(f"{parent}::")}


def own_member(flow: Flow, node: Node) -> Type:
    """The member that a method of its class calls by its name alone, `node`; unknown where it has none of that name."""
    return _held(flow, flow.function.parent, node)


def _held(flow: Flow, parent: str, name: Node) -> Type:
    """What the member of the class `parent` that `name` names holds; unknown where it has none of that name."""
    spelled = flow.vocabulary.members.get((parent, name.text))
    kind = flow.type_of(spelled) if spelled is not None else UNKNOWN
    slot = _slot(flow, parent, name.text)
    return flow.settled_value(slot, kind, member_origin(name.start)) if flow.asked.is_settled(slot) else kind


def member_slot(flow: Flow, node: Node) -> Slot | None:
    """The member that an element belongs to, as in `a.b[i]`, `a.b.back()`, `*a.b.begin()`, where it may be changed."""
    while True:
        if node.kind == "identifier":
            if flow.lookup(node.text) is not None or own_member(flow, node).kind not in _KINDS:
                return None
            return None if is_header(flow.function.path) else _slot(flow, flow.function.parent, node.text)
        inner = node.field("argument")
        if node.kind == "call_expression":
            function = node.field("function")
            inner = function.field("argument") if function is not None and function.kind == "field_expression" else None
        elif node.kind == "field_expression" and inner is not None:
            name, owner = node.field("field"), behind(evaluate(flow, inner), node.token == "->")
            parent = _class(owner)
            spelled = flow.vocabulary.members.get((parent, name.text)) if name is not None else None
            if name is None or spelled is None or flow.type_of(spelled).kind not in _KINDS:
                return None
            return None if is_header(flow.function.path) else _slot(flow, parent, name.text)
        elif node.kind not in ("subscript_expression", "pointer_expression"):
            return None
        if inner is None:
            return None
        node = inner


def fill(flow: Flow, node: Node, origins: frozenset[int] | None) -> None:
    """Values that are symbolic because of `origins` go into what `node` names: note where that is a settled member.

    What comes of the member itself does not fill it.
    """
    slot = member_slot(flow, node) if origins else None
    if slot is None or not flow.asked.is_settled(slot):
        return
    name = re.compile(re.escape(slot.member.rpartition("::")[2].encode()) + rb"\b")
    starts = (_MEMBERS - origin for origin in origins or ())
    if any(start < 0 or not name.match(node.source, start) for start in starts):
        flow.filled.add(slot)


def built_whole(flow: Flow, kind: Type) -> None:
    """A struct is given its members in one list: the values have their types, so the members keep theirs."""
    parent = _class(kind)
    if any(constructor.parent == parent for constructor in flow.vocabulary.functions.get(parent, ())):
        return  # the constructor is read for itself
    flow.conflicts |= {slot for slot in _settled(flow) if parent and slot.member.startswith(f"{parent}::")}


def _class(owner: Type) -> str:
    return owner.name.split("<")[0].split("::")[-1] if owner.kind == "other" else ""


def _slot(flow: Flow, parent: str, name: str) -> Slot:
    return Slot(flow.function.path, -1, MEMBER, f"{parent}::{name}")


def _settled(flow: Flow) -> list[Slot]:
    return [slot for slot in flow.asked.settled_members(flow.function.path) if slot.index == MEMBER]
