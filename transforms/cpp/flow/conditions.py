"""What conditions ask of sizes, and the checks that can leave it to the running graph."""

from __future__ import annotations

import re
from collections.abc import Sequence

from transforms.cpp.flow.branches import operands
from transforms.cpp.flow.checks import COMPARISONS, DEFERRED
from transforms.cpp.flow.dispatch import evaluate
from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.events import Comparison, ExpectedSizes, Junction, SizeCheck
from transforms.cpp.flow.same_file import called_in_try
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import Type

_NAMED = re.compile(r"(?:at::)?symint::\w+<\s*(\w+)\s*>\s*\(")
_OPERANDS = ("left", "right", "argument")


def size_check(flow: Flow, macro: Node, arguments: Sequence[Node]) -> None:
    """Note a check with a message whose whole condition is made of comparisons of sizes that may be symbols."""
    twin = DEFERRED.get(macro.text)
    if flow.passive or len(arguments) < 2 or twin is None or not flow.available(twin or "expect_true"):
        return
    if is_caught(flow, macro):
        return
    origins: set[int] = set()
    condition = read(flow, arguments[0], origins)
    if condition is not None:
        flow.questions.append(SizeCheck(frozenset(origins), macro, twin, condition))
        return
    origins.clear()
    expected = _expected(flow, arguments[0], origins) if flow.available("expect_true") else None
    if expected:
        flow.questions.append(ExpectedSizes(frozenset(origins), tuple(expected)))


def is_caught(flow: Flow, node: Node) -> bool:
    """Whether a `catch` may take what is raised at a node: what is left to the graph raises later.

    That is one of the function itself, or of another of its file that calls it, by way of others or not.
    """
    if flow.function.name in called_in_try(node.source):
        return True
    around: Node | None = node
    while around is not None and around.kind != "function_definition":
        inner, around = around, around.parent
        if around is not None and around.kind == "try_statement" and inner is around.field("body"):
            return True
    return False


def _expected(flow: Flow, outer: Node, origins: set[int]) -> list[Comparison] | None:
    """The comparisons that must be true where a condition asks them; None where that is not all there is to it."""
    node = outer.bare
    if node.kind == "binary_expression" and node.token in ("&&", "||"):
        parts = operands(node)[::-1]
        flow.enter()
        expected = [_expected(flow, part, origins) for part in parts]
        flow.level -= 1
        asking = next((index for index, asked in enumerate(expected) if asked is None or asked), len(parts))
        if None in expected:
            return None
        either = node.token == "||"
        if either and not (_exclusive(flow, parts[asking:]) and all(_decides(flow, p) for p in parts[:asking])):
            return None
        return [comparison for asked in expected for comparison in asked or ()]
    comparison = read(flow, outer, origins)
    if isinstance(comparison, Comparison):
        return [comparison]
    return None if asks(flow, node) else []


def _decides(flow: Flow, node: Node) -> bool:
    """Whether what stands before `||` is a bool of C++, behind which nothing is asked where it holds."""
    return evaluate(flow, node).kind == "bool" and not asks(flow, node)


def _exclusive(flow: Flow, alternatives: Sequence[Node]) -> bool:
    """Whether at most one of them can hold: each begins with the same value, `==` another number, before an `&&`.

    The value is no size: the first alternative would be expected of one, where the others may hold as well.
    """
    selected = [_selected(flow, alternative.bare) for alternative in alternatives]
    values, numbers = {value for value, _ in selected}, {number for _, number in selected}
    return len(alternatives) < 2 or (len(values) == 1 and len(numbers) == len(selected) and "" not in numbers)


def _selected(flow: Flow, alternative: Node) -> tuple[str, str]:
    first = operands(alternative)[-1].bare if alternative.token == "&&" else alternative
    left, right = first.field("left"), first.field("right")
    if left is None or right is None or first.token != "==" or right.kind != "number_literal":
        return "", ""
    if asks(flow, first) or read(flow, first, set()) is not None:
        return "", ""
    return left.text, right.text


def read(flow: Flow, outer: Node, origins: set[int]) -> Comparison | Junction | None:
    """What `outer` asks of sizes, whose origins are added to `origins`; None where no graph can answer."""
    node = outer
    if node.kind == "parenthesized_expression" and len(node.children) == 1:
        node = node.children[0]
    left, right = node.field("left"), node.field("right")
    if node.kind != "binary_expression" or left is None or right is None:
        return None
    if node.token in ("&&", "||"):
        return _junction(flow, outer, node.token, left, right, origins)
    return _comparison(flow, outer, node.token, left, right, origins)


def _comparison(
    flow: Flow, outer: Node, operator: str, left: Node, right: Node, origins: set[int]
) -> Comparison | None:
    if operator not in COMPARISONS:
        return None
    if _generic(flow, left) | _generic(flow, right) == {True}:
        return Comparison(outer, operator, left, right, symbolic_left=False)
    values = evaluate(flow, left), evaluate(flow, right)
    kinds = {value.kind for value in values}
    if kinds == {"int"}:
        shapes = False
        readable = any(value.symbolic for value in values)
    else:
        shapes = kinds == {"ints"} and operator in ("==", "!=") and flow.available("sym_equals")
        readable = shapes and all(value.symbolic for value in values)
    if not readable:
        return None
    origins.update(*(value.origins or () for value in values))
    return Comparison(outer, operator, left, right, values[0].symbolic, shapes)


def _generic(flow: Flow, node: Node) -> set[bool]:
    """Whether a number is of a template's type that stands for int64_t and SymInt: {True}; of no type: empty.

    `at::symint::size<T>` and its kin (aten/src/ATen/Functions.h) say so of T, as they take nothing else.
    """
    node = node.bare
    if node.kind == "number_literal":
        return set()
    if node.kind == "binary_expression" and node.token in ("+", "-", "*", "/", "%"):
        return set().union(*(_generic(flow, child) for child in node.children))
    named = _NAMED.match(node.text) if node.kind == "call_expression" else None
    if named is not None:
        return {flow.is_template_parameter(Type("other", named[1]))}
    variable = flow.lookup(node.text) if node.kind == "identifier" else None
    if variable is None or variable.type.kind != "other" or not flow.is_template_parameter(variable.type):
        return set() if variable is not None and variable.value.kind == "int" else {False}
    return {any(match[1] == variable.type.name for match in _NAMED.finditer(flow.root.text))}


def _junction(flow: Flow, outer: Node, operator: str, left: Node, right: Node, origins: set[int]) -> Junction | None:
    last = read(flow, right, origins)
    first = read(flow, left, origins)
    if last is None:
        return None
    if first is None:
        # As it was: what follows a bool is asked only where that does not decide.
        return Junction(outer, operator, left, last) if _decides(flow, left) and flow.available("SymBool") else None
    concrete = isinstance(first, Junction) and isinstance(first.left, Node) and first.node.kind == "binary_expression"
    # `a.sym_and(b)` asks both, so `b` may be nothing that `a` protects.
    return Junction(outer, operator, first, last) if not concrete and _harmless(right) else None


def asks(flow: Flow, node: Node) -> bool:
    """Whether `node` asks something of a size that may be a symbol, or holds a SymBool: `n.sym_eq(1)`."""
    return any(
        (part.kind == "field_identifier" and part.text.startswith("sym_"))
        or any(evaluate(flow, side).symbolic for side in map(part.field, _OPERANDS) if side is not None)
        for part in node.walk()
        if part.kind in ("binary_expression", "unary_expression", "field_identifier")
    )


def _harmless(node: Node) -> bool:
    """Whether any value of the variables may be put into `node`: numbers, sums and products of them, compared."""
    return all(
        part.kind in ("identifier", "number_literal", "parenthesized_expression")
        or (part.kind == "binary_expression" and part.token in ("+", "-", "*", *COMPARISONS))
        for part in node.walk()
    )


def between(left: Node, right: Node) -> str:
    """The source between two nodes."""
    return left.source[left.end : right.start].decode("utf-8", "replace")
