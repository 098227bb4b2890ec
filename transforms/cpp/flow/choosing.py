"""Choices by sizes that need no answer: between numbers a constant apart, and between paths of which either will do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from transforms.cpp.flow.branches import operands
from transforms.cpp.flow.checks import called, throws
from transforms.cpp.flow.conditions import asks, read
from transforms.cpp.flow.dispatch import evaluate
from transforms.cpp.flow.empty import is_constant
from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.events import ChosenSize, Comparison, Disagreement, EitherPath
from transforms.cpp.flow.nothing import returned
from transforms.cpp.flow.same_file import own_functions
from transforms.cpp.flow.sizes import is_size
from transforms.cpp.reading.tree import Node

_ASSOCIATIVE = frozenset({"mm", "bmm"})
"""`(a b) c` is `a (b c)`. `matmul` is none of them: it takes vectors too, on either side."""
_OPERATOR = re.compile(r"(?:::)?(?:at|torch)::\w+$")
_MOST = 300
"""So many nodes two paths have that do more than put a product together."""


def chosen_size(flow: Flow, choice: Node) -> None:
    """Note `c ? n + 1 : n`, of which all but the condition is a variable and numbers, where `c` compares sizes."""
    condition, yes, no = (choice.fields[name] for name in ("condition", "consequence", "alternative"))
    counted = flow.vocabulary.functions.get("toSymInt", ())  # IValue and Scalar have one too
    if flow.passive or not any(function.parent == "SymBool" for function in counted):
        return
    origins: set[int] = set()
    comparison = read(flow, condition, origins)
    step = _step(yes.bare, no.bare)
    backward = None if step is not None else _step(no.bare, yes.bare)
    amount = step if backward is None else backward
    if isinstance(comparison, Comparison) and not comparison.shapes and amount is not None:
        base = no.bare if backward is None else no.bare.fields["left"]
        event = ChosenSize(frozenset(origins), choice, comparison, backward is not None, amount, base)
        if event not in flow.questions:
            flow.questions.append(event)


def _step(more: Node, base: Node) -> str | None:
    """What `more` adds to the variable `base`, as in `base - 2`; None where it is something else."""
    left, right = more.field("left"), more.field("right")
    if base.kind != "identifier" or left is None or right is None or more.token not in ("+", "-"):
        return None
    added = right.kind == "number_literal" and right.text.isdecimal() and left.bare.text == base.text
    return f"{'-' * (more.token == '-')}{right.text}" if added else None


def either_path(flow: Flow, condition: Node, arms: Sequence[Sequence[Node]], guard: str) -> None:
    """Note an `if` on sizes either path of which will do.

    Both are one product of matrices, multiplied in another order; or hand the same arguments to two functions by a
    size's being above or below a number: that picks an implementation; or a special number is not handed on to the
    function that gets all arguments else; or shapes are equal, which are broadcast else.
    """
    origins: set[int] = set()
    first, second = arms
    if sum(1 for _ in islice((part for arm in arms for node in arm for part in node.walk()), _MOST)) == _MOST:
        return
    if first and [_normal(statement) for statement in first] == [_normal(statement) for statement in second]:
        comparison = read(flow, condition, origins)
        compared = [comparison] if isinstance(comparison, Comparison) and not comparison.shapes else None
    elif len(first) == len(second) == 1 and _implement(first[0], second[0]):
        compared = _thresholds(flow, condition, origins)
    elif _hands_on(flow, second):
        compared = _special(flow, condition, origins)
    else:
        compared = _same_shapes(flow, condition, second, origins)
    if compared:
        flow.questions.append(EitherPath(frozenset(origins), tuple(compared), guard))


def _given(statement: Node) -> str:
    """The arguments of the function that a statement returns the result of; "" where it does another thing."""
    call = statement.children[0] if statement.kind == "return_statement" and statement.children else None
    function = call.field("function") if call is not None and call.kind == "call_expression" else None
    if call is None or function is None or function.kind not in ("identifier", "qualified_identifier"):
        return ""
    return call.fields["arguments"].packed


def _implement(*statements: Node) -> bool:
    """Whether functions of the same arguments may be two implementations: no two operators of ATen, no constants.

    Nor is one a function of the same file that raises, or returns nothing but constants.
    """
    if len(set(map(_given, statements))) > 1 or not _given(statements[0]):
        return False
    calls = [statement.children[0] for statement in statements]
    if all(_OPERATOR.match(call.fields["function"].text) for call in calls) or any(map(is_constant, calls)):
        return False
    bodies = (each.fields["body"] for call in calls for each in own_functions(call.source, call))
    return not any(throws(body) or all(map(is_constant, returned(body))) for body in bodies)


def _thresholds(flow: Flow, outer: Node, origins: set[int]) -> list[Comparison] | None:
    """The comparisons of a condition, all of which tell large sizes from small ones; None where it asks more."""
    node = outer.bare
    if node.kind == "binary_expression" and node.token in ("&&", "||"):
        flow.enter()
        parts = [_thresholds(flow, operand, origins) for operand in reversed(operands(node))]
        flow.level -= 1
        return None if None in parts else [comparison for part in parts for comparison in part or ()]
    comparison = read(flow, outer, origins)
    if not isinstance(comparison, Comparison):
        return None if asks(flow, node) else []
    operator, limit = comparison.operator, comparison.right.text
    least = int(limit) + (operator in (">", "<=")) if limit.isdecimal() else 0
    large = operator in ("<", "<=", ">", ">=") and least > 2  # `n < 2` tells what is one or none apart
    return [comparison] if large and not comparison.shapes and is_size(flow, comparison.left) else None


def disagreement(flow: Flow, condition: Node, rest: Sequence[Node], guard: str) -> None:
    """Note an `if` that says no where one size is neither another nor 1, and without which the answer is yes.

    That is what broadcasting asks (`is_expandable_to` of aten/src/ATen/ExpandUtils.h), which takes sizes to agree.
    """
    origins: set[int] = set()
    asked = [read(flow, operand, origins) for operand in operands(condition.bare)]
    if (
        condition.bare.token != "&&"
        or flow.type_of(flow.function.returns).kind != "bool"
        or not says(rest[-1:], "true")
    ):
        return
    comparisons = [part for part in asked if isinstance(part, Comparison) and part.operator == "!="]
    with_one = [part for part in comparisons if part.right.text == "1"]
    other = [part for part in comparisons if part.right.kind == "identifier"]
    if (
        len(asked) != 2
        or len(with_one) != 1
        or len(other) != 1
        or not (flow.available(guard) and flow.available("expect_true"))
    ):
        return
    size = other[0].left
    if size.kind == "identifier" and size.text == with_one[0].left.text:
        flow.questions.append(Disagreement(frozenset(origins), condition, size, other[0].right, guard))


def says(path: Sequence[Node], answer: str) -> bool:
    """Whether a path is `return answer;` and nothing else."""
    returned = path[0].children if len(path) == 1 and path[0].kind == "return_statement" else []
    return [node.kind for node in returned] == [answer]


def _hands_on(flow: Flow, path: Sequence[Node]) -> bool:
    """Whether a path only returns what another function makes of all that the function itself is given, in order."""
    given = ",".join(parameter.name for parameter in flow.function.params)
    return len(path) == 1 and bool(given) and _given(path[0]) == f"({given})" and not _recurs(flow, path[0])


def _recurs(flow: Flow, statement: Node) -> bool:
    return any(node.kind == "call_expression" and called(node) == flow.function.name for node in statement.walk())


def _special(flow: Flow, outer: Node, origins: set[int]) -> list[Comparison] | None:
    """The comparisons of a condition, all of which tell sizes that are a number from others; None where it asks more.

    The number is 1 at least: 0 and what is below may stand for what the other path has no result for.
    """
    node = outer.bare
    if node.kind == "binary_expression" and node.token == "&&":
        flow.enter()
        parts = [_special(flow, operand, origins) for operand in reversed(operands(node))]
        flow.level -= 1
        return None if None in parts else [comparison for part in parts for comparison in part or ()]
    comparison = read(flow, outer, origins)
    if not isinstance(comparison, Comparison):
        return None if asks(flow, node) else []
    number = comparison.right.text
    special = comparison.operator == "==" and number.isdecimal() and int(number) > 0
    return [comparison] if special else None


def _same_shapes(flow: Flow, outer: Node, path: Sequence[Node], origins: set[int]) -> list[Comparison] | None:
    """The comparison of two shapes that a condition consists of, where `path` broadcasts them both."""
    node = outer.bare
    function, arguments = node.field("function"), node.field("arguments")
    asked = function.field("argument") if function is not None and function.text.endswith(".equals") else None
    if asked is None or arguments is None or len(arguments.children) != 1 or not flow.available("sym_equals"):
        return None
    shapes = (asked, arguments.children[0])
    values = [evaluate(flow, shape) for shape in shapes]
    if not all(value.kind == "ints" and value.symbolic for value in values):
        return None
    given = f"({','.join(shape.text for shape in shapes)})"
    calls = (part for statement in path for part in statement.walk() if part.kind == "call_expression")
    if not any(called(c).startswith("infer_size") and c.fields["arguments"].packed == given for c in calls):
        return None
    origins.update(*(value.origins or () for value in values))
    return [Comparison(outer, "==", *shapes, symbolic_left=True, shapes=True)]


def _normal(node: Node) -> str:
    """The text of a node with the operands of each product in a row, however they are put together."""
    name, written = _product(node)
    if name:
        arguments = node.fields["arguments"].children
        factors = [factor for argument in arguments[written:] for factor in _factors(argument, name)]
        return f"{name}({', '.join([*map(_normal, arguments[:written]), *factors])})"
    if not node.children:
        return node.text
    at, text = node.start, ""
    for child in node.children:
        text += node.source[at : child.start].decode("utf-8", "replace").strip() + _normal(child)
        at = child.end
    return text + node.source[at : node.end].decode("utf-8", "replace").strip()


def _factors(node: Node, name: str) -> list[str]:
    """What `node` multiplies with the operator `name`, in order; itself where it is no such product."""
    if _product(node) != (name, False):
        return [_normal(node)]
    return [factor for argument in node.fields["arguments"].children for factor in _factors(argument, name)]


def _product(node: Node) -> tuple[str, bool]:
    """The operator that a product is made with, "" where it is none, and whether it is written to an output."""
    if node.kind != "call_expression" or node.fields["function"].kind == "field_expression":
        return "", False
    name, count = called(node), len(node.fields["arguments"].children)
    written = name.endswith("_out") and count == 3
    name = name.removesuffix("_out") if written else name
    return (name, written) if name in _ASSOCIATIVE and count == 2 + written else ("", False)
