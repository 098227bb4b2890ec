"""Whether what two paths return has the same shape where a size is 0, as far as the sizes are written."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence

from transforms.cpp.flow.sizes import method
from transforms.cpp.reading.tree import Node

_FACTORIES = re.compile(r"^(?:new_)?(?:zeros|ones|empty|full)(?:_symint)?$")
_COPIES = re.compile(r"^(?:clone|contiguous|neg|abs|exp)$")
_TUPLES = re.compile(r"^(?:std::)?(?:make_tuple|tuple<.*>|tuple)$", re.DOTALL)
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_DEPTH = 8
_PAIRS = 32

Sources = Mapping[str, Sequence[Node]]


def disagree(special: Node, general: Node, empty: Collection[str], sources: Sources) -> bool:
    """Whether the results of two paths, for what is empty and in general, are seen to differ in shape.

    `empty` are the sizes that are 0, as written; `sources` what each variable is made of.
    """
    pairs = [(special, general)]
    for _ in range(_PAIRS):  # a variable may be made of itself
        if not pairs:
            break
        first, second = (_resolved(node, sources) for node in pairs.pop())
        parts = _parts(first), _parts(second)
        if all(parts) and len(parts[0]) == len(parts[1]):
            pairs += zip(*parts, strict=True)
        elif _differ(_shape(first), _shape(second), empty, sources):
            return True
    return False


def _resolved(node: Node, sources: Sources) -> Node:
    """What a variable is made of, where that is one thing."""
    for _ in range(_DEPTH):
        if node.kind != "identifier" or len(sources.get(node.text, ())) != 1:
            break
        node = sources[node.text][0]
    return node.bare


def _parts(node: Node) -> list[Node]:
    function = node.field("function")
    made = node.kind == "call_expression" and function is not None and _TUPLES.match(function.text)
    return list(node.fields["arguments"].children) if made else []


def _shape(node: Node) -> list[Node] | str | None:
    """The sizes of a tensor as written, or the tensor that has them; None where that is not to be seen."""
    while node.kind == "call_expression" and _COPIES.match(method(node)):
        receiver = node.fields["function"].field("argument")
        if receiver is None:
            return None
        node = receiver
    if node.kind == "identifier":
        return node.text
    if node.kind != "call_expression" or not _FACTORIES.match(method(node)):
        return None
    sizes = node.fields["arguments"].children[:1]
    return list(sizes[0].children) if sizes and sizes[0].kind == "initializer_list" else None


def _differ(
    first: list[Node] | str | None, second: list[Node] | str | None, empty: Collection[str], sources: Sources
) -> bool:
    if isinstance(first, str) and isinstance(second, list):
        first, second = second, first
    if not isinstance(first, list) or second is None:
        return False
    sizes = [(_number(size, empty, sources), _written(size, sources)) for size in first]
    if isinstance(second, str):
        texts = [f"{second}.size({i})" for i in range(len(first))]
        others = [(_known(text, empty), text) for text in texts]
    else:
        others = [(_number(size, empty, sources), _written(size, sources)) for size in second]
    return len(sizes) != len(others) or any(map(_other, sizes, others))


def _other(first: tuple[int | None, str], second: tuple[int | None, str]) -> bool:
    """Whether two sizes, as what they come to and as written, are seen to be others."""
    if first[0] is None and second[0] is None:
        return first[1] != second[1]
    return None not in (first[0], second[0]) and first[0] != second[0]


def _number(node: Node, empty: Collection[str], sources: Sources, depth: int = _DEPTH) -> int | None:
    """What an integer comes to; None where it rests on sizes that are not known."""
    node = _resolved(node, sources)
    if node.kind == "binary_expression" and node.token in _ARITHMETIC and depth:
        left, right = (_number(node.fields[side], empty, sources, depth - 1) for side in ("left", "right"))
        if left is None or right is None:
            return 0 if node.token == "*" and 0 in (left, right) else None
        return _ARITHMETIC[node.token](left, right)
    return _known(_written(node, sources), empty)


def _known(text: str, empty: Collection[str]) -> int | None:
    return 0 if text in empty else int(text) if text.isdecimal() else None


def _written(node: Node, sources: Sources) -> str:
    return as_written(_resolved(node, sources).text)


def as_written(text: str) -> str:
    """A size as it would be written with concrete accessors, without spaces."""
    return re.sub(r"\s+", "", text).replace(".sym_", ".").replace("->sym_", "->")
