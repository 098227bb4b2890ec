"""Sequences of integers: their constructors and methods, once their elements are SymInts."""

from __future__ import annotations

from transforms.cpp.flow.dispatch import EXPRESSIONS, evaluate
from transforms.cpp.flow.engine import NOTHING, Flow, join
from transforms.cpp.flow.members import built_whole, fill, member_slot
from transforms.cpp.flow.storing import coerce, owner_of, read_as_number, same_range
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import BOOL, SIZE_T, UNKNOWN, Type

_ELEMENTS = frozenset({"front", "back", "at"})
_LIST_ELEMENTS = frozenset({"get", "extract"})  # of c10::List (ATen/core/List.h)
_ITERATORS = frozenset({"begin", "end", "cbegin", "cend", "rbegin", "rend", "data", "crbegin", "crend"})
_STORING = frozenset({"push_back", "emplace_back", "insert", "emplace", "assign", "resize", "append"})


def construct(
    flow: Flow, node: Node, kind: Type, arguments: list[Node], *, braces: bool, origins: frozenset[int] | None = None
) -> Type:
    """The value of `T(arguments)` or `T{arguments}`; symbolic where an element, a source range or a fill value is.

    `origins` are those of what it initialises: a sequence that is copied has to agree with it.
    """
    values = [evaluate(flow, argument) for argument in arguments]
    value = _constructed(flow, node, kind, arguments, list(values), braces)
    if kind.kind == "ints" and (origins or value.origins):
        _agree(flow, arguments, values, (origins or NOTHING) | (value.origins or NOTHING))
    return value


def _agree(flow: Flow, arguments: list[Node], values: list[Type], origins: frozenset[int]) -> None:
    for argument, held in zip(arguments, values, strict=True):
        if held.kind == "ints" and not held.symbolic:
            coerce(flow, argument, origins)


def _constructed(flow: Flow, node: Node, kind: Type, arguments: list[Node], values: list[Type], braces: bool) -> Type:
    if kind.kind == "ints":
        sized = not braces and kind.name not in ("IntArrayRef", "ArrayRef", "IntList", "SymIntArrayRef")
        if sized and values and values[0].kind == "int":
            flow.sink(arguments[0], "container-size", "is the size of a container", values[0])
            values[0] = UNKNOWN
        elif not braces and len(values) == 2 and values[0].kind != "int" and values[1].kind == "int":
            flow.sink(arguments[1], "container-size", "is the length of an array", values[1])
            values[1] = UNKNOWN
        same_range(flow, node, values)
        origins = join(*values).origins if values else None
        return kind.with_origins(origins if origins is not None else kind.origins)
    if kind.kind == "int" and len(values) == 1:
        return kind.with_origins(values[0].origins)
    if kind.kind == "wrap" and values:
        return kind.with_origins(join(*values).origins)
    if kind.kind == "scalar":
        outer = node.parent
        named = outer.field("declarator") if outer is not None and outer.kind == "init_declarator" else None
        if (outer is not None and outer.kind == "field_expression") or (named and read_as_number(flow, named.text)):
            flow.sink(node, "stored", "is in a Scalar that is asked for a number", *values)
        return kind
    if arguments:
        built_whole(flow, kind)
    for argument, value in zip(arguments, values, strict=True):
        if value.kind not in ("tensor", "list", "bool"):
            flow.sink(argument, "stored", f"initialises a `{kind.name or kind.kind}`", value)
    return kind


def construct_typed(flow: Flow, node: Node, spelled: Node, arguments: list[Node], *, braces: bool) -> Type:
    """`IntArrayRef(x.sizes())`: the written type follows its elements."""
    kind = flow.type_of(spelled.text)
    values = [evaluate(flow, argument) for argument in arguments]
    value = _constructed(flow, node, kind, arguments, list(values), braces)
    if value.symbolic and not kind.symbolic and kind.kind in ("ints", "wrap"):
        new = flow.symbolic_spelling(spelled.text)
        if new is None:
            flow.sink(node, "stored", f"initialises a `{spelled.text}`", value)
        else:
            flow.retype(spelled, new, value.origins)
            _agree(flow, arguments, values, value.origins or NOTHING)
    return value


def method(flow: Flow, node: Node, receiver: Node, owner: Type, name: str, arguments: list[Node]) -> Type:
    """A method of a sequence of integers."""
    values = [evaluate(flow, argument) for argument in arguments]
    if name in _STORING:
        return _store_elements(flow, node, receiver, owner, name, arguments, values)
    for argument, value in zip(arguments, values, strict=True):
        if name not in ("equals", "swap") and value.kind == "int":
            flow.sink(argument, "subscript", f"is an argument of `{name}`", value)
    if name in _ELEMENTS or (owner.name == "List" and name in _LIST_ELEMENTS):
        return Type("int", "int64_t", origins=owner.origins)
    if name in _ITERATORS:
        return Type("iter", args=(owner.with_origins(None),), origins=owner.origins)
    if name in ("slice", "drop_front", "drop_back", "take_front"):
        return Type("ints", "IntArrayRef", origins=owner.origins)
    if name == "vec":
        return Type("ints", "vector", origins=owner.origins)
    if name in ("equals", "swap"):
        if values and values[0].symbolic != owner.symbolic:
            coerce(flow, arguments[0] if owner.symbolic else receiver, join(owner, *values).origins or NOTHING)
        return BOOL if name == "equals" else Type("void")
    if name == "empty":
        return BOOL
    return SIZE_T if name in ("size", "capacity", "max_size") else UNKNOWN


def _store_elements(
    flow: Flow, node: Node, receiver: Node, owner: Type, name: str, arguments: list[Node], values: list[Type]
) -> Type:
    stored = list(zip(arguments, values, strict=True))
    if name in ("insert", "emplace") and stored:
        stored = stored[1:]  # where, not what
        if len(stored) == 2 and stored[0][1].kind == "int":
            flow.sink(stored[0][0], "container-size", "is a count of elements", stored[0][1])
            stored = stored[1:]
    elif name in ("resize", "assign") and stored and stored[0][1].kind == "int":
        flow.sink(stored[0][0], "container-size", "is the size of a container", stored[0][1])
        stored = stored[1:]
    same_range(flow, node, [value for _, value in stored])
    origins = join(*(value for _, value in stored)).origins if stored else None
    if origins is not None and owner.symbolic:
        fill(flow, receiver, origins)
    if origins is not None and not owner.symbolic:
        variable = owner_of(flow, receiver)
        if variable is not None:
            flow.make_symbolic(variable, origins, node)
        else:
            reason = f"is added to `{receiver.beginning(40)}`, which stays concrete"
            flow.sink(node, "stored", reason, *values, slot=member_slot(flow, receiver))
    return Type("iter", origins=owner.origins)


def deduced_list(flow: Flow, node: Node) -> None:
    """A list of which C++ has to deduce the type of its elements: all of them have to have one."""
    values = [evaluate(flow, child) for child in node.children]
    if any(value.symbolic for value in values) and not all(value.symbolic for value in values):
        flow.sink(node, "mixed", "stands beside integers in a list whose type is deduced", *values)


def _compound_literal(flow: Flow, node: Node) -> Type:
    spelled, value = node.field("type"), node.field("value")
    if spelled is None or value is None:
        return UNKNOWN
    if not spelled.text:
        return evaluate(flow, value)
    return construct_typed(flow, node, spelled, list(value.children), braces=True)


EXPRESSIONS["compound_literal_expression"] = _compound_literal
