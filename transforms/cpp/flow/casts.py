"""Casts of symbolic values, in all three spellings: `(T)x`, `T(x)`, `static_cast<T>(x)`."""

from __future__ import annotations

from transforms.cpp.flow.dispatch import EXPRESSIONS, evaluate
from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.events import FloatCast, IntCast
from transforms.cpp.flow.numbers import UNSURE
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import FLOAT, INT, UNKNOWN, Type, symbolic_spelling


def convert(flow: Flow, node: Node, spelled: Node, value_node: Node, kind: Type, value: Type) -> Type:
    """A cast, in any of its three spellings."""
    if not value.symbolic:
        return kind if kind.kind != "unknown" else value
    if kind.kind == "float" and kind.name != "float" and value.kind in ("int", "float"):
        flow.announce(FloatCast(value.origins, spelled))
        return FLOAT.with_origins(value.origins)
    if kind.kind == "int" and value.kind == "int" and value.name == UNSURE:
        flow.sink(node, "cast", f"is cast to `{spelled.text}`, behind a number that may have a fraction", value)
        return kind
    if kind.kind == "int" and value.kind == "int" and kind.name in ("int64_t", "long", "SymInt"):
        if not kind.symbolic:
            flow.announce(IntCast(value.origins, node, value_node))
        return INT.with_origins(value.origins)
    if kind.kind == "bool" and value.kind == "int":
        flow.sink(node, "cast", "is cast to bool", value)
    elif kind.kind in ("void", "scalar", "tensor"):
        return kind
    else:
        code = "size_t" if kind.kind == "int" and symbolic_spelling(kind.name) is None else "cast"
        flow.sink(node, code, f"is cast to `{spelled.text}`", value)
    return kind


def _cast(flow: Flow, node: Node) -> Type:
    """`(T)x`."""
    spelled, value = node.field("type"), node.field("value")
    if spelled is None or value is None:
        return UNKNOWN
    return convert(flow, node, spelled, value, flow.type_of(spelled.text), evaluate(flow, value))


EXPRESSIONS["cast_expression"] = _cast
