"""Functions of the standard library and c10 that meet SymInts: which take them, which need help, which cannot."""

from __future__ import annotations

import re

from transforms.cpp.flow.dispatch import evaluate
from transforms.cpp.flow.engine import NOTHING, Flow, join
from transforms.cpp.flow.events import AccumulateOperation, AccumulateStart, Extremum, ExtremumOperand, ExtremumTemplate
from transforms.cpp.flow.members import fill, member_slot
from transforms.cpp.flow.numbers import UNSIGNED, never_negative
from transforms.cpp.flow.storing import assign, owner_of, same_range
from transforms.cpp.flow.truth import truth
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import BOOL, INT, SIZE_T, STRING, UNKNOWN, Type

_TRANSPARENT = frozenset({"move", "forward", "ref", "cref", "as_const"})
_PREDICATES = frozenset({"all_of", "any_of", "none_of", "find_if", "count_if", "for_each"})
_COPIES = frozenset({"copy", "copy_n", "copy_backward", "move_backward", "transform", "fill", "iota", "reverse_copy"})
_SILENT = frozenset(
    {"reverse", "swap", "sort", "rotate", "distance", "find", "equal", "lexicographical_compare", "next", "prev"}
)
_NUMERIC = frozenset(
    {"abs", "pow", "sqrt", "floor", "ceil", "log", "log2", "exp", "round", "fabs", "lround", "isnan", "isinf"}
)
ALGORITHMS = _PREDICATES | _COPIES | _SILENT | {"accumulate", "reduce", "inner_product"}
"""Those whose operations and predicates are read here."""
_TYPED = "iter", "int", "ints", "wrap", "bool", "float"
_ANY_ORDER = re.compile(r"(?:std::)?(?:less|greater|equal_to|not_equal_to)(?:_equal)?<(?:void)?>(?:\(\)|\{\})")
_ANY_TYPE = re.compile(r"(?:std::)?\w+<(?:void)?>(?:\(\)|\{\})")
_GUARDS = frozenset({"TORCH_GUARD_SIZE_OBLIVIOUS", "TORCH_GUARD_OR_FALSE", "TORCH_GUARD_OR_TRUE"})


def call(
    flow: Flow, node: Node, function: Node, name: str, template: Node | None, arguments: list[Node]
) -> Type | None:
    """The result of a standard function; None where `name` is none of them."""
    namespace, _, bare = name.rpartition("::")
    if namespace not in ("", "std", "c10", "at", "c10::guts", "c10::utils", "torch"):
        return None
    if bare in _GUARDS:
        for argument in arguments:
            evaluate(flow, argument)
        return BOOL
    if bare == "irange":
        return _irange(flow, arguments)
    if bare == "multiply_integers":
        product = Type("int", "int64_t", origins=join(*(evaluate(flow, a) for a in arguments)).origins)
        if not flow.vocabulary.mixes_integers:
            flow.sink(node, "callee-takes-int", f"is given to `{bare}`, which takes integers in this version", product)
        return product
    if bare in ("asIntArrayRefSlow", "C10_AS_INTARRAYREF_SLOW"):
        for argument in arguments:
            flow.sink(argument, "cast", "is turned back into integers", _ours(evaluate(flow, argument)))
        return Type("ints", "IntArrayRef")
    if bare == "fromIntArrayRefSlow" or bare == "fromIntArrayRefUnchecked":
        for argument in arguments:
            evaluate(flow, argument)
        return Type("ints", "SymIntArrayRef", origins=frozenset())
    if bare in ("parallel_for", "parallel_reduce"):
        for index, argument in enumerate(arguments):
            value = evaluate(flow, argument)
            if index < 3:
                flow.sink(argument, "parallel-for", f"is a bound of `{bare}`", value)
        return UNKNOWN
    if namespace not in ("std", "") or (namespace == "" and bare not in ("min", "max")):
        return None
    return _standard(flow, node, bare, template, arguments)


def _ours(kind: Type) -> Type:
    return kind if kind.origins else UNKNOWN


def _irange(flow: Flow, arguments: list[Node]) -> Type:
    for argument in arguments:
        flow.sink(argument, "loop-bound", "bounds a loop over `irange`", evaluate(flow, argument))
    return Type("ints", "irange")


def _standard(flow: Flow, node: Node, bare: str, template: Node | None, arguments: list[Node]) -> Type | None:
    if bare in _TRANSPARENT and arguments:
        return evaluate(flow, arguments[0])
    if bare in ("min", "max"):
        return _min_max(flow, node, bare, template, arguments)
    if bare == "get" and arguments and template is not None:
        return _get(flow, template, evaluate(flow, arguments[0]))
    if bare in ("make_tuple", "make_pair", "tie", "forward_as_tuple"):
        parts = tuple(evaluate(flow, argument) for argument in arguments)
        return Type("tuple", args=parts, origins=join(*parts).origins)
    if bare in ("accumulate", "reduce", "inner_product"):
        return _accumulate(flow, arguments, 3 if bare == "inner_product" else 2)
    if bare in _PREDICATES:
        return _predicate(flow, bare, arguments)
    if bare in _COPIES:
        return _copy(flow, node, arguments)
    if bare in ("begin", "end", "cbegin", "cend", "data") and arguments:
        return Type("iter", origins=evaluate(flow, arguments[0]).origins)
    if bare == "size":
        for argument in arguments:
            evaluate(flow, argument)
        return SIZE_T
    if bare == "swap" and len(arguments) == 2:
        return _swap(flow, node, arguments)
    if bare in _SILENT:
        values = [evaluate(flow, argument) for argument in arguments]
        for argument, value in zip(arguments, values, strict=True):
            if value.kind == "lambda" and value.name in flow.lambdas:
                flow.sink(argument, "callee-unknown", f"is returned to `std::{bare}`", flow.lambdas[value.name].result)
            if value.kind not in _TYPED and not _ANY_ORDER.fullmatch(argument.packed):
                flow.sink(argument, "callee-unknown", f"is given to `{argument.beginning(60)}`", *values)
        return BOOL if bare == "equal" else INT if bare == "distance" else Type("iter")
    if bare in _NUMERIC or bare == "to_string":
        values = [evaluate(flow, argument) for argument in arguments]
        for argument, value in zip(arguments, values, strict=True):
            flow.sink(argument, "callee-takes-int", f"is an argument of `std::{bare}`", value)
        if bare == "abs" and [value.kind for value in values] == ["int"]:
            return INT
        return STRING if bare == "to_string" else Type("float", "double")
    return None


def _swap(flow: Flow, node: Node, arguments: list[Node]) -> Type:
    """`std::swap(a, b)` stores each in the other, which has the same type."""
    first, second = (evaluate(flow, argument) for argument in arguments)
    if first.symbolic and not second.symbolic:
        assign(flow, arguments[1], first, node)
    elif second.symbolic and not first.symbolic:
        assign(flow, arguments[0], second, node)
    return Type("void")


def _get(flow: Flow, template: Node, value: Type) -> Type:
    if value.kind == "tuple" and template.text.isdigit() and int(template.text) < len(value.args):
        return value.args[int(template.text)]
    if value.kind == "list":
        return value.args[0]
    return Type("tensor") if template.text.endswith("Tensor") else UNKNOWN


def _min_max(flow: Flow, node: Node, bare: str, template: Node | None, arguments: list[Node]) -> Type:
    """`std::max(a, b)` deduces one type from both: the integer becomes a SymInt."""
    values = [evaluate(flow, argument) for argument in arguments]
    both = join(*values) if values else UNKNOWN
    origins = both.origins
    spelled = flow.type_of(template.text) if template is not None else INT
    if origins and (spelled.kind in ("float", "bool") or any(value.kind == "float" for value in values)):
        flow.sink(node, "callee-takes-int", f"is compared with a floating point number by `std::{bare}`", *values)
        return spelled if spelled.kind == "float" else both
    if origins and not flow.vocabulary.mixes_integers:
        reason = f"is compared by `std::{bare}`, and the SymInt of this version has no `{bare}`"
        flow.sink(node, "callee-takes-int", reason, *values)
    bound = _is_bound(node)
    if bound and origins and any(value.symbolic is False for value in values):
        flow.sink(node, "callee-takes-int", f"stands beside an integer in `std::{bare}`, which a reference is to", both)
    pair = len(values) == 2 and {value.kind for value in values} == {"int"}
    if not flow.passive and not bound and pair and both.symbolic and flow.vocabulary.mixes_integers:
        event = Extremum(origins, node, bare, template, arguments[0], arguments[1], values[0].symbolic)
        if event not in flow.questions:
            flow.questions.append(event)
    if not origins:
        return Type("int", "int64_t", origins=origins) if both.kind == "braces" else both
    compared = arguments if len(arguments) > 1 else arguments[0].children
    if template is not None:
        if spelled.name in UNSIGNED and not all(never_negative(flow, operand) for operand in compared):
            flow.sink(node, "size_t", f"is compared as a `{template.text}` by `std::{bare}`", both)
        flow.announce(ExtremumTemplate(origins, template))
        return Type("int", "int64_t", origins=origins)
    if len(arguments) == 1:
        if any(evaluate(flow, operand).symbolic is False for operand in compared):
            flow.sink(node, "callee-takes-int", f"stands beside integers in `std::{bare}({{…}})`", both)
        return Type("int", "int64_t", origins=origins)
    for argument, value in zip(arguments[:2], values[:2], strict=True):
        if not value.symbolic:
            if value.kind not in ("int", "bool"):
                flow.sink(node, "unknown-use", f"stands beside a value of unknown type in `std::{bare}`", both)
            flow.announce(ExtremumOperand(origins, argument))
    return Type("int", "int64_t", origins=origins)


def _is_bound(call: Node) -> bool:
    """Whether a reference is initialised with what a call returns: it is to one of the operands, not to a copy."""
    outer = call.parent
    declarator = outer.field("declarator") if outer is not None and outer.kind == "init_declarator" else None
    return declarator is not None and declarator.kind == "reference_declarator"


def _accumulate(flow: Flow, arguments: list[Node], start: int) -> Type:
    """`std::accumulate(b, e, 1, std::multiplies<int64_t>())` computes in the type of its argument `start`."""
    values = [evaluate(flow, argument) for argument in arguments[: start + 1]]
    origins = join(*values).origins if values else None
    for operation in arguments[start + 1 :]:
        if operation.kind == "lambda_expression":
            folded = flow.lambdas[evaluate(flow, operation).name].result
            flow.sink(operation, "callee-unknown", "is folded by a lambda", folded, Type("int", origins=origins))
    if not origins or len(arguments) <= start:
        return values[start] if len(values) > start else UNKNOWN
    initial = values[start]
    if initial.kind != "int" or (initial.name in UNSIGNED and not initial.symbolic):
        flow.sink(arguments[start], "callee-takes-int", "is folded in another type", Type("int", origins=origins))
    if not initial.symbolic:
        flow.announce(AccumulateStart(origins, arguments[start]))
    for operation in arguments[start + 1 :]:
        if operation.kind == "lambda_expression":
            continue
        element = _element(flow, operation)
        if element is not None:
            flow.announce(AccumulateOperation(origins, operation, element))
        elif not _ANY_TYPE.fullmatch(operation.packed):
            reason = f"is folded by `{operation.beginning(60)}`"
            flow.sink(operation, "callee-unknown", reason, Type("int", origins=origins))
    return Type("int", "int64_t", origins=origins)


def _element(flow: Flow, operation: Node) -> Node | None:
    """The `int64_t` of `std::multiplies<int64_t>()`."""
    return next((n for n in operation.walk() if n.kind == "type_descriptor" and _spells_int(flow, n)), None)


def _spells_int(flow: Flow, node: Node) -> bool:
    return flow.type_of(node.text).kind == "int"


def _predicate(flow: Flow, bare: str, arguments: list[Node]) -> Type:
    values = [evaluate(flow, argument) for argument in arguments]
    source = next((value for value in values if value.kind == "iter"), UNKNOWN)
    owner = flow.lambdas.get(values[-1].name) if values and values[-1].kind == "lambda" else None
    if owner is not None and bare != "for_each" and owner.result.symbolic and owner.result.kind == "int":
        for expression, kind in owner.returns:
            if expression is not None:
                truth(flow, expression, kind)
    if source.origins:
        if owner is None or len(owner.parameters) != 1:
            flow.sink(arguments[-1], "callee-unknown", f"is handed to a function by `std::{bare}`", source)
        else:
            parameter = owner.parameters[0]
            if parameter.deduced:
                parameter.type = INT
            flow.make_symbolic(parameter, source.origins, arguments[-1])
    return BOOL if bare.endswith("_of") else INT if bare == "count_if" else Type("iter")


def _copy(flow: Flow, node: Node, arguments: list[Node]) -> Type:
    """Elements go from the first range to the last iterator: its container holds what they are."""
    values = [evaluate(flow, argument) for argument in arguments]
    same_range(flow, node, values[:2])
    moving = [kind for kind in values if kind.symbolic]
    if any(value.kind == "lambda" for value in values) and moving:
        flow.sink(node, "callee-unknown", "is transformed by a lambda", *moving)
    origins = join(*values).origins if values else None
    if origins:
        targets = arguments[:2] if node.beginning(9).startswith(("std::fill", "std::iota")) else arguments[2:]
        if node.beginning(14) == "std::transform" and len(arguments) > 3:
            element = _element(flow, arguments[-1])
            if element is not None:
                flow.announce(AccumulateOperation(origins, arguments[-1], element))
                targets.pop()
        for argument in targets:
            if evaluate(flow, argument).symbolic:
                fill(flow, argument, origins)
                continue
            owner = owner_of(flow, argument)
            if owner is None and argument.kind == "call_expression":
                inner = argument.field("arguments")
                owner = owner_of(flow, inner.children[0]) if inner is not None and inner.children else None
            if owner is not None:
                flow.make_symbolic(owner, origins or NOTHING, node)
            elif evaluate(flow, argument).kind in ("iter", "wrap", "unknown"):
                reason = f"is copied to `{argument.beginning(40)}`"
                flow.sink(node, "stored", reason, *moving, slot=member_slot(flow, argument))
    return Type("iter", origins=origins)
