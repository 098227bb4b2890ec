"""What a path does for empty tensors: the same as for others, or something that is silently wrong."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from transforms.cpp.flow.checks import exits, throws
from transforms.cpp.flow.dispatch import evaluate
from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.nothing import SIZES, returned, sources
from transforms.cpp.flow.same_file import own_functions, parameters
from transforms.cpp.flow.sizes import method
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import Type, parse_type

# Reductions that have no result for an empty tensor, or another than a shortcut may have, and reads of elements.
_NEEDS_ELEMENTS = re.compile(
    r"^(?:(?:a?(?:max|min)_?)+|arg(?:max|min)|aminmax|(?:nan)?(?:median|mean)|(?:var|std)(?:_mean)?|mode|kthvalue"
    r"|prod|logsumexp|\w*loss\w*|\w*cross_entropy\w*|kl_div|item|is_nonzero|is_scalar_tensor_true|\w*data_ptr)$"
)
_CONSTANT = re.compile(r"^(?:new_)?(?:zeros|ones|full|eye)(?:_like)?(?:_symint)?$")
_CALLEES = 3
_PAIRWISE = re.compile(r"^(?:max|min)$")
_DIVIDES = re.compile(r"^(?:(?:true_|floor_)?divide|div|remainder|fmod)_?$")
LOOPS = frozenset({"for_statement", "for_range_loop", "while_statement", "do_statement"})
_CONDITIONAL = LOOPS | {"if_statement", "switch_statement", "lambda_expression", "conditional_expression"}


def serves_empty(flow: Flow, path: Sequence[Node], condition: Node) -> bool:
    """Whether a path does for empty tensors what it does for others, or raises; nothing that is silently wrong."""
    asked = {part.text for part in condition.walk() if part.kind != "number_literal"}
    sure = [part for statement in path for part in _sure(statement)]
    parts = [part for statement in path for part in statement.walk()]
    params = {parameter.name: parameter.type for parameter in flow.function.params}
    harmless = _tensors(flow, path) | _numbers(params, parts, flow.type_of)
    return not (
        any(throws(statement) for statement in path)
        or any(part.kind == "call_expression" and _needs_elements(flow, part) for part in sure)
        or any(part.kind == "call_expression" and _is_wrong_inside(flow.root.source, part) for part in parts)
        or any(_divides_by_size(part, harmless) for part in parts)
        or any(
            part.kind == "unary_expression" and part.token == "-" and part.children[0].text in asked for part in parts
        )
    )


def _is_wrong_inside(source: bytes, call: Node, callees: int = _CALLEES) -> bool:
    """Whether a function that the file defines divides by what is no floating number, or calls what needs elements."""
    return callees > 0 and any(_is_wrong(source, each, callees) for each in own_functions(source, call))


def _is_wrong(source: bytes, definition: Node, callees: int) -> bool:
    parts = list(definition.fields["body"].walk())
    numbers = _numbers(parameters(definition), parts, parse_type)
    calls = [part for part in parts if part.kind == "call_expression"]
    return (
        any(_divides_by_size(part, numbers) for part in parts)
        or any(_NEEDS_ELEMENTS.match(method(call)) for call in calls)
        or any(_is_wrong_inside(source, call, callees - 1) for call in calls)
    )


def stands_for_none(flow: Flow, branch: Node, below: Sequence[Node], asked: Sequence[Node], outcome: bool) -> bool:
    """Whether what comes of an empty tensor is another thing, and not its like without elements.

    `if (bias.numel() > 0) { x = x + bias; }`: without elements the sum is no x. `x = x.conj();` still is one.
    `asked` are the conditions on sizes, which come to `outcome` for sizes in general; `below` is what stands behind the
    branch.
    """
    taken, special = branch.fields["consequence"], branch.field("alternative")
    if not outcome:
        taken, special = special or taken, taken
    if exits(branch.fields["consequence"]) or (special is not None and exits(special)):
        if "&" in flow.function.returns:
            return False
        given = [value for node in ([special] if special is not None else below) for value in returned(node)]
        general = [value for node in (below if taken is special else [taken]) for value in returned(node)]
        if any(map(is_constant, general)) and not all(map(is_constant, given)):
            return True  # `return x.mean(0);` before `return at::zeros({n});`
        return _is_made_of_others(flow, given, asked)
    texts = {part.text for node in asked for part in node.walk()}
    if special is not None:
        given = [part.fields["right"] for part in special.walk() if part.kind == "assignment_expression"]
        return _assigned(taken, texts) != _assigned(special, texts) or _is_made_of_others(flow, given, asked)
    return not {*_assigned(taken, texts), *_acting(taken, texts)} <= texts


def is_constant(value: Node) -> bool:
    """Whether a value is a tensor whose elements no other tensor has a part in."""
    return value.bare.kind == "call_expression" and _CONSTANT.match(method(value.bare)) is not None


def _is_made_of_others(flow: Flow, given: Sequence[Node], asked: Sequence[Node]) -> bool:
    """Whether what is given for an empty tensor is made without a tensor or size that is `asked` about.

    `if (bias.numel() == 0) { return x; }` before `return x.mm(bias);`: the product of an empty bias is no x. A tensor
    that is not defined is made of nothing.
    """
    made_of = _sources(flow.root)
    made = _origins(made_of, given)
    return bool(made) and any(_origins(made_of, [node]).isdisjoint(made) for node in asked)


@functools.lru_cache(maxsize=1)
def _sources(function: Node) -> Mapping[str, Sequence[Node]]:
    return sources(function)


def _origins(made_of: Mapping[str, Sequence[Node]], values: Iterable[Node]) -> set[str]:
    """The variables that values are made of, and those that these are made of."""
    names: set[str] = set()
    pending = list(values)
    while pending:
        for part in pending.pop().walk():
            named = part.parent is not None and part.parent.kind not in ("template_function", "qualified_identifier")
            called = part.parent is not None and part is part.parent.field("function")
            if part.kind == "identifier" and named and not called and part.text not in names:
                names.add(part.text)
                pending += made_of.get(part.text, ())
    return names


def _assigned(block: Node, asked: Collection[str]) -> set[str]:
    """The variables of before that a block assigns, save where it adds what is `asked` about, which is 0."""
    assigned, declared = set(), set()
    for part in block.walk():
        if part.kind == "assignment_expression":
            if part.token not in ("+=", "-=") or part.fields["right"].text not in asked:
                assigned.add(_base(part.fields["left"]))
        elif part.kind == "update_expression":
            assigned.add(_base(part.fields["argument"]))
        elif part.kind in ("declaration", "init_declarator"):
            declared |= {name.text for child in part.children for name in _declared(child)}
    return assigned - declared


def _acting(block: Node, asked: Collection[str]) -> Iterator[str]:
    """What calls in a block change in place, and the functions that are called without what is `asked` about."""
    for part in block.walk():
        call = part.children[0] if part.kind == "expression_statement" and part.children else None
        if call is not None and call.kind == "call_expression":
            given = {part.text for argument in call.fields["arguments"].children for part in argument.walk()}
            if method(call).endswith("_") or given.isdisjoint(asked):
                yield _base(call)


def _base(target: Node) -> str:
    """The variable or function that a target or a call is of: `x` of `x.sizes()[0]`."""
    while (inner := target.field("argument") or target.field("function")) is not None:
        target = inner
    return target.text


def _sure(statement: Node) -> Iterator[Node]:
    """What of a statement is evaluated on every way through it."""
    pending = [statement]
    while pending:
        node = pending.pop()
        if node.kind not in _CONDITIONAL:
            yield node
            pending += node.children


def _needs_elements(flow: Flow, call: Node) -> bool:
    """Whether a call has no result for an empty tensor; `max` of two tensors compares their elements in pairs."""
    if not _NEEDS_ELEMENTS.match(method(call)):
        return False
    arguments = call.fields["arguments"].children
    given = arguments if call.fields["function"].kind == "field_expression" else arguments[1:]
    return not (_PAIRWISE.match(method(call)) and len(given) == 1 and evaluate(flow, given[0]).kind == "tensor")


def _divides_by_size(part: Node, harmless: Collection[str]) -> bool:
    """Whether a part of a path may divide by something else than a number or what is named in `harmless`."""
    divisors: Sequence[Node] = ()
    if part.kind in ("binary_expression", "assignment_expression") and part.token in ("/", "%", "/=", "%="):
        divisors = part.children[1:]
    elif part.kind == "call_expression" and _DIVIDES.match(method(part)):
        divisors = part.fields["arguments"].children
    return any(_names_others(divisor, harmless) for divisor in divisors)


def _names_others(value: Node, harmless: Collection[str]) -> bool:
    """Whether a size stands in a value, or a variable or a function that is not in `harmless` nor of `std::`."""
    pending = [value]
    while pending:
        node = pending.pop()
        if node.kind.endswith("identifier") and (
            node.text in SIZES or (node.kind == "identifier" and node.text not in harmless)
        ):
            return True
        own = node.field("function") if node.kind == "call_expression" else None
        standard = own is not None and own.text.startswith("std::")
        pending += [child for child in node.children if not (standard and child is own)]
    return False


def _numbers(params: Mapping[str, str], parts: Iterable[Node], type_of: Callable[[str], Type]) -> set[str]:
    """The names of floating numbers that no size is part of: parameters, and what `parts` make of them alone.

    `params` are the parameters with their types as written, which `type_of` reads.
    """
    names = {name for name, spelled in params.items() if _is_floating(type_of(spelled))}
    for part in (part for part in parts if part.kind == "declaration"):
        spelled = part.field("type")
        if spelled is None or not _is_floating(type_of(spelled.text)):
            continue
        for child in part.children:
            value = child.field("value") if child.kind == "init_declarator" else None
            if value is not None and not _names_others(value, names):
                names.update(name.text for name in _declared(child))
    return names


def _is_floating(kind: Type) -> bool:
    return kind.kind == "float" and not kind.symbolic


def _tensors(flow: Flow, path: Sequence[Node]) -> set[str]:
    """The names of tensors on a path. What it declares `auto` the pass before knows, so another is asked for."""
    names = {name for scope in flow.scopes for name, variable in scope.items() if variable.value.kind == "tensor"}
    for part in (part for statement in path for part in statement.walk() if part.kind == "declaration"):
        for name in (inner for child in part.children for inner in _declared(child)):
            variable = flow.variables.get(name.start)
            if variable is None and not flow.looked_ahead:
                flow.looked_ahead = flow.changed = True
            (names.add if variable is not None and variable.value.kind == "tensor" else names.discard)(name.text)
    return names


def _declared(node: Node) -> Iterator[Node]:
    """The names that a declarator declares."""
    if node.kind == "init_declarator":
        node = node.fields["declarator"]
    if node.kind == "reference_declarator" and node.children:
        node = node.children[0]
    yield from node.children if node.kind == "structured_binding_declarator" else [node] * (node.kind == "identifier")
