"""Calls of ATen operators and of functions defined in the tree; those of the standard library are in `standard`."""

from __future__ import annotations

import re

from transforms.cpp.flow.brought import reachable
from transforms.cpp.flow.dispatch import evaluate
from transforms.cpp.flow.engine import NOTHING, RENAMED, Flow, join, result_origin
from transforms.cpp.flow.events import CalleeName, SequenceArgument
from transforms.cpp.flow.members import built_whole
from transforms.cpp.flow.operators import Resolved, parameters_of, resolve
from transforms.cpp.flow.overloads import is_among, meant
from transforms.cpp.flow.returning import settled_parts, tuple_argument
from transforms.cpp.flow.storing import coerce
from transforms.cpp.flow.twins import asking_twin, note_use, twins
from transforms.cpp.reach.alternatives import are_alternatives
from transforms.cpp.reach.calls import encloses, is_autograd_function, is_kernel, space
from transforms.cpp.reach.kept import is_rival
from transforms.cpp.reach.vocabulary import base_name, symbolic_twins, symint_name
from transforms.cpp.reading.facts import Function, Param, Slot
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import UNKNOWN, Type, is_written, parse_type, symbolic_spelling

_ITERATOR = re.compile(r"\bTensorIterator(?:Base)?\b")
_ARRAY_REFS = ("IntArrayRef", "IntList", "ArrayRef", "SymIntArrayRef")
"""Sequences that a single element converts to (c10/util/ArrayRef.h)."""
_TAKES = {("int", "int"), ("ints", "ints"), ("ints", "braces"), ("wrap", "wrap"), ("wrap", "ints"), ("wrap", "int")}
"""Kinds of symbolic parameters, with those of symbolic values that they take."""
_OF_ARGUMENTS = frozenset({"at", "c10", "torch"})
"""Namespaces of the arguments' types, where a name alone finds functions as well."""
SCALARS = ("int", "ints", "wrap", "float", "iter", "braces")


def call(
    flow: Flow, node: Node, function: Node, name: str, arguments: list[Node], values: list[Type] | None = None
) -> Type:
    """`f(…)`, `at::f(…)`, `at::native::f(…)`; `values` are those of its arguments, where they are known."""
    if values is None:
        values = [evaluate(flow, argument) for argument in arguments]
    tuple_argument(flow, name, arguments, values)
    namespace, _, bare = name.rpartition("::")
    if bare == "apply" and (forward := _forward(flow, namespace, len(arguments))):
        note_kernel(flow, node, name, forward)
        return _function(flow, node, function, bare, forward, [function, *arguments], [UNKNOWN, *values])
    candidates = _candidates(flow, bare, namespace, len(arguments))
    note_kernel(flow, node, bare, candidates)
    if namespace in ("at", "torch", "at::symint") or not (candidates or namespace == "std"):
        operator = resolve(flow.vocabulary, bare, values, method=False)
        if operator is not None:
            _note_tensors(flow, bare, arguments, values)
            target = name_node(function)
            return apply(flow, node, target, operator, arguments, values)
    if candidates:
        return _function(flow, node, function, bare, candidates, arguments, values)
    constructed = parse_type(name)
    if constructed.kind not in ("other", "unknown"):
        return constructed
    for argument, value in zip(arguments, values, strict=True):
        if value.kind in SCALARS:
            flow.sink(
                argument, "callee-unknown", f"is an argument of `{name[:60]}`, whose definition is not known", value
            )
    return UNKNOWN


def _note_tensors(flow: Flow, name: str, arguments: list[Node], values: list[Type]) -> None:
    """A parameter `T& x` is a Tensor where all overloads of an operator take one in its place."""
    schemas = flow.vocabulary.schemas.get(name, ())
    for index, (argument, value) in enumerate(zip(arguments, values, strict=True)):
        variable = flow.lookup(argument.text) if value.kind == "other" and argument.kind == "identifier" else None
        if variable is None or variable.parameter < 0 or not flow.is_template_parameter(value):
            continue
        taken = [parameters_of(schema, method=False, out="") for schema in schemas if not schema.outputs]
        if taken and all(index < len(types) and types[index][0] == "Tensor" for types in taken):
            flow.changed |= variable.declarator.start not in flow.tensors
            flow.tensors.add(variable.declarator.start)


def note_kernel(flow: Flow, node: Node, name: str, candidates: list[Function]) -> None:
    """A call that runs a kernel, without the dispatcher in between: no symbolic tensor comes back from it."""
    bodies = [function for function in candidates if function.body >= 0]
    stub = name.endswith("_stub") and not candidates  # a DispatchStub (aten/src/ATen/native/DispatchStub.h)
    if stub or (bodies and all(map(is_kernel, bodies))):
        flow.kernels[node.start] = f"the kernel `{name}`"
    elif bodies and all(map(flow.asked.is_dead_end, bodies)):
        if not any(flow.vocabulary.functions.get(twin) for twin in symbolic_twins(name)):
            flow.dead_ends[node.start] = f"`{name}`"
    elif candidates and all(_ITERATOR.search(function.returns) for function in candidates):
        flow.kernels[node.start] = "a TensorIterator"


def apply(
    flow: Flow, node: Node, name_node: Node, operator: Resolved, arguments: list[Node], values: list[Type]
) -> Type:
    """The call of an operator: give it its `_symint` name, make its sequences agree, or let the value sink here."""
    if operator.refused >= 0:
        flow.sink(
            arguments[operator.refused],
            "callee-takes-int",
            f"is an argument of an operator: {operator.refusal}",
            values[operator.refused],
        )
        return operator.result
    origins = join(*values).origins if values else None
    name = name_node.text.split("<")[0]
    base = base_name(name)[0]
    if base in flow.vocabulary.unserved:
        flow.kernels[node.start] = f"`{name}` (kernels for backends alone)"
    elif flow.asked.is_dead_operator(base):
        flow.dead_ends[node.start] = f"`{name}`"
    if operator.name != name and operator.parameters:
        flow.announce(CalleeName(origins, name_node, name, reachable(flow, name_node, name, operator.name)))
    if origins and (operator.name != name or "_symint" in name):
        for argument, value, schema_type in zip(arguments, values, operator.parameters, strict=False):
            if schema_type.startswith("SymInt[") and not value.symbolic and value.kind in ("ints", "wrap"):
                _agree(flow, argument, value, origins)
    return operator.result


def _agree(flow: Flow, argument: Node, value: Type, origins: frozenset[int]) -> None:
    """A concrete sequence among symbolic ones: made symbolic at its source where that is ours, else copied."""
    variable = flow.lookup(argument.text) if argument.kind == "identifier" else None
    fixed = variable is None or variable.parameter >= 0 or variable.deduced
    if value.kind == "ints" and fixed and argument.kind != "call_expression" and flow.available("fromIntArrayRefSlow"):
        flow.announce(SequenceArgument(origins, argument))
        return
    coerce(flow, argument, origins)


def name_node(function: Node) -> Node:
    last = function
    for part in function.walk():
        if part.kind in ("identifier", "field_identifier"):
            last = part
            if part.parent is not None and part.parent.kind in ("template_function", "template_method"):
                break
    return last


def _candidates(flow: Flow, bare: str, namespace: str, count: int) -> list[Function]:
    overloads = [f for f in flow.vocabulary.functions.get(bare, ()) if fits(f, count) and not f.structured]
    if not namespace:
        own = flow.function.parent
        overloads = [f for f in overloads if not f.parent or f.parent == own]
        if any(encloses(f, flow.function) for f in overloads):
            overloads = [f for f in overloads if encloses(f, flow.function) or space(f) in _OF_ARGUMENTS]
    elif namespace not in ("at", "torch", "c10"):
        last = namespace.split("::")[-1]
        exact = [f for f in overloads if f.qualified.endswith(f"{last}::{bare}")]
        overloads = exact if exact or last == "std" else overloads  # a prefix may be an alias, but not that one
    else:
        overloads = [f for f in overloads if not f.parent and "native::" not in f.qualified]
        if namespace == "c10":  # at takes c10's names in, c10 none of at's
            overloads = [f for f in overloads if f.qualified.startswith("c10::")] or overloads
    near = [f for f in overloads if f.path == flow.function.path]
    return near + [f for f in overloads if f.path != flow.function.path]


def _forward(flow: Flow, parent: str, arguments: int) -> list[Function]:
    """What `Class::apply(…)` runs of an autograd function of the tree; its context comes before the arguments."""
    name = parent.rpartition("::")[2]
    forwards = (f for f in flow.vocabulary.functions.get("forward", ()) if f.parent == name)
    fitting = [f for f in forwards if is_autograd_function(f, "forward") and len(f.params) == arguments + 1]
    return [f for f in fitting if f.path == flow.function.path] or fitting


def fits(function: Function, count: int) -> bool:
    if any("..." in p.type for p in function.params):
        return count >= len(function.params) - 1
    required = sum(1 for p in function.params if not p.default)
    return required <= count <= len(function.params)


def accepts(flow: Flow, function: Function, index: int, value: Type) -> str:
    """ "ok" where parameter `index` takes the symbolic value, "want" where it would after a change, "" never."""
    if index >= len(function.params) or flow.asked.is_settled(Slot(function.path, function.start, index)):
        return "ok"
    spelled = function.params[index].type
    kind = parse_type(spelled)
    if kind.kind == "other" and kind.name in flow.vocabulary.aliases:
        kind = parse_type(flow.vocabulary.aliases[kind.name])
    if kind.symbolic:
        is_element = kind.name in _ARRAY_REFS and value.kind == "int"
        return "ok" if (kind.kind, value.kind) in _TAKES or is_element or kind.kind == "float" else ""
    if kind.kind in ("scalar", "string") and value.kind in ("int", "float"):
        return "ok" if kind.kind == "scalar" else ""
    if function.template and kind.kind in ("unknown", "other"):
        return "ok" if value.kind in ("int", "ints", "iter") else ""
    if (kind.kind == value.kind or (kind.kind == "ints" and value.kind == "braces")) and symbolic_spelling(spelled):
        return "want"
    if kind.kind == "wrap" and value.kind in ("int", "ints", "wrap") and symbolic_spelling(spelled):
        return "want"
    if kind.name in _ARRAY_REFS and value.kind == "int" and symbolic_spelling(spelled):
        return "want"
    return ""


def signed_parameter(flow: Flow, name: str, arguments: Node, argument: Node) -> bool:
    """Whether the helper `name` takes a signed integer where `argument` stands, in every overload."""
    index = arguments.children.index(argument)
    overloads = [f for f in flow.vocabulary.functions.get(name, ()) if index < len(f.params)]
    return bool(overloads) and all(f.params[index].type in ("int64_t", "int", "const int64_t") for f in overloads)


def _function(
    flow: Flow,
    node: Node,
    function: Node,
    bare: str,
    candidates: list[Function],
    arguments: list[Node],
    values: list[Type],
) -> Type:
    symbolic = [(index, value) for index, value in enumerate(values) if value.symbolic and value.kind in SCALARS]
    if not symbolic:
        best = _best(candidates, values)
        origin = result_origin(node.start)
        asking = asking_twin(flow, best, values)
        if asking is not None and origin not in flow.concrete:
            return _call_twin(flow, node, function, bare, asking, frozenset({origin}))
        _serve(flow, function, best, arguments, values)
        return _result(flow, node, best)
    before = meant(flow, candidates, values)
    for candidate in candidates:
        if not is_among(flow, candidate, before, len(values)):
            continue
        if all(accepts(flow, candidate, index, value) == "ok" for index, value in symbolic):
            if candidate.template and not _instantiates(flow, function, bare, candidate, values):
                continue
            _serve(flow, function, candidate, arguments, values)
            match_sequences(flow, candidate, arguments, values)
            result = _result(flow, node, candidate, join(*(value for _, value in symbolic)).origins)
            if candidate.template and result.kind == "int":
                numbers = (a for a, v in zip(arguments, values, strict=True) if v.kind in ("int", "bool"))
                flow.divide(node, "", tuple(numbers), result)
            return result
    for twin in twins(flow, bare, before):
        if len(before) < len(candidates) and not is_among(flow, twin, before, len(values)):
            continue
        if fits(twin, len(arguments)) and all(accepts(flow, twin, i, v) == "ok" for i, v in symbolic):
            match_sequences(flow, twin, arguments, values)
            return _call_twin(flow, node, function, bare, twin, join(*values).origins)
    return _ask(flow, node, bare, _best(before, values), symbolic, arguments)


def _instantiates(flow: Flow, written: Node, name: str, template: Function, values: list[Type]) -> bool:
    """Whether a template can be called with values of which some are symbolic, and does the same with those."""
    if any(_sequence(value) and not value.symbolic for value in values):
        return False  # one template parameter may have to fit both
    # What a pack takes is of its last parameter, `A... a`.
    params = [*template.params, *template.params[-1:] * (len(values) - len(template.params))]
    deduced = {index: _bare(param.type) for index, param in enumerate(params) if _is_deduced(flow, param)}
    given = [index for index, value in enumerate(values) if value.origins and index in deduced]
    if not given:
        return True
    others = [f for f in flow.vocabulary.functions.get(name, ()) if fits(f, len(values))]
    types = {deduced[index] for index in given}
    return (
        "generic" in template.features
        and "<" not in written.text
        and all(value.symbolic for index, value in enumerate(values) if deduced.get(index) in types)
        and not any(is_rival(template, other, index) for other in others for index in given)
    )


def _is_deduced(flow: Flow, param: Param) -> bool:
    return flow.type_of(param.type).kind in ("unknown", "other")


def _bare(spelled: str) -> str:
    return " ".join(spelled.replace("&", " ").replace("const ", " ").split())


def _call_twin(
    flow: Flow, node: Node, written: Node, name: str, twin: Function, origins: frozenset[int] | None
) -> Type:
    """Have the twin of the helper `name` called in its place."""
    called = name_node(written)
    new = twin.name if encloses(twin, flow.function) else reachable(flow, called, name, twin.name)
    flow.announce(CalleeName(origins, called, name, new))
    note_use(flow, twin)
    return _result(flow, node, twin, origins)


def _sequence(value: Type) -> bool:
    return value.kind == "ints" or (value.kind == "wrap" and value.args[0].kind in ("ints", "int"))


def match_sequences(flow: Flow, function: Function, arguments: list[Node], values: list[Type]) -> None:
    """Make sequences of integers that stand beside symbolic ones symbolic too, where the function takes them so."""
    origins = join(*values).origins or NOTHING
    for parameter, argument, value in zip(function.params, arguments, values, strict=False):
        if parse_type(parameter.type).symbolic and value.kind == "ints" and not value.symbolic:
            coerce(flow, argument, origins)


def _best(candidates: list[Function], values: list[Type]) -> Function:
    def score(function: Function) -> int:
        kinds = [parse_type(parameter.type) for parameter in function.params]
        same = sum(
            2 * (k.kind == v.kind) - (k.symbolic and not v.symbolic) for k, v in zip(kinds, values, strict=False)
        )
        return same * 2 + (function.body >= 0)

    return max(candidates, key=score)


def _ask(
    flow: Flow, node: Node, bare: str, function: Function, symbolic: list[tuple[int, Type]], arguments: list[Node]
) -> Type:
    """No overload takes the value: it stops here, unless the helper's signature changes."""
    accepted = {index: accepts(flow, function, index, value) for index, value in symbolic}
    asked = [Slot(function.path, function.start, index) for index, answer in accepted.items() if answer == "want"]
    others = (f for f in flow.vocabulary.functions.get(function.name, ()) if are_alternatives(function, f))
    again = "".join(f", as at {other.path}:{other.line}" for other in others)
    for index, value in symbolic:
        slot = Slot(function.path, function.start, index) if accepted[index] == "want" else None
        if accepted[index] == "ok" and asked and "" not in accepted.values():
            slot = asked[0]  # it is only for the others that this one stops here
        text = function.params[index].type if index < len(function.params) else "…"
        reason = f"is an argument of `{bare}`, which takes `{text}` there{again}"
        flow.sink(arguments[index], "callee-takes-int", reason, value, slot=slot)
    return _result(flow, node, function, join(*(value for _, value in symbolic)).origins)


def _serve(flow: Flow, written: Node, function: Function, arguments: list[Node], values: list[Type]) -> None:
    """Check that a call can give every settled parameter what it now takes; follow a kernel's new name."""
    if flow.asked.is_renamed(function):
        name = symint_name(function.name)
        flow.announce(CalleeName(frozenset({RENAMED}), name_node(written), function.name, name))
        flow.uses |= flow.asked.settled_of(function)
    for index, (argument, value) in enumerate(zip(arguments, values, strict=False)):
        slot = Slot(function.path, function.start, index)
        if argument.kind == "initializer_list" and argument.children and index < len(function.params):
            built_whole(flow, flow.type_of(function.params[index].type))
        if not flow.asked.is_settled(slot):
            continue
        if is_written(function.params[index].type):
            _serve_reference(flow, slot, argument, value)
        elif value.symbolic:
            flow.uses.add(slot)
            flow.served |= value.origins or NOTHING
        elif value.kind == "int" and flow.type_of(function.params[index].type).kind == "ints":
            _refuse(flow, slot, argument)  # an integer is no SymInt yet, and a sequence is a step further
        elif value.kind not in ("int", "braces") and not argument.text.endswith("nullopt"):
            _refuse(flow, slot, argument)


def _refuse(flow: Flow, slot: Slot, argument: Node) -> None:
    """A settled slot cannot be served with `argument` as it is; with a parameter of the function it may yet be."""
    flow.conflicts.add(slot)
    variable = flow.lookup(argument.text) if argument.kind == "identifier" else None
    if variable is not None and variable.parameter >= 0 and variable.type.kind in ("int", "ints", "wrap"):
        flow.wanted.add(flow.slot(variable.parameter))


def _serve_reference(flow: Flow, slot: Slot, argument: Node, value: Type) -> None:
    """What a settled reference is bound to has its very type: a local variable changes with it."""
    variable = flow.lookup(argument.text) if argument.kind == "identifier" else None
    if variable is None:
        flow.conflicts.add(slot)
        return
    held = flow.settled_value(slot, variable.type, result_origin(argument.start))
    if held.symbolic:
        flow.served |= value.origins or NOTHING
        flow.make_symbolic(variable, held.origins or NOTHING, argument)


def _result(flow: Flow, node: Node, function: Function, origins: frozenset[int] | None = None) -> Type:
    """What a helper returns; symbolic where it returns SymInts or will."""
    kind = flow.type_of(function.returns)
    if kind.kind == "other" and function.template and origins:
        return Type("int", "int64_t", origins=origins)
    if kind.symbolic:
        return kind.with_origins(origins if origins else kind.origins)
    if kind.kind == "unknown" and origins and function.template:
        return Type("int", "int64_t", origins=origins)
    slot = Slot(function.path, function.start, -1)
    if kind.kind == "tuple":
        return settled_parts(flow, node, slot, kind, origins)
    if flow.asked.is_settled(slot):
        return flow.settled_value(slot, kind, result_origin(node.start))
    return kind
