"""Expressions: the type of each, whether it is symbolic, and the edits that this asks for."""

from __future__ import annotations

from collections.abc import Callable

from transforms.cpp.flow.checks import COMPARISONS
from transforms.cpp.flow.choosing import chosen_size
from transforms.cpp.flow.dispatch import EXPRESSIONS, evaluate
from transforms.cpp.flow.engine import NOTHING, Flow, join
from transforms.cpp.flow.events import CompoundAssignment, FloatOperand, Step
from transforms.cpp.flow.members import behind, member, own_member, qualified
from transforms.cpp.flow.numbers import UNSURE, constant, differs, literal, promoted, refuse_mixed
from transforms.cpp.flow.repeated import may_repeat
from transforms.cpp.flow.saved import escapes
from transforms.cpp.flow.standard import ALGORITHMS
from transforms.cpp.flow.state import given_away
from transforms.cpp.flow.storing import assign, coerce, owner_of
from transforms.cpp.flow.truth import truth
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import BOOL, INT, STRING, TENSOR, UNKNOWN, Type

_ARITHMETIC = frozenset({"+", "-", "*", "/", "%"})


def _literal(kind: Type) -> Callable[[Flow, Node], Type]:
    return lambda flow, node: kind


def _number(flow: Flow, node: Node) -> Type:
    return literal(node.text)


def _identifier(flow: Flow, node: Node) -> Type:
    variable = flow.lookup(node.text)
    if variable is not None and variable.type.kind == "lambda" and given_away(node, ALGORITHMS):
        owner = flow.lambdas[variable.type.name]
        held = (owner.result, *(parameter.value for parameter in owner.parameters))
        flow.sink(node, "callee-unknown", f"is in the lambda `{node.text}`, which others call", *held)
    if variable is not None:
        return variable.value
    value = own_member(flow, node)
    return constant(node.source, node.text) if value.kind == "unknown" else value


def _last(flow: Flow, node: Node) -> Type:
    """`(a)` and `a, b` are what stands last in them."""
    while node.kind in ("parenthesized_expression", "comma_expression") and node.children:
        for child in node.children[:-1]:
            evaluate(flow, child)
        node = node.children[-1]
    return UNKNOWN if node.kind in ("parenthesized_expression", "comma_expression") else evaluate(flow, node)


def _field(flow: Flow, node: Node) -> Type:
    """A data member, `a.b` or `a->b`; methods are judged where they are called."""
    accesses = [node]
    while (argument := node.field("argument")) is not None and argument.kind == "field_expression":
        accesses.append(node := argument)
    value = evaluate(flow, argument) if argument is not None else UNKNOWN
    for access in reversed(accesses):
        value = member(flow, access, value)
    return value


def _pointer(flow: Flow, node: Node) -> Type:
    argument = node.field("argument")
    if argument is None:
        return UNKNOWN
    value = evaluate(flow, argument)
    if node.token == "*":
        if value.kind == "wrap":
            return behind(value, True)
        return Type("int", "int64_t", origins=value.origins) if value.kind == "iter" else UNKNOWN
    flow.sink(node, "address", "has its address taken", value if value.kind in ("int", "float") else UNKNOWN)
    return Type("wrap", "*", (value,), value.origins)


def _unary(flow: Flow, node: Node) -> Type:
    operations = [node]
    while (argument := node.field("argument")) is not None and argument.kind == "unary_expression":
        operations.append(node := argument)
    value = evaluate(flow, argument) if argument is not None else UNKNOWN
    for operation in reversed(operations):
        argument, token = operation.field("argument"), operation.token
        if token == "!" and argument is not None:
            truth(flow, argument, value)
            value = BOOL
        if token == "-" and value.kind == "float":
            flow.sink(operation, "negation", "is negated as a SymFloat, which has no unary minus", value)
        if token == "-" and value.kind == "int" and not flow.vocabulary.mixes_integers:
            flow.sink(operation, "negation", "is negated, and the SymInt of this version has no unary minus", value)
        if token in ("~", "+", "not"):
            flow.sink(operation, "bit-operation", f"is an operand of `{token}`", value)
        value = BOOL if token == "not" else value
    return value


def _binary(flow: Flow, node: Node) -> Type:
    """A chain of operators, from its innermost left operand on."""
    operations = [node]
    while (left := node.field("left")) is not None and left.kind == "binary_expression":
        operations.append(node := left)
    value = evaluate(flow, left) if left is not None else UNKNOWN
    sums: list[frozenset[int]] = []
    for operation in reversed(operations):
        left, right = operation.field("left"), operation.field("right")
        if left is None or right is None:
            value, sums = UNKNOWN, []
            continue
        operand = evaluate(flow, right)
        if operation.token in ("/", "%"):
            flow.divide(operation, operation.token, (left, right), _with(value, sums), operand)
        quick = operation.token in _ARITHMETIC and flow.vocabulary.mixes_integers
        number = _number_of(value, bool(sums), operand) if quick else None
        if number is None:
            joined = _with(value, sums)
            value, sums = operation_of(flow, operation, operation.token, (left, right), joined, operand), []
        else:  # the origins of a long sum's terms are put together once, behind the last
            sums += (kind.origins for kind in (value, operand) if kind.origins is not None)
            value = number
    return _with(value, sums)


def _with(value: Type, origins: list[frozenset[int]]) -> Type:
    """`value`, symbolic because of all `origins` where there are any."""
    return value.with_origins(NOTHING.union(*origins)) if origins else value


def _number_of(left: Type, symbolic: bool, right: Type) -> Type | None:
    """What two numbers come to, without origins; None where they need more than that.

    `symbolic` says that `left` is, though it has no origins.
    """
    kinds = {left.kind, right.kind}
    if not kinds <= {"int", "float", "bool"} or kinds == {"bool"}:
        return None
    symbolic = symbolic or left.symbolic
    if right.symbolic and right.kind == "float" and not (symbolic and left.kind == "float"):
        return None
    if (symbolic or right.symbolic) and differs(left, right):
        return None
    return promoted(left, right)


def operation_of(flow: Flow, node: Node, operator: str, operands: tuple[Node, Node], left: Type, right: Type) -> Type:
    """The type of what `operator` makes of two operands that are `left` and `right`."""
    left_node, right_node = operands
    if operator in ("&&", "||"):
        truth(flow, left_node, left)
        truth(flow, right_node, right)
        return BOOL
    if operator in COMPARISONS | _ARITHMETIC:
        _float_operands(flow, node, left_node, left, right)
        refuse_mixed(flow, node, operator, operands, left, right)
    kinds = {left.kind, right.kind}
    if operator in COMPARISONS:
        if "tensor" in kinds:
            return TENSOR
        if kinds & {"ints", "wrap", "braces"} and left.symbolic != right.symbolic and kinds <= {"ints", "braces"}:
            numbers = left_node if right.symbolic else right_node
            if _given(flow, numbers):
                reason = f"is compared whole with `{numbers.beginning(60)}`, integers that the caller gives"
                flow.sink(node, "mixed", reason, left, right)
            coerce(flow, numbers, join(left, right).origins or NOTHING)
        return BOOL
    if operator in _ARITHMETIC:
        return _arithmetic(flow, node, left, right)
    if operator == "<<" and left.kind not in ("int", "bool"):
        return left if left.kind != "unknown" else UNKNOWN
    flow.sink(node, "bit-operation", f"is an operand of `{operator}`", left, right)
    return join(left, right).with_origins(None)


def _given(flow: Flow, sequence: Node) -> bool:
    """Whether a sequence is written out with parameters in it: equal sizes are constants then."""
    if owner_of(flow, sequence) is not None:
        return False
    words = (flow.lookup(part.text) for part in sequence.walk() if part.kind == "identifier")
    return any(word is not None and word.parameter >= 0 and word.type.kind == "int" for word in words)


def _float_operands(flow: Flow, node: Node, left_node: Node, left: Type, right: Type) -> None:
    """The operators of SymFloat are members: what stands on its left must be a SymFloat too (c10/core/SymFloat.h)."""
    if not (right.symbolic and right.kind == "float") or left.kind not in ("int", "float"):
        return
    if left.symbolic and left.kind == "int":
        flow.sink(node, "unknown-use", "is combined with a SymFloat", left)
    elif not left.symbolic:
        flow.announce(FloatOperand(right.origins, left_node))


def _arithmetic(flow: Flow, node: Node, left: Type, right: Type) -> Type:
    kinds = {left.kind, right.kind}
    if "tensor" in kinds:
        return TENSOR
    if "string" in kinds:
        flow.sink(node, "string", "is added to a string", left, right)
        return STRING
    if kinds & {"iter", "wrap"}:
        pointer, offset = (left, right) if left.kind in ("iter", "wrap") else (right, left)
        if offset.kind in ("iter", "wrap"):
            return INT
        flow.sink(node, "pointer-arithmetic", "is added to a pointer or iterator", offset)
        return pointer
    if "float" in kinds:
        return promoted(left, right).with_origins(join(left, right).origins)
    if "scalar" in kinds:
        flow.sink(node, "unknown-use", "is combined with a Scalar", left, right)
        return Type("scalar")
    if "int" in kinds and kinds <= {"int", "bool"}:
        return promoted(left, right).with_origins(join(left, right).origins)
    if "int" in kinds and kinds <= {"int", "unknown", "other"}:
        return Type("int", UNSURE, origins=join(left, right).origins)
    flow.sink(node, "unknown-use", "is combined with a value of unknown type", left, right)
    return UNKNOWN


def _assignment(flow: Flow, node: Node) -> Type:
    left, right = node.field("left"), node.field("right")
    if left is None or right is None:
        return UNKNOWN
    value = evaluate(flow, right)
    if node.token == "=":
        _tie(flow, left, value) if left.packed.startswith(("std::tie(", "tie(")) else assign(flow, left, value, node)
        target = evaluate(flow, left) if left.kind in ("identifier", "field_expression") else value
        if target.symbolic and not value.symbolic and target.kind in ("ints", "wrap"):
            coerce(flow, right, target.origins or NOTHING)
        return value
    if node.token in ("+=", "-=", "*=", "/=", "%="):
        current = evaluate(flow, left)
        if current.kind in ("tensor", "scalar", "string"):
            return current
        if value.symbolic and current.kind == "float" and not current.symbolic:
            assign(flow, left, Type("float", "double", origins=value.origins), node)
        elif value.symbolic:
            assign(flow, left, value, node)
        current = evaluate(flow, left)
        refuse_mixed(flow, node, node.token[0], (left, right), current, value, kept=True)
        if node.token in ("/=", "%="):
            flow.divide(node, node.token, (left, right), current, value)
        _compound_assignment(flow, node, (left, right), current, value)
        return current
    flow.sink(node, "bit-operation", f"is an operand of `{node.token}`", value, evaluate(flow, left))
    return UNKNOWN


def _compound_assignment(flow: Flow, node: Node, operands: tuple[Node, Node], current: Type, value: Type) -> None:
    """SymInt has `+=`, `*=` and `/=`, but neither `-=` nor `%=`; SymFloat none (c10/core/SymInt.h, SymFloat.h)."""
    if not current.symbolic:
        return
    if (current.kind, value.kind) == ("int", "float"):
        reason = f"is changed by `{node.token}` and a floating point number, and SymInt takes that for an integer first"
        flow.sink(node, "rounded", reason, current)
        return
    lacking = {"int": ("-=", "%="), "float": ("+=", "-=", "*=", "/=")}.get(current.kind, ())
    lacking = lacking if flow.vocabulary.mixes_integers else ("-=", "%=", "/=", *lacking)
    if node.token in lacking and _may_spell_out(flow, node, current, *operands):
        flow.announce(CompoundAssignment(current.origins, node, *operands))


def _tie(flow: Flow, left: Node, value: Type) -> None:
    arguments = left.field("arguments")
    for index, target in enumerate(arguments.children if arguments is not None else ()):
        part = value.args[index] if value.kind == "tuple" and index < len(value.args) else UNKNOWN
        assign(flow, target, part, left)


def _update(flow: Flow, node: Node) -> Type:
    argument = node.field("argument")
    if argument is None:
        return UNKNOWN
    value = evaluate(flow, argument)
    if value.symbolic and value.kind in ("int", "float"):
        if node.parent is None or node.parent.kind != "expression_statement":
            flow.sink(node, "increment", f"is changed by `{node.token}` inside an expression", value)
        elif _may_spell_out(flow, node, value, argument):
            flow.announce(Step(value.origins, node, argument))
    return value


def _may_spell_out(flow: Flow, node: Node, value: Type, target: Node, operand: Node | None = None) -> bool:
    """Whether `n -= k` can be written `n = n - k`; where it cannot, `value` sinks there."""
    if may_repeat(flow, target, operand):
        return True
    reason = f"is changed by `{node.token}`, which would have to be spelled out: `{target.beginning(60)}` twice"
    flow.sink(node, "increment", f"{reason} may be two things", value)
    return False


def _conditional(flow: Flow, node: Node) -> Type:
    """`a ? b : c ? d : …`, from its first condition on; the values meet from the last on."""
    choices: list[tuple[Node, Type]] = []
    last: Node | None = node
    while last is not None and last.kind == "conditional_expression":
        condition, yes = last.field("condition"), last.field("consequence")
        if condition is None or yes is None or last.field("alternative") is None:
            break
        truth(flow, condition, evaluate(flow, condition))
        choices.append((last, evaluate(flow, yes)))
        last = last.field("alternative")
    value = UNKNOWN if last is None or last.kind == "conditional_expression" else evaluate(flow, last)
    for choice, left in reversed(choices):
        value = _chosen(flow, choice, left, value)
    return value


def _chosen(flow: Flow, node: Node, left: Type, right: Type) -> Type:
    """The type of one `?:` whose sides are `left` and `right`."""
    yes, no = node.fields["consequence"], node.fields["alternative"]
    both = join(left, right)
    refuse_mixed(flow, node, "?", (yes, no), left, right)
    if both.symbolic and both.kind == "int":
        chosen_size(flow, node)
    if both.symbolic and left.symbolic != right.symbolic and both.kind in ("ints", "wrap", "braces"):
        coerce(flow, no if left.symbolic else yes, both.origins or NOTHING)
    if both.symbolic and {left.kind, right.kind} - {"int", "bool", "ints", "wrap", "float", "braces", "scalar"}:
        flow.sink(node, "unknown-use", "is one side of `?:` whose other side is of unknown type", left, right)
    if both.symbolic and {left.kind, right.kind} == {"int", "float"}:
        size, number, side = (left, right, no) if left.kind == "int" else (right, left, yes)
        if size.symbolic and not number.symbolic:  # beside a SymInt a double becomes one, without its fraction
            flow.announce(FloatOperand(size.origins, side))
        return Type("float", "double", origins=both.origins)
    return both


def _subscript(flow: Flow, node: Node) -> Type:
    argument, indices = node.field("argument"), node.field("indices")
    escapes(flow, node)
    owner = evaluate(flow, argument) if argument is not None else UNKNOWN
    for index in indices.children if indices is not None else ():
        value = evaluate(flow, index)
        if owner.kind != "other" or value.kind == "int":
            flow.sink(node, "subscript", f"is the subscript of `{argument.beginning(40) if argument else ''}`", value)
    if owner.kind in ("ints", "iter", "braces"):
        return Type("int", "int64_t", origins=owner.origins)
    if owner.kind == "list" and owner.args:
        return owner.args[0]
    if owner.kind == "wrap" and owner.name == "*":
        return owner.args[0]
    return TENSOR if owner.kind == "tensor" else UNKNOWN


def _braces(flow: Flow, node: Node) -> Type:
    kinds = [evaluate(flow, child) for child in node.children]
    origins = [kind.origins for kind in kinds if kind.origins is not None]
    first = next((kind for kind in kinds if kind.kind != "unknown"), UNKNOWN)
    return Type("braces", args=(first,), origins=frozenset().union(*origins) if origins else None)


def _this(flow: Flow, node: Node) -> Type:
    return Type("wrap", "*", (Type("other", flow.function.parent),))


EXPRESSIONS |= {
    "identifier": _identifier,
    "number_literal": _number,
    "string_literal": _literal(STRING),
    "concatenated_string": _literal(STRING),
    "raw_string_literal": _literal(STRING),
    "char_literal": _literal(INT),
    "true": _literal(BOOL),
    "false": _literal(BOOL),
    "null": _literal(UNKNOWN),
    "qualified_identifier": qualified,
    "type_descriptor": _literal(UNKNOWN),
    "sizeof_expression": _literal(Type("int", "size_t")),
    "this": _this,
    "parenthesized_expression": _last,
    "field_expression": _field,
    "pointer_expression": _pointer,
    "unary_expression": _unary,
    "binary_expression": _binary,
    "assignment_expression": _assignment,
    "update_expression": _update,
    "conditional_expression": _conditional,
    "subscript_expression": _subscript,
    "initializer_list": _braces,
    "comma_expression": _last,
}
