"""`ctx->saved_data["name"]`: what an autograd function keeps for its backward, a slot for each name of a class."""

from __future__ import annotations

from transforms.cpp.flow.engine import Flow, result_origin
from transforms.cpp.flow.events import SavedRead
from transforms.cpp.reach.calls import is_autograd_function
from transforms.cpp.reading.facts import Slot
from transforms.cpp.reading.records import is_header
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import INT, UNKNOWN, Type

SAVED = -3
"""The index of such a slot."""
_READS = {
    "toInt": INT,
    "toSymInt": INT,
    "toIntVector": Type("ints", "vector"),
    "toSymIntVector": Type("ints", "vector"),
    "toIntList": Type("ints", "List"),
    "toSymIntList": Type("ints", "List"),
}
"""What IValue's methods return of an integer or a list of them (ATen/core/ivalue.h)."""


def saved_slot(flow: Flow, node: Node) -> Slot | None:
    """The slot that `node`, `ctx->saved_data["name"]`, is in a method of an autograd function; None for all else."""
    context, indices = node.field("argument"), node.field("indices")
    if node.kind != "subscript_expression" or context is None or indices is None or len(indices.children) != 1:
        return None
    key = indices.children[0]
    if not is_autograd_function(flow.function) or key.kind != "string_literal" or is_header(flow.function.path):
        return None
    names = [part.text for part in context.children]  # with white space and comments between them
    if context.kind != "field_expression" or names != [flow.function.params[0].name, "saved_data"]:
        return None
    return Slot(flow.function.path, -1, SAVED, f"{flow.function.parent}::saved_data[{key.text}]")


def is_saved(slot: Slot) -> bool:
    """Whether a slot is what an autograd function saves under a name."""
    return slot.index == SAVED and bool(slot.member)


def save(flow: Flow, slot: Slot, value: Type, node: Node) -> None:
    """`value` is saved in `slot`."""
    if not value.symbolic:
        return
    if value.kind not in ("int", "ints"):
        flow.sink(node, "stored", f"is saved as `{slot.member.rpartition('::')[2]}`, which is no integer", value)
    elif flow.asked.is_settled(slot):
        flow.uses.add(slot)
        flow.filled.add(slot)
    else:
        flow.sink(node, "stored", f"is saved as `{slot.member.rpartition('::')[2]}`", value, slot=slot)


def read(flow: Flow, slot: Slot, method: Node, node: Node) -> Type:
    """`ctx->saved_data["name"].method()`, all of it `node`: symbolic where the slot is settled."""
    name = method.text
    kind = _READS.get(name)
    if kind is None:
        flow.conflicts.add(slot)  # as a bool, an optional, or something else that asks for its value
        return UNKNOWN
    if "Sym" in name:
        return kind.with_origins(())
    if not flow.asked.is_settled(slot):
        return kind
    value = flow.settled_value(slot, kind, result_origin(node.start))
    if value.symbolic:
        symbolic = symbolic_read(name)
        if not flow.available(symbolic):
            flow.sink(node, "not-in-version", f"this version has no `{symbolic}`", value)
        flow.announce(SavedRead(value.origins, method, name))
    return value


def symbolic_read(name: str) -> str:
    """The method of IValue that reads SymInts where `name` reads integers: `toSymInt` for `toInt`."""
    return name.replace("toInt", "toSymInt")


def escapes(flow: Flow, node: Node) -> None:
    """`node` is saved data that goes elsewhere as a whole: it is not seen what is asked of it there."""
    slot = saved_slot(flow, node)
    if slot is not None:
        flow.conflicts.add(slot)
