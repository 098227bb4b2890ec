"""Operators called through the dispatcher: `findSchemaOrThrow("ns::op", "").typed<…>().call(…)`, of the tree's own.

A typed call gives all SymInts of the schema as SymInts, or all as integers (aten/src/ATen/core/dispatch/Dispatcher.h).
"""

from __future__ import annotations

from transforms.cpp.flow.dispatch import evaluate
from transforms.cpp.flow.engine import NOTHING, Flow, join
from transforms.cpp.flow.state import Handle
from transforms.cpp.flow.storing import coerce
from transforms.cpp.reach.calls import named
from transforms.cpp.reach.operator_schemas import BY_VALUE
from transforms.cpp.reading.facts import Slot
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import UNKNOWN, Type, parse_type, symbolic_spelling

_CALLS = {"call": 0, "redispatch": 1}
"""Methods of a TypedOperatorHandle, with the arguments that stand before those of the operator: a DispatchKeySet."""

_HANDLE = "TypedOperatorHandle"


def method(flow: Flow, node: Node, owner: Type, field: Node, arguments: list[Node]) -> Type | None:
    """A method on the way to such a call, `node`; None for all others."""
    name = field.text.removeprefix("template ").split("<")[0].strip()
    if name == "findSchemaOrThrow" and owner.kind in ("unknown", "other"):
        return _operator(flow, arguments)
    if owner.kind == "operator" and name == "typed":
        return _typed(flow, node, owner, field)
    handle = flow.handles.get(owner.name) if owner.kind == "handle" else None
    if handle is not None and name in _CALLS:
        return _call(flow, node, handle, arguments, _CALLS[name])
    if _HANDLE in owner.name and name in _CALLS:
        for argument in arguments:
            reason = "is an argument of an operator, whose schema is not found"
            flow.sink(argument, "callee-unknown", reason, evaluate(flow, argument))
        return UNKNOWN
    return None


def _operator(flow: Flow, arguments: list[Node]) -> Type | None:
    if len(arguments) != 2 or any(argument.kind != "string_literal" for argument in arguments):
        return None
    name, overload = (argument.text.strip('"') for argument in arguments)
    operator = f"{name}.{overload}" if overload else name
    return Type("operator", operator) if operator in flow.vocabulary.defined else None


def _typed(flow: Flow, node: Node, owner: Type, field: Node) -> Type | None:
    arguments = field.field("arguments")
    descriptor = arguments.children[0] if arguments is not None and len(arguments.children) == 1 else None
    handle = _signature(flow, owner.name, descriptor) if descriptor is not None else None
    if handle is None:
        return None
    key = f"{owner.name} at {node.start} {field.start}"
    flow.handles[key] = handle
    return Type("handle", key)


def _signature(flow: Flow, operator: str, descriptor: Node) -> Handle | None:
    """The signature `Tensor(const Tensor&, int64_t)`, or that of `f` in `decltype(f)`."""
    for part in descriptor.children:
        if part.kind == "decltype" and part.children:
            name = part.children[0].text
            functions = named(flow.vocabulary.functions.get(name.rpartition("::")[2], ()), name, flow.function)
            return Handle(operator, None, functions[0], functions[0].returns) if len(functions) == 1 else None
        if part.kind == "abstract_function_declarator":
            listed = part.field("parameters")
            types = [p.field("type") for p in listed.children] if listed is not None else [None]
            spelled = tuple(kind for kind in types if kind is not None)
            written = descriptor.source[descriptor.start : part.start].decode("utf-8", "replace")
            return Handle(operator, spelled, None, written) if len(spelled) == len(types) else None
    return None


def _call(flow: Flow, node: Node, handle: Handle, arguments: list[Node], ahead: int) -> Type:
    """The call itself: symbolic values go where schema and signature take them, and ask for what does not yet."""
    values = [evaluate(flow, argument) for argument in arguments]
    given = list(zip(arguments, values, strict=True))[ahead:]
    parameters = [_Parameter(flow, handle, index) for index in range(len(given))]
    for parameter, (argument, value) in zip(parameters, given, strict=True):
        if value.symbolic:
            _give(flow, parameter, argument, value)
    origins = join(*(value for _, value in given)).origins if given else None
    if origins is not None or any(parameter.retyped for parameter in parameters):
        for parameter, (argument, value) in zip(parameters, given, strict=True):
            _agree(flow, parameter, argument, value, origins or NOTHING)
    return flow.type_of(handle.returns) if handle.returns else UNKNOWN


class _Parameter:
    """One parameter of a handle's signature, beside the argument of the schema that it is."""

    def __init__(self, flow: Flow, handle: Handle, index: int) -> None:
        definition, function = flow.vocabulary.defined[handle.operator], handle.function
        self.operator = handle.operator
        self.argument = definition.slot(handle.operator, index)
        self.own = Slot(function.path, function.start, index) if function is not None else None
        """That of `f` in `typed<decltype(f)>`."""
        self.in_schema = index in definition.symbolic or flow.asked.is_settled(self.argument)
        self.spelled = handle.spelled[index] if handle.spelled is not None and index < len(handle.spelled) else None
        written = self.spelled.text if self.spelled is not None else ""
        if function is not None and index < len(function.params):
            written = function.params[index].type
        self.written = written
        self.retyped = parse_type(written).symbolic or (self.own is not None and flow.asked.is_settled(self.own))
        """Whether the signature has a SymInt there."""


def _give(flow: Flow, parameter: _Parameter, argument: Node, value: Type) -> None:
    """A symbolic value is given for a parameter."""
    slot: Slot | None = None
    if not parameter.in_schema:
        slot = parameter.argument
    elif parameter.spelled is None and not parameter.retyped:
        slot = parameter.own
    elif parameter.retyped or BY_VALUE.fullmatch(parameter.written):
        flow.uses |= flow.asked.settled_among(filter(None, (parameter.argument, parameter.own)))
        flow.served |= value.origins or NOTHING
        return
    reason = f"is an argument of the operator {parameter.operator}, whose schema or signature has an integer there"
    flow.sink(argument, "callee-takes-int", reason, value, slot=slot)


def _agree(flow: Flow, parameter: _Parameter, argument: Node, value: Type, origins: frozenset[int]) -> None:
    """Where a signature has one SymInt it has all that the schema has, and no other."""
    if parameter.retyped and not parameter.in_schema:
        flow.conflicts |= {slot for slot in (parameter.own,) if slot is not None}
    if not parameter.in_schema:
        return
    if not parameter.retyped:
        twin = symbolic_spelling(parameter.written) if BY_VALUE.fullmatch(parameter.written) else None
        if parameter.spelled is None or twin is None:
            flow.conflicts.add(parameter.argument)
            return
        flow.retype(parameter.spelled, twin, origins)
    if not value.symbolic and value.kind not in ("int", "braces") and not argument.text.endswith("nullopt"):
        coerce(flow, argument, origins)
