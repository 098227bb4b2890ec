"""Branches on sizes that can be decided where the sizes are not known: those that only raise, and shortcuts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from transforms.cpp.flow.branches import operands
from transforms.cpp.flow.checks import CHECKS, MIRRORED, called, exits, throws
from transforms.cpp.flow.choosing import disagreement, either_path, says
from transforms.cpp.flow.conditions import asks, is_caught, read
from transforms.cpp.flow.dispatch import evaluate
from transforms.cpp.flow.empty import LOOPS, serves_empty, stands_for_none
from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.events import EXPECTED_NUMBER, Comparison, RaisingBranch, SizeShortcut
from transforms.cpp.flow.nothing import gives_another, gives_another_dtype
from transforms.cpp.flow.shapes import agreement_of
from transforms.cpp.flow.sizes import is_size
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import Type
from transforms.python.shapes.outcomes import Agreement

_OBLIVIOUS = "TORCH_GUARD_SIZE_OBLIVIOUS"
_GUARDS = (("TORCH_GUARD_OR_FALSE", "TORCH_GUARD_OR_TRUE"), (_OBLIVIOUS, _OBLIVIOUS))
"""The macros of c10/core/SymBool.h for a size that is not known, the newer ones first: what is mostly false of sizes is
false, what is mostly true is true. The older one takes unknown sizes to be 2 at least."""
_ALTERNATIVES = 10
_BLOCKS = frozenset({"compound_statement", "case_statement"})


def decide(flow: Flow, branch: Node) -> None:
    """Note an `if` on sizes that can do without an answer. It stands where the flow has come to."""
    clause, taken = branch.field("condition"), branch.field("consequence")
    if flow.passive or clause is None or taken is None or clause.field("initializer") is not None:
        return
    if is_caught(flow, branch):
        return
    condition = clause.field("value") or (clause.children[-1] if clause.children else None)
    if condition is None:
        return
    if flow.marks is not None and flow.marks.directed(branch if throws(taken) else flow.root):
        return  # another rendering of the template has other paths
    if throws(taken):
        _raising(flow, branch, condition, taken)
        return
    if says(_statements(taken), "false"):
        disagreement(flow, condition, _general_path(branch, outcome=False) or (), _GUARDS[0][0])
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


def _refused(flow: Flow, outer: Node, origins: set[int], numbers: Collection[int] = ()) -> list[Comparison] | None:
    """The comparisons that must be false for a condition to be so; None where that is not all there is to it.

    `numbers` are sizes that stand alone behind a `!`, by offset.
    """
    node = outer.bare
    if node.kind == "binary_expression" and node.token in ("&&", "||"):
        flow.enter()
        parts = operands(node)[::-1]
        refused = [_refused(flow, operand, origins, numbers) for operand in parts]
        flow.level -= 1
        asked = [
            bool(own) or any(part.start <= n < part.end for n in numbers)
            for part, own in zip(parts, refused, strict=True)
        ]
        # What follows `a &&` is refused only where `a` holds.
        before = asked[:-1] if node.token == "&&" else []
        return None if any(before) or None in refused else [comparison for own in refused for comparison in own or ()]
    comparison = read(flow, outer, origins)
    if isinstance(comparison, Comparison):
        return [comparison]
    negated = node.field("argument") if node.kind == "unary_expression" and node.token == "!" else None
    if negated is not None and negated.bare.start in numbers:
        return []
    return None if asks(flow, node) else []


def _shortcut(flow: Flow, branch: Node, condition: Node, guards: tuple[str, str]) -> None:
    shortcut = _Shortcut()
    leans = _leans(flow, condition, shortcut)
    outcome = leans.pop() if len(leans) == 1 else None
    path = _general_path(branch, outcome) if outcome is not None else None
    asked = [*(comparison.node for comparison, _ in shortcut.decided), *shortcut.alone]
    stands = (
        path
        and outcome is not None
        and not shortcut.broadcast
        and stands_for_none(flow, branch, list(_following(branch)), asked, outcome)
    )
    serving = (
        path
        and not (shortcut.broadcast and exits(branch.fields["consequence"]))
        and all(_agrees(flow, path, size) for size in shortcut.broadcast)
        and not _decides_elsewhere(flow, branch)
        and serves_empty(flow, path, condition)
    )
    found = Agreement(None)
    if serving and outcome is not None and not shortcut.broadcast:  # asked last, as it takes longest
        found = agreement_of(flow.function, flow.root, branch, outcome)
    if stands and not (found.same and found.empty):
        return
    if serving and path and found.same is not False:
        special = _special_path(branch, path, outcome)
        if gives_another_dtype(flow.root, special, path):
            return
        given = () if found.empty or shortcut.broadcast else special
        params = {param.name: param.type for param in flow.function.params}
        if given and gives_another(flow.root, params, given, path, asked):
            return
        flow.truths.update(dict.fromkeys(shortcut.numbers, guards))
        if shortcut.decided:
            flow.questions.append(SizeShortcut(frozenset(shortcut.origins), tuple(shortcut.decided), guards))
    elif path and outcome is False and not shortcut.broadcast:
        _not_empty(flow, branch, condition, shortcut.numbers)


def _not_empty(flow: Flow, branch: Node, condition: Node, numbers: Collection[int]) -> None:
    """Note a shortcut that leaves a function of several results for an empty tensor.

    The path for others may have other results for it, or change its arguments; that the tensor has elements can be
    expected all the same: no path is picked for an empty one.
    """
    origins: set[int] = set()
    result, taken = _result(flow), _statements(branch.fields["consequence"])
    several = result.kind == "tuple" and any(part.kind == "tensor" for part in result.args)
    leaves = several and bool(taken) and taken[-1].kind == "return_statement"
    if not leaves or _in_loop(branch) or _recurs(flow) or not flow.available("expect_true"):
        return
    refused = _refused(flow, condition, origins, numbers)
    if refused is not None:
        flow.truths.update(dict.fromkeys(numbers, EXPECTED_NUMBER))
    if refused:
        flow.questions.append(RaisingBranch(frozenset(origins), condition, tuple(refused)))


@dataclass(slots=True)
class _Shortcut:
    """What a condition asks of sizes: comparisons, each with its outcome in general, and sizes that stand alone."""

    decided: list[tuple[Comparison, bool]] = field(default_factory=list)
    numbers: set[int] = field(default_factory=set)
    """The offsets of those that stand alone."""
    alone: list[Node] = field(default_factory=list)
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
        shortcut.alone.append(node)
        return {True}
    return {None} if asks(flow, node) else set()


def _in_general(flow: Flow, comparison: Comparison) -> bool | None:
    """Whether a comparison that tells empty sizes from others holds for others; None where it tells another thing."""
    size, operator, limit = comparison.left, comparison.operator, comparison.right
    if size.kind == "number_literal":
        size, operator, limit = limit, MIRRORED[operator], size
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
    compared = comparison.operator in ("==", "!=") and limit.text == "1" and is_size(flow, size)
    return size.text if compared else ""


def _agrees(flow: Flow, path: Sequence[Node], size: str, following: int = _ALTERNATIVES) -> bool:
    """Whether a path begins with a check that `size` equals another size.

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
        sides = [node for node in (asked.field("argument"), *arguments) if node is not None]
        return asked.text.endswith(".sym_eq") and _is_another(flow, sides, size)
    sides = [side for side in map(condition.field, ("left", "right")) if side is not None]
    return condition.token == "==" and _is_another(flow, sides, size)


def _is_another(flow: Flow, sides: Sequence[Node], size: str) -> bool:
    """Whether of two sides one is `size` and the other is a size, too: no number or arithmetic."""
    others = [side.bare for side in sides if side.text != size]
    return len(sides) == 2 and len(others) == 1 and others[0].kind != "binary_expression" and is_size(flow, others[0])


def _general_path(branch: Node, outcome: bool) -> list[Node] | None:
    """The statements that run for sizes in general alone; None where the others run them too."""
    taken, other = branch.fields["consequence"], branch.field("alternative")
    if outcome:
        return _statements(taken)
    if other is not None:
        return _statements(other)
    return list(_following(branch)) if exits(taken) else None


def _special_path(branch: Node, path: Sequence[Node], outcome: bool | None) -> list[Node]:
    """What runs for a tensor without elements, up to where the function returns if the path for others does."""
    special = _general_path(branch, not outcome) or []
    goes_on = special and path and exits(path[-1]) and not exits(special[-1])
    return [*special, *_following(branch)] if goes_on else special


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
        or _recurs(flow)
    )


def _recurs(flow: Flow) -> bool:
    return any(part.kind == "call_expression" and _calls_itself(flow, part) for part in flow.root.walk())


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
        if node.kind in LOOPS:
            return True
    return False


def _ends(part: Node) -> bool:
    if part.kind == "return_statement" and part.children:
        value = part.children[0].bare
        return value.kind in ("true", "false") or (value.kind == "binary_expression" and value.token in ("==", "!="))
    return part.kind in ("break_statement", "continue_statement")
