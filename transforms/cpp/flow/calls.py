"""Calls: accessors, check macros, casts, the standard library, operators and helper functions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from transforms.cpp.flow import containers, handles, helpers, lambdas, methods, saved, standard
from transforms.cpp.flow.casts import convert
from transforms.cpp.flow.checks import CHECKS, COMPARING
from transforms.cpp.flow.conditions import size_check
from transforms.cpp.flow.dispatch import EXPRESSIONS, evaluate
from transforms.cpp.flow.engine import NOTHING, Flow, join, outlives
from transforms.cpp.flow.events import AccessorCall, FreeAccessorCall, LoopCount, RankQuery
from transforms.cpp.flow.expressions import operation_of
from transforms.cpp.flow.members import behind
from transforms.cpp.flow.operators import resolve
from transforms.cpp.flow.state import Site
from transforms.cpp.flow.storing import coerce
from transforms.cpp.flow.truth import truth
from transforms.cpp.flow.whole import countable
from transforms.cpp.reach.vocabulary import ACCESSORS
from transforms.cpp.reading.syntax import LAUNCH
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import BOOL, INT, SIZE_T, STRING, TENSOR, UNKNOWN, Type

_MESSAGES = frozenset({"AT_ERROR", "TORCH_WARN", "TORCH_WARN_ONCE", "TORCH_WARN_DEPRECATION", "str", "warn"})
_READING = frozenset({"item"})
"""Methods of Tensor that take a value out of its memory, which fake tensors have none of."""
_SEQUENCE_ACCESSORS = ("sizes", "strides")
_ITERATOR = Type("other", "TensorIterator")
_IMPLEMENTATION = Type("other", "TensorImpl")
_STORAGE = Type("other", "Storage", (TENSOR,))  # of a Tensor, and symbolic with it
_TENSOR_RESULTS = {
    "dim": INT,
    "ndimension": INT,
    "storage": _STORAGE,
    "options": Type("options"),
    "itemsize": SIZE_T,
    "element_size": INT,
    "unsafeGetTensorImpl": Type("wrap", "*", (Type("other", "TensorImpl"),)),
    "accessor": Type("other", "TensorAccessor"),
    "packed_accessor32": Type("other", "TensorAccessor"),
    "packed_accessor64": Type("other", "TensorAccessor"),
    "data_ptr": Type("wrap", "*", (UNKNOWN,)),
    "const_data_ptr": Type("wrap", "*", (UNKNOWN,)),
    "mutable_data_ptr": Type("wrap", "*", (UNKNOWN,)),
    "sym_sizes": Type("ints", "SymIntArrayRef", origins=frozenset()),
    "sym_strides": Type("ints", "SymIntArrayRef", origins=frozenset()),
    "sym_size": Type("int", "SymInt", origins=frozenset()),
    "sym_stride": Type("int", "SymInt", origins=frozenset()),
    "sym_numel": Type("int", "SymInt", origins=frozenset()),
    "sym_storage_offset": Type("int", "SymInt", origins=frozenset()),
    "sym_nbytes": Type("int", "SymInt", origins=frozenset()),
}

_BUILDS_ITERATOR = re.compile(r"(?:^|::)TensorIterator(?:Base)?::\w+$|(?:^|::)TensorIteratorConfig$")


def call(flow: Flow, node: Node) -> Type:
    """The type of a call; a site where it is a concrete accessor of a Tensor."""
    function, argument_list = node.field("function"), node.field("arguments")
    if function is None or argument_list is None:
        return UNKNOWN
    arguments = list(argument_list.children)
    if function.kind == "field_expression":
        return _member_calls(flow, node)
    if function.kind == "lambda_expression":
        return lambdas.invoke(flow, node, evaluate(flow, function), arguments)
    if function.kind == "call_expression":
        return _call_of_result(flow, node, function, arguments)
    name, template = callee(function)
    if _BUILDS_ITERATOR.search(name):
        if not flow.passive:
            flow.iterators[node.start] = (node.start, node.end)
        for argument in arguments:
            flow.sink(argument, "tensor-iterator", "is given to a TensorIterator", evaluate(flow, argument))
        return _ITERATOR
    variable = flow.lookup(name) if function.kind == "identifier" else None
    if variable is not None:
        return lambdas.invoke(flow, node, variable.type, arguments)
    bare = name.split("::")[-1]
    if bare in CHECKS:
        return _check(flow, function, arguments, 1 if bare == "TORCH_CHECK_WITH" else 0)
    if bare in COMPARING and len(arguments) == 2:
        left, right = arguments
        values = evaluate(flow, left), evaluate(flow, right)
        operation_of(flow, node, COMPARING[bare], (left, right), *values)
        return Type("void")
    if bare in _MESSAGES:
        for argument in arguments:
            evaluate(flow, argument)
        return STRING
    if bare in ("static_cast", "reinterpret_cast", "const_cast") and template is not None and len(arguments) == 1:
        value = evaluate(flow, arguments[0])
        return convert(flow, node, template, arguments[0], flow.type_of(template.text), value)
    if function.kind == "primitive_type" or flow.type_of(function.text).kind in ("int", "float", "bool"):
        if len(arguments) == 1:
            kind = flow.type_of(function.text)
            return convert(flow, node, function, arguments[0], kind, evaluate(flow, arguments[0]))
        return flow.type_of(function.text)
    if flow.type_of(function.text).kind in ("ints", "wrap", "scalar", "list", "tensor", "string", "tuple"):
        return containers.construct_typed(flow, node, function, arguments, braces=False)
    if bare in ACCESSORS and name in (f"at::{bare}", f"at::native::{bare}", f"native::{bare}", f"torch::{bare}"):
        return _free_accessor(flow, node, function, arguments, bare)
    if bare in ACCESSORS and name == bare and flow.function.parent.endswith("TensorImpl"):
        dimensions = [(argument, evaluate(flow, argument)) for argument in arguments]
        return _site(flow, node, function.start, bare, "this", dimensions)
    if name in flow.vocabulary.asking_macros:
        return _asking_macro(flow, node, name, arguments)
    result = standard.call(flow, node, function, name, template, arguments)
    if result is not None:
        return result
    return helpers.call(flow, node, function, name, arguments)


def _asking_macro(flow: Flow, node: Node, name: str, arguments: list[Node]) -> Type:
    """A macro whose body asks a tensor for sizes: an accessor that stays as it is."""
    values = [evaluate(flow, argument) for argument in arguments]
    for argument, value in zip(arguments, values, strict=True):
        flow.sink(argument, "callee-unknown", f"is an argument of the macro `{name}`", value)
    if any(value.kind in ("tensor", "wrap", "list", "unknown") for value in values):
        flow.sites[node.start] = Site(node.start, node.start, node.end, name, "", free=True)
        flow.sink(node, "macro", "is asked for by the body of a macro", INT.with_origins({node.start}))
    return UNKNOWN


def callee(function: Node) -> tuple[str, Node | None]:
    """(`std::max`, the first template argument) of what is called."""
    node, template = function, None
    for part in function.walk():
        if part.kind in ("template_function", "template_method", "template_type"):
            arguments = part.field("arguments")
            template = arguments.children[0] if arguments is not None and arguments.children else None
            if part is not function or node is function:
                prefix = function.source[function.start : part.start].decode("utf-8", "replace")
                base = part.field("name")
                return prefix + (base.text if base is not None else ""), template
    return node.text, template


def _check(flow: Flow, macro: Node, arguments: list[Node], condition: int) -> Type:
    for index, argument in enumerate(arguments):
        value = evaluate(flow, argument)
        if index == condition:
            truth(flow, argument, value)
    size_check(flow, macro, arguments)
    return Type("void")


def _call_of_result(flow: Flow, node: Node, function: Node, arguments: list[Node]) -> Type:
    """`f(a)(b)`: what `f` returns is called, and it is not known what that takes; or the launch of a device kernel."""
    inner, configuration = function.field("function"), function.field("arguments")
    if inner is not None and configuration is not None and inner.text == LAUNCH:
        for argument in (*configuration.children, *arguments):
            flow.sink(argument, "kernel-launch", "is an argument of a kernel's launch", evaluate(flow, argument))
        return UNKNOWN
    evaluate(flow, function)
    for argument in arguments:
        flow.sink(argument, "callee-unknown", f"is an argument of `{node.beginning(40)}`", evaluate(flow, argument))
    return UNKNOWN


def _site(
    flow: Flow,
    node: Node,
    start: int,
    api: str,
    receiver: str,
    dimensions: Sequence[tuple[Node, Type]],
    *,
    free: bool = False,
) -> Type:
    """Register an accessor; its value is symbolic unless the site was found to reach a sink."""
    for dimension, value in dimensions:
        flow.sink(dimension, "dimension", f"is the dimension given to `{api}`", value)
    flow.sites[start] = Site(start, node.start, node.end, api, receiver, free)
    if start in flow.guarded:
        return _guarded(flow, node, start, api)
    kind = Type("ints", "IntArrayRef") if api in _SEQUENCE_ACCESSORS else SIZE_T if api == "nbytes" else INT
    if start in flow.concrete or flow.passive:
        return kind
    if not flow.available(f"sym_{api}"):
        flow.sink(node, "not-in-version", f"this version has no `sym_{api}`", kind.with_origins({start}))
    return kind.with_origins({start})


def _guarded(flow: Flow, node: Node, start: int, api: str) -> Type:
    """A count of a loop: an integer again behind its guard."""
    element = countable(node, api)
    if element is not None:
        flow.announce(LoopCount(frozenset({start}), element))
    return Type("ints", "IntArrayRef") if api in _SEQUENCE_ACCESSORS else INT


def _is_kept(flow: Flow, receiver: Node) -> bool:
    """Whether a tensor is kept from call to call, so that no symbol of a trace may be in it: `static Tensor cache`."""
    variable = flow.lookup(receiver.text) if receiver.kind == "identifier" else None
    return variable is not None and outlives(variable.declaration)


def _free_accessor(flow: Flow, node: Node, function: Node, arguments: list[Node], api: str) -> Type:
    """`at::size(t, d)` → `t.sym_size(d)`."""
    values = [evaluate(flow, argument) for argument in arguments]
    if not values or values[0].kind != "tensor" or len(values) != 1 + (api in ("size", "stride")):
        return helpers.call(flow, node, function, function.text, arguments, values)
    dimensions = list(zip(arguments, values, strict=True))[1:]
    value = _site(flow, node, function.start, api, arguments[0].text, dimensions, free=True)
    if value.symbolic:
        flow.announce(FreeAccessorCall(value.origins, node, arguments, api))
    return value


def _member_calls(flow: Flow, node: Node) -> Type:
    """A chain of method calls, from its innermost receiver on."""
    calls: list[Node] = []
    receiver: Node | None = node
    while receiver is not None and receiver.kind == "call_expression":
        function = receiver.field("function")
        if function is None or function.kind != "field_expression" or receiver.field("arguments") is None:
            break
        calls.append(receiver)
        receiver = function.field("argument")
    value = UNKNOWN
    if receiver is not None and saved.saved_slot(flow, receiver) is None:
        value = evaluate(flow, receiver)
    for call in reversed(calls):
        value = _member_call(flow, call, value)
    return value


def _member_call(flow: Flow, node: Node, written: Type) -> Type:
    """`node` is the call of a method of a value of the type `written`."""
    function, arguments = node.fields["function"], node.fields["arguments"].children
    receiver, field = function.field("argument"), function.field("field")
    if receiver is None or field is None:
        return UNKNOWN
    name = field.text.removeprefix("template ").split("<")[0].strip()
    owner = behind(written, function.token == "->")
    slot = saved.saved_slot(flow, receiver)
    if slot is not None:
        return saved.read(flow, slot, field, node)
    through = handles.method(flow, node, owner, field, arguments)
    if through is not None:
        return through
    if name in ("sizes", "strides") and owner.kind == "tensor" and not arguments:
        ranked = _rank(flow, node, field)
        if ranked is not None:
            return ranked
    dims = 1 if name in ("size", "stride") else 0
    if name in ACCESSORS and len(arguments) == dims:
        if owner.kind == "tensor" or owner == _IMPLEMENTATION or _is_symbolic_storage(flow, owner, name):
            dimensions = [(argument, evaluate(flow, argument)) for argument in arguments]
            if dims and dimensions[0][1].kind in ("string", "other"):
                return INT  # by name: a Dimname
            if _is_kept(flow, receiver):
                return Type("ints", "IntArrayRef") if name in _SEQUENCE_ACCESSORS else INT
            value = _site(flow, node, field.start, name, receiver.excerpt, dimensions)
            if value.symbolic or field.start in flow.guarded:
                origins = value.origins or frozenset({field.start})
                flow.announce(AccessorCall(origins, field, name, receiver.excerpt))
            return value
        if _may_be_tensor(flow, owner) and (name != "size" or dims):
            flow.unknown_receivers[field.start] = Site(field.start, node.start, node.end, name, receiver.excerpt)
    if written.kind == "wrap" and function.token == "." and name not in ("get",):
        return _optional_method(flow, node, written, name, arguments)
    if written.kind == "wrap" and name == "get":
        return behind(written, True)
    if owner.kind == "ints":
        return containers.method(flow, node, receiver, owner, name, arguments)
    if owner.kind == "list":
        return _list_method(flow, owner, name, arguments)
    if owner.kind in ("int", "float", "bool") and owner.symbolic:
        for argument in arguments:
            evaluate(flow, argument)
        compared = name.startswith("sym_") or name in ("expect_true", "guard_bool", "guard_size_oblivious")
        return BOOL if compared else owner if name in ("min", "max") else INT
    if owner == _ITERATOR:
        for argument in arguments:
            flow.sink(argument, "tensor-iterator", "is given to a TensorIterator", evaluate(flow, argument))
        return _ITERATOR if name == "build" or name.startswith(("add_", "set_", "declare_", "resize_")) else UNKNOWN
    if owner.kind == "tensor" and (arguments or not dims):  # `size()` is that of a container, of whatever type
        if name in _READING:
            flow.kernels[node.start] = f"`{receiver.excerpt}.{name}`"
        return _tensor_method(flow, node, field, name, arguments)
    return methods.method(flow, node, owner, name, arguments)


def _is_symbolic_storage(flow: Flow, owner: Type, api: str) -> bool:
    """Whether an accessor of a Storage has a symbolic twin: `sym_nbytes()` in c10/core/Storage.h."""
    twins = flow.vocabulary.functions.get(f"sym_{api}", ()) if owner == _STORAGE else ()
    return any(twin.parent == owner.name for twin in twins)


def _may_be_tensor(flow: Flow, owner: Type) -> bool:
    """Whether a receiver's type is not known: undeduced, or a template parameter."""
    undeduced = owner.kind == "unknown" and not owner.symbolic
    return undeduced or (owner.kind == "other" and flow.is_template_parameter(owner))


def _rank(flow: Flow, node: Node, field: Node) -> Type | None:
    """`x.sizes().size()` and `.empty()` ask for the rank only: `x.dim()`, where a signed integer does as well."""
    outer = node.parent
    invoked = outer.parent if outer is not None else None
    if outer is None or invoked is None or outer.kind != "field_expression" or invoked.kind != "call_expression":
        return None
    member = outer.field("field")
    if member is None or member.text not in ("size", "empty") or invoked.field("function") is not outer:
        return None
    if member.text == "size" and not _signed_context(flow, invoked):
        return None
    flow.sites[field.start] = Site(field.start, node.start, node.end, field.text, "", False)
    if field.start in flow.concrete or flow.passive:
        return None
    flow.announce(RankQuery(frozenset({field.start}), field, invoked, member.text))
    return Type("ints", "IntArrayRef")


def _signed_context(flow: Flow, node: Node) -> bool:
    """Whether the value of `node` becomes an int64_t at once, so that a signed rank changes nothing."""
    parent = node.parent
    if parent is None:
        return False
    if parent.kind == "init_declarator":
        declaration = parent.parent
        spelled = declaration.field("type") if declaration is not None else None
        return spelled is not None and flow.type_of(spelled.text).kind == "int" and "size_t" not in spelled.text
    if parent.kind == "argument_list" and parent.parent is not None:
        owner = parent.parent.field("function")
        if owner is None:
            return False
        name = callee(owner)[0].split("::")[-1]
        if name == "static_cast":
            return True
        return bool(flow.vocabulary.schemas.get(name)) or helpers.signed_parameter(flow, name, parent, node)
    return False


def _optional_method(flow: Flow, node: Node, owner: Type, name: str, arguments: list[Node]) -> Type:
    values = [evaluate(flow, argument) for argument in arguments]
    if name in ("value", "value_or", "front"):
        inner = behind(owner, True)
        default = join(*values) if values else UNKNOWN
        if default.symbolic and not owner.symbolic:
            receiver = node.fields["function"].field("argument")
            variable = flow.lookup(receiver.text) if receiver is not None else None
            if variable is not None and name == "value_or":
                flow.make_symbolic(variable, default.origins or NOTHING, node)
            else:
                flow.sink(node, "stored", "is the default of an optional integer", *values)
            return inner.with_origins(default.origins)
        if owner.symbolic and inner.kind in ("ints", "wrap") and arguments and not default.symbolic:
            coerce(flow, arguments[0], owner.origins or NOTHING)
        return inner
    if name in ("has_value", "defined"):
        return BOOL
    for argument, value in zip(arguments, values, strict=True):
        flow.sink(argument, "callee-unknown", f"is an argument of `{name}`", value)
    return UNKNOWN


def _list_method(flow: Flow, owner: Type, name: str, arguments: list[Node]) -> Type:
    for argument in arguments:
        value = evaluate(flow, argument)
        if value.kind not in ("tensor", "list"):
            flow.sink(argument, "container-size", f"is an argument of `{name}`", value)
    if name in ("front", "back", "at", "get", "extract"):
        return owner.args[0]
    return (
        SIZE_T if name == "size" else Type("iter") if name in ("begin", "end") else owner if name == "vec" else UNKNOWN
    )


def _tensor_method(flow: Flow, node: Node, field: Node, name: str, arguments: list[Node]) -> Type:
    values = [evaluate(flow, argument) for argument in arguments]
    operator = resolve(flow.vocabulary, name, values, method=True)
    if operator is not None:
        result = helpers.apply(flow, node, field, operator, arguments, values)
        return _TENSOR_RESULTS[name] if name.startswith("sym_") and name in _TENSOR_RESULTS else result
    for argument, value in zip(arguments, values, strict=True):
        if value.kind != "tensor":
            flow.sink(argument, "callee-unknown", f"is an argument of `{name}`, which takes no SymInt", value)
    if name in _TENSOR_RESULTS:
        return _TENSOR_RESULTS[name]
    if name in ACCESSORS:
        return INT
    if name.startswith("is_") or name in ("defined", "has_names", "requires_grad"):
        return BOOL
    return TENSOR if name in ("grad", "mutable_grad", "data", "variable_data", "tensor_data") else UNKNOWN


EXPRESSIONS["call_expression"] = call
