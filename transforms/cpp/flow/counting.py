"""Loop counts that are clamped to a size, where a loop that went on would raise in any case."""

from __future__ import annotations

from collections.abc import Iterator

from transforms.cpp.flow.conditions import read
from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.events import ClampedCount, Comparison
from transforms.cpp.flow.sizes import method
from transforms.cpp.reading.tree import Node

_SMALLER = frozenset({"<", "<="})
_GUARDS = ("TORCH_GUARD_OR_FALSE", "TORCH_GUARD_OR_TRUE")


def clamped_count(flow: Flow, choice: Node) -> None:
    """Note `count = count > size ? size.guard_int(…) : count;` before loops that narrow a tensor at each turn."""
    statement = choice.parent
    if flow.passive or statement is None or statement.kind != "assignment_expression" or statement.token != "=":
        return
    condition, yes, no = (choice.fields[name].bare for name in ("condition", "consequence", "alternative"))
    clamps = no.kind == "identifier"  # where the condition holds
    count, bound = (no, yes) if clamps else (yes, no)
    size = _guarded(flow, bound)
    if size is None or count.kind != "identifier" or statement.fields["left"].text != count.text:
        return
    origins: set[int] = set()
    comparison = read(flow, condition, origins)
    if not isinstance(comparison, Comparison) or comparison.shapes or not all(map(flow.available, _GUARDS)):
        return
    small, large = comparison.left.text, comparison.right.text
    if comparison.operator not in _SMALLER:
        small, large = large, small
    asked = comparison.operator in ("<", "<=", ">", ">=") and (small, large) == (
        (size, count.text) if clamps else (count.text, size)
    )
    if asked and _ends_in_time(flow, statement, count.text, size):
        flow.questions.append(ClampedCount(frozenset(origins), comparison, not clamps, _GUARDS[not clamps]))


def _guarded(flow: Flow, bound: Node) -> str | None:
    """The size that an arm asks for its value by a guard, or will, as it is written; None where it does not."""
    function = bound.field("function") if bound.kind == "call_expression" else None
    receiver, name = (function.field("argument"), function.field("field")) if function is not None else (None, None)
    if receiver is None or name is None:
        return None
    if name.text == "guard_int":
        return receiver.text
    return bound.text if name.start in flow.guarded else None


def _ends_in_time(flow: Flow, statement: Node, count: str, size: str) -> bool:
    """Whether what follows only counts loops by `count`, whose turn number `size` would raise, if not one before."""
    outer = statement.parent
    block = outer.parent if outer is not None else None
    if outer is None or block is None or block.kind != "compound_statement":
        return False
    following = [child for child in block.children if child.start >= outer.end]
    used = [part for child in following for part in child.walk() if part.kind == "identifier" and part.text == count]
    loops = [loop for child in following for loop in child.walk() if loop.kind == "for_range_loop"]
    counted = [loop for loop in loops if _count_of(loop) == count]
    return len(used) == len(counted) > 0 and all(_narrows(flow, loop, size) for loop in counted)


def _count_of(loop: Node) -> str:
    right = loop.field("right")
    arguments = right.field("arguments") if right is not None and right.kind == "call_expression" else None
    once = right is not None and arguments is not None and method(right).endswith("irange")
    return arguments.children[0].text if once and arguments is not None and len(arguments.children) == 1 else ""


def _narrows(flow: Flow, loop: Node, size: str) -> bool:
    """Whether each turn narrows what it assigns to a length that is below `size`, and smaller at each turn."""
    changes = [part for part in loop.fields["body"].walk() if part.kind == "assignment_expression"]
    lengths = {name for change in changes for name in _lengths(change)}
    if len(lengths) != 1:
        return False
    length = lengths.pop()
    variable = flow.lookup(length)
    shrinks = [change for change in changes if change.fields["left"].text == length]
    assigned = [change for change in changes if change not in shrinks]
    return (
        variable is not None
        and variable.initial is not None
        and _subtracted(variable.initial, size)
        and len(shrinks) == 1
        and shrinks[0].token == "="
        and _subtracted(shrinks[0].fields["right"], length)
        and shrinks[0].parent is not None
        and shrinks[0].parent.parent is loop.fields["body"]
        and all(length in _lengths(change) for change in assigned)
    )


def _lengths(change: Node) -> Iterator[str]:
    """The lengths that an assignment narrows to."""
    for part in change.walk():
        if part.kind == "call_expression" and method(part).removesuffix("_symint") == "narrow":
            arguments = part.fields["arguments"].children
            yield arguments[-1].text if arguments else ""


def _subtracted(value: Node, minuend: str) -> bool:
    """Whether a value is `minuend` less a number that is not 0."""
    left, right = value.bare.field("left"), value.bare.field("right")
    if left is None or right is None or value.bare.token != "-" or right.kind != "number_literal":
        return False
    return left.text == minuend and right.text.isdecimal() and int(right.text) > 0
