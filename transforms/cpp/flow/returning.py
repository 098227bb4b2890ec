"""What a function returns, a tuple part by part: results that stay as they are, and those settled to be symbolic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transforms.cpp.flow.dispatch import evaluate
from transforms.cpp.flow.engine import OWN_RESULT, Flow, own_result_origin, part_origin
from transforms.cpp.flow.members import built_whole
from transforms.cpp.flow.storing import coerce
from transforms.cpp.flow.truth import truth
from transforms.cpp.reading.facts import PART, Slot
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import Type, returns_symbols, symbolic_spelling


def returned(flow: Flow, node: Node, expression: Node | None, value: Type) -> None:
    """`return expression`, a statement of the function itself."""
    if expression is not None and not value.symbolic and value.kind == "ints" and flow.asked.is_settled(flow.slot(-1)):
        coerce(flow, expression, frozenset({OWN_RESULT}))
    declared = flow.type_of(flow.function.returns)
    if expression is not None and expression.kind == "initializer_list" and expression.children:
        built_whole(flow, declared)
    if declared.kind == "tuple" and expression is not None:
        _return_parts(flow, node, expression, declared, value)
        return
    if expression is None or not value.symbolic or value.kind in ("tensor", "list"):
        return
    if value.origins:
        flow.gives.add(-1)
    if declared.symbolic or not flow.function.returns or flow.asked.is_settled(flow.slot(-1)):
        return
    if declared.kind == "bool" and value.kind == "int":
        truth(flow, expression, value)
    elif declared.kind in ("tensor", "scalar", "list") or value.kind == "bool":
        return
    elif symbolic_spelling(flow.function.returns) is None:
        flow.sink(node, "return-type", f"is returned as `{flow.function.returns}`", value)
    else:
        slot = flow.slot(-1) if declared.kind in ("int", "ints") else None
        flow.sink(node, "return-type", f"is returned as `{flow.function.returns}`", value, slot=slot)


def _return_parts(flow: Flow, node: Node, expression: Node, declared: Type, value: Type) -> None:
    """A tuple is returned: each part that is settled takes a symbolic value, the others none."""
    reason = f"is returned in a `{flow.function.returns}`"
    arguments: Sequence[Node] = ()
    if expression.kind == "initializer_list" and len(expression.children) == len(declared.args):
        arguments = expression.children
        value = Type("tuple", args=tuple(evaluate(flow, part) for part in arguments), origins=value.origins)
    elif expression.kind == "call_expression" and _builds(expression):
        arguments = expression.fields["arguments"].children
    if value.kind != "tuple" or len(declared.args) != len(value.args):
        settled = flow.asked.settled_among(map(flow.slot, _indexes(declared)))
        origins = frozenset(own_result_origin(slot.index) for slot in settled)
        flow.sink(node, "return-type", reason, value, Type("ints", origins=origins))
        return
    for index, want, have in zip(_indexes(declared), declared.args, value.args, strict=True):
        slot = flow.slot(index)
        if not flow.asked.is_settled(slot):
            if not want.symbolic and want.kind in ("int", "ints"):
                flow.sink(node, "return-type", reason, have, slot=slot if want.kind == have.kind else None)
            elif not want.symbolic:
                flow.sink(node, "return-type", reason, have)
        elif have.symbolic:
            if have.origins:
                flow.gives.add(index)
        elif have.kind != "int":
            origins = frozenset({own_result_origin(index)})
            if have.kind == "ints" and len(arguments) == len(declared.args):
                coerce(flow, arguments[PART - index], origins)
            else:
                flow.sink(node, "return-type", reason, Type("ints", origins=origins))


def _indexes(declared: Type) -> range:
    """The indexes of the slots of a tuple's parts."""
    return range(PART, PART - len(declared.args), -1)


def _builds(call: Node) -> bool:
    """Whether a call makes a tuple of its arguments, whose types it deduces."""
    function = call.field("function")
    return function is not None and function.text in ("std::make_tuple", "std::make_pair", "make_tuple", "make_pair")


def settled_parts(flow: Flow, node: Node, result: Slot, kind: Type, origins: frozenset[int] | None) -> Type:
    """The tuple `kind` that a helper returns, `result` its slot, with the parts symbolic that are settled to be.

    A part that is symbolic as declared has `origins`.
    """
    if origins and returns_symbols(kind):
        parts = tuple(part.with_origins(origins) if part.symbolic else part for part in kind.args)
        return replace(kind, args=parts, origins=origins)
    slots = [replace(result, index=index) for index in _indexes(kind)]
    parts = tuple(
        flow.settled_value(slot, part, part_origin(node.start, slot.index)) if flow.asked.is_settled(slot) else part
        for slot, part in zip(slots, kind.args, strict=True)
    )
    own = [part.origins for part in parts if part.origins]
    return replace(kind, args=parts, origins=frozenset().union(*own)) if own else kind


def tuple_argument(flow: Flow, name: str, arguments: Sequence[Node], values: Sequence[Type]) -> None:
    """A tuple with a symbolic part is no argument of a function that is called by name."""
    for argument, value in zip(arguments, values, strict=True):
        if value.kind == "tuple" and value.symbolic:
            flow.sink(argument, "callee-unknown", f"is in a tuple, an argument of `{name[:60]}`", value)
