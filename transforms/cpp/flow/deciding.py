"""Branches on sizes that can be decided where the sizes are not known: those that only raise, and shortcuts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from transforms.cpp.flow.branches import operands
from transforms.cpp.flow.checks import CHECKS, called, exits, throws
from transforms.cpp.flow.choosing import either_path
from transforms.cpp.flow.conditions import asks, read
from transforms.cpp.flow.dispatch import evaluate
from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.events import Comparison, RaisingBranch, SizeShortcut
from transforms.cpp.flow.sizes import is_size, method
from transforms.cpp.reach.vocabulary import ACCESSORS
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import Type

_OBLIVIOUS = "TORCH_GUARD_SIZE_OBLIVIOUS"
_GUARDS = (("TORCH_GUARD_OR_FALSE", "TORCH_GUARD_OR_TRUE"), (_OBLIVIOUS, _OBLIVIOUS))
"""The macros of c10/core/SymBool.h for a size that is not known, the newer ones first: what is mostly false of sizes is
false, what is mostly true is true. The older one takes unknown sizes to be 2 at least."""
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
# Reductions that have no result for an empty tensor, or another than a shortcut may have, and reads of elements.
_NEEDS_ELEMENTS = re.compile(
    r"^(?:(?:a?(?:max|min)_?)+|arg(?:max|min)|aminmax|(?:nan)?(?:median|mean)|(?:var|std)(?:_mean)?|mode|kthvalue"
    r"|item|is_nonzero|is_scalar_tensor_true|data_ptr|\w+_data_ptr)$"
)
_PAIRWISE = re.compile(r"^(?:max|min)$")
_DIVIDES = re.compile(r"^(?:(?:true_|floor_)?divide|div|remainder|fmod)_?$")
_ALTERNATIVES = 10
_BLOCKS = frozenset({"compound_statement", "case_statement"})
_LOOPS = frozenset({"for_statement", "for_range_loop", "while_statement", "do_statement"})
_CONDITIONAL = _LOOPS | {"if_statement", "switch_statement", "lambda_expression", "conditional_expression"}
_SIZES = frozenset({*ACCESSORS, *(f"sym_{accessor}" for accessor in ACCESSORS)})


def decide(flow: Flow, branch: Node) -> None:
    """Note an `if` on sizes that can do without an answer. It stands where the flow has come to."""
    clause, taken = branch.field("condition"), branch.field("consequence")
    if flow.passive or clause is None or taken is None or clause.field("initializer") is not None:
        return
    condition = clause.field("value") or (clause.children[-1] if clause.children else None)
    if condition is None:
        return
    if throws(taken):
        _raising(flow, branch, condition, taken)
        return
    guards = next((guards for guards in _GUARDS if all(map(flow.available, guards))), None)
    other = _general_path(branch, outcome=False)
    if other and flow.available(_GUARDS[0][0]):
        either_path(flow, condition, (_statements(taken), other), _GUARDS[0][0])
    if guards is not None:
        _shortcut(flow, branch, condition, guards)


def _raising(flow: Flow, branch: Node, condition: Node, taken: Node) -> None:
    origins: set[int] = set()
    alone = len(_statements(taken)) == 1 and branch.field("alternative") is None
    refused = _refused(flow, condition, origins) if alone and flow.available("expect_true") else None
    if refused:
        flow.questions.append(RaisingBranch(frozenset(origins), condition, tuple(refused)))


def _refused(flow: Flow, outer: Node, origins: set[int]) -> list[Comparison] | None:
    """The comparisons that must be false for a condition to be so; None where that is not all there is to it."""
    node = outer.bare
    if node.kind == "binary_expression" and node.token in ("&&", "||"):
        flow.enter()
        refused = [_refused(flow, operand, origins) for operand in reversed(operands(node))]
        flow.level -= 1
        before = refused[:-1] if node.token == "&&" else []  # what follows `a &&` is refused only where `a` holds
        return None if any(before) or None in refused else [part for parts in refused for part in parts or ()]
    comparison = read(flow, outer, origins)
    if isinstance(comparison, Comparison):
        return [comparison]
    return None if asks(flow, node) else []


def _shortcut(flow: Flow, branch: Node, condition: Node, guards: tuple[str, str]) -> None:
    shortcut = _Shortcut()
    leans = _leans(flow, condition, shortcut)
    outcome = leans.pop() if len(leans) == 1 else None
    path = _general_path(branch, outcome) if outcome is not None else None
    agreeing = path and all(_agrees(flow, path, size) for size in shortcut.broadcast)
    if path and agreeing and not _decides_elsewhere(flow, branch) and _serves_empty(flow, path, condition):
        flow.truths.update(dict.fromkeys(shortcut.numbers, guards))
        if shortcut.decided:
            flow.questions.append(SizeShortcut(frozenset(shortcut.origins), tuple(shortcut.decided), guards))


@dataclass(slots=True)
class _Shortcut:
    """What a condition asks of sizes: comparisons, each with its outcome in general, and sizes that stand alone."""

    decided: list[tuple[Comparison, bool]] = field(default_factory=list)
    numbers: set[int] = field(default_factory=set)
    origins: set[int] = field(default_factory=set)
    broadcast: list[str] = field(default_factory=list)
    """The sizes that are compared with 1, as written."""


def _leans(flow: Flow, outer: Node, shortcut: _Shortcut) -> set[bool | None]:
    """The outcomes towards which all lean that a condition asks of sizes, None among them for what leans nowhere."""
    node = outer.bare
    argument = node.field("argument")
    if node.kind == "binary_expression" and node.token in ("&&", "||"):
        flow.enter()
        found = set().union(*(_leans(flow, operand, shortcut) for operand in reversed(operands(node))))
        flow.level -= 1
        return found
    if node.kind == "unary_expression" and node.token == "!" and argument is not None:
        flow.enter()
        found = {None if lean is None else not lean for lean in _leans(flow, argument, shortcut)}
        flow.level -= 1
        return found
    comparison = read(flow, outer, shortcut.origins)
    if isinstance(comparison, Comparison):
        outcome = None if comparison.shapes else _in_general(flow, comparison)
        if outcome is None and (size := _compared_with_one(flow, comparison)):
            shortcut.broadcast.append(size)
            outcome = comparison.operator == "!="
        if outcome is not None:
            shortcut.decided.append((comparison, outcome))
        return {outcome}
    if is_size(flow, node) and evaluate(flow, node).symbolic:
        shortcut.numbers.add(node.start)
        return {True}
    return {None} if asks(flow, node) else set()


def _in_general(flow: Flow, comparison: Comparison) -> bool | None:
    """Whether a comparison that tells empty sizes from others holds for others; None where it tells another thing."""
    size, operator, limit = comparison.left, comparison.operator, comparison.right
    if size.kind == "number_literal":
        size, operator, limit = limit, _MIRRORED.get(operator, operator), size
    digits = limit.text if limit.kind == "number_literal" else ""
    if not digits.isdecimal() or not is_size(flow, size):
        return None
    if operator in ("==", "!="):
        return operator == "!=" if int(digits) == 0 else None
    least = int(digits) + (operator in (">", "<="))
    return operator in (">", ">=") if least == 1 else None


def _compared_with_one(flow: Flow, comparison: Comparison) -> str:
    """The size that a comparison tells to be 1 or another, as written; "" where it does not."""
    size, limit = comparison.left, comparison.right
    one = comparison.operator in ("==", "!=") and limit.text == "1" and is_size(flow, size)
    return size.text if one else ""


def _agrees(flow: Flow, path: Sequence[Node], size: str, following: int = _ALTERNATIVES) -> bool:
    """Whether a path begins with a check that `size` equals another.

    What else is broadcast may come before that. Where it is chosen without asking for sizes, it begins both paths, or
    the other raises.
    """
    first = path[0] if path else None
    if first is None or not following:
        return False
    if first.kind == "if_statement":
        clause, taken, other = (first.field(name) for name in ("condition", "consequence", "alternative"))
        if clause is None or taken is None or other is None:
            return False
        condition = clause.children[-1].bare if clause.children else clause
        left, right = condition.field("left"), condition.field("right")
        arms = [_statements(other)]
        if not asks(flow, condition):
            arms.append(_statements(taken))
        elif condition.token != "==" or left is None or right is None or right.text != "1":
            return False
        returning = [arm for arm in arms if not any(map(throws, arm))]
        return bool(returning) and all(_agrees(flow, arm, size, following - 1) for arm in returning)
    call = first.children[0] if first.kind == "expression_statement" and first.children else None
    if call is None or call.kind != "call_expression" or called(call) not in CHECKS | {"TORCH_SYM_CHECK"}:
        return False
    condition = call.fields["arguments"].children[0].bare
    if condition.kind == "call_expression":
        asked, arguments = condition.fields["function"], condition.fields["arguments"].children
        sides = [node.text for node in (asked.field("argument"), *arguments) if node is not None]
        return asked.text.endswith(".sym_eq") and size in sides
    sides = [side.text for side in map(condition.field, ("left", "right")) if side is not None]
    return condition.token == "==" and size in sides


def _general_path(branch: Node, outcome: bool) -> list[Node] | None:
    """The statements that run for sizes in general alone; None where the others run them too."""
    taken, other = branch.fields["consequence"], branch.field("alternative")
    if outcome:
        return _statements(taken)
    if other is not None:
        return _statements(other)
    return list(_following(branch)) if exits(taken) else None


def _following(node: Node) -> Iterator[Node]:
    """What is run behind a statement, up to the end of the function or lambda."""
    while node.parent is not None and node.kind not in ("lambda_expression", "function_definition"):
        if node.parent.kind in _BLOCKS:
            yield from (sibling for sibling in node.parent.children if sibling.start >= node.end)
        node = node.parent


def _statements(node: Node) -> list[Node]:
    if node.kind == "else_clause" and len(node.children) == 1:
        node = node.children[0]
    return list(node.children) if node.kind == "compound_statement" else [node]


def _decides_elsewhere(flow: Flow, branch: Node) -> bool:
    """Whether neither path may be picked: callers decide by what is returned, which is no Tensor, or not one alone.

    The same where a loop ends, where a path raises, where the function calls itself, and where it changes arguments
    beside its result, as statistics of what it was given, or what a pointer leads to, as the storage of an
    implementation.
    """
    returned = flow.function.returns
    result = _result(flow)
    pointers = [p.type for p in flow.function.params if p.type.endswith("*") and "const" not in p.type.split()]
    given = [
        flow.type_of(p.type) for p in flow.function.params if p.type.endswith("&") and "const" not in p.type.split()
    ]
    arms = [arm for arm in map(branch.field, ("consequence", "alternative")) if arm is not None]
    return (
        result.kind not in ("tensor", "void")
        or (result.kind == "void" and bool(pointers))
        or (result.kind == "tensor" and "&" not in returned and any(kind.kind == "tensor" for kind in given))
        or any(throws(arm) for arm in arms)
        or any(_ends(part) for arm in arms for part in arm.walk())
        or (_in_loop(branch) and any(part.kind == "return_statement" for arm in arms for part in arm.walk()))
        or any(part.kind == "call_expression" and _calls_itself(flow, part) for part in flow.root.walk())
    )


def _result(flow: Flow) -> Type:
    """The type of the function's result, that which an alias template of its file stands for where it is one."""
    result = flow.type_of(flow.function.returns)
    name = result.name.partition("<")[0] if result.kind == "other" and "<" in result.name else ""
    alias = re.search(rf"\busing\s+{name}\s*=([^;]*);".encode(), flow.root.source) if name.isidentifier() else None
    return result if alias is None else flow.type_of(alias[1].decode("utf-8", "replace"))


def _calls_itself(flow: Flow, call: Node) -> bool:
    """Whether a call may be of the function itself: one that gives a number for a tensor is of another overload."""
    if called(call) != flow.function.name:
        return False
    pairs = zip(call.fields["arguments"].children, flow.function.params, strict=False)
    return not any(
        flow.type_of(parameter.type).kind == "tensor" and _is_number(evaluate(flow, argument))
        for argument, parameter in pairs
    )


def _is_number(value: Type) -> bool:
    return value.kind in ("int", "float", "bool") or (value.kind == "wrap" and _is_number(value.args[0]))


def _in_loop(node: Node) -> bool:
    while node.parent is not None and node.kind != "lambda_expression":
        node = node.parent
        if node.kind in _LOOPS:
            return True
    return False


def _ends(part: Node) -> bool:
    if part.kind == "return_statement" and part.children:
        value = part.children[0].bare
        return value.kind in ("true", "false") or (value.kind == "binary_expression" and value.token in ("==", "!="))
    return part.kind in ("break_statement", "continue_statement")


def _serves_empty(flow: Flow, path: Sequence[Node], condition: Node) -> bool:
    """Whether a path does for empty tensors what it does for others, or raises; nothing that is silently wrong."""
    asked = {part.text for part in condition.walk() if part.kind != "number_literal"}
    sure = [part for statement in path for part in _sure(statement)]
    parts = [part for statement in path for part in statement.walk()]
    harmless = _tensors(flow, path) | _numbers(flow, path)
    return not (
        any(throws(statement) for statement in path)
        or any(part.kind == "call_expression" and _needs_elements(flow, part) for part in sure)
        or any(_divides_by_size(part, harmless) for part in parts)
        or any(
            part.kind == "unary_expression" and part.token == "-" and part.children[0].text in asked for part in parts
        )
    )


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
            node.text in _SIZES or (node.kind == "identifier" and node.text not in harmless)
        ):
            return True
        own = node.field("function") if node.kind == "call_expression" else None
        standard = own is not None and own.text.startswith("std::")
        pending += [child for child in node.children if not (standard and child is own)]
    return False


def _numbers(flow: Flow, path: Sequence[Node]) -> set[str]:
    """The names of floating numbers that no size is part of: parameters, and what a path makes of them alone."""
    names = {p.name for p in flow.function.params if _is_floating(flow.type_of(p.type))}
    for part in (part for statement in path for part in statement.walk() if part.kind == "declaration"):
        spelled = part.field("type")
        if spelled is None or not _is_floating(flow.type_of(spelled.text)):
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
